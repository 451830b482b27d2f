// SPDX-License-Identifier: Apache-2.0
// Every byte arrives, and none beside them is touched, at lengths around those at which threads share the work.
#include "base/pool_copy.h"
#include "base/costs_host.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 };

static unsigned char byte_of(uint64_t i) { return (unsigned char)(i * 131 + (i >> 9) + 7); }

static void check(hdst__thread_pool *pool, uint64_t bytes)
{
    unsigned char *from = malloc(bytes + 1), *to = malloc(bytes + 2);
    for (uint64_t i = 0; i < bytes; i++) from[i] = byte_of(i);
    memset(to, 0xa5, bytes + 2);
    hdst__pool_copy(pool, to + 1, from, bytes);
    cr_expect_eq(to[0], 0xa5);
    cr_expect_eq(to[bytes + 1], 0xa5, "behind %llu bytes", (unsigned long long)bytes);
    for (uint64_t i = 0; i < bytes; i++)
        if (to[1 + i] != byte_of(i)) cr_assert_fail("byte %llu of %llu", (unsigned long long)i, (unsigned long long)bytes);
    free(from);
    free(to);
}

Test(pool_copy, lengths_around_the_limits)
{
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
        for (uint64_t parts = 0; parts <= 5; parts++)
            for (int by = -AROUND; by <= AROUND; by += AROUND)
                if (parts || by >= 0) check(pool, parts * HDST__HOST_FILL_BYTES + (uint64_t)(int64_t)by);
        hdst__thread_pool_destroy(pool);
    }
    check(NULL, 3 * (uint64_t)HDST__HOST_FILL_BYTES);
}
