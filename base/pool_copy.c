// SPDX-License-Identifier: Apache-2.0
// Copies of many bytes by all threads (base/pool_copy.h).
#include "base/pool_copy.h"

#include "base/costs_host.h"

#include <string.h>

typedef struct copy {
    char *to;
    const char *from;
    uint64_t bytes;
} copy;

static void copy_part(void *user, uint64_t part)
{
    const copy *c = user;
    const uint64_t at = part * HDST__HOST_FILL_BYTES, left = c->bytes - at;
    memcpy(c->to + at, c->from + at, left < HDST__HOST_FILL_BYTES ? left : HDST__HOST_FILL_BYTES);
}

void hdst__pool_copy(hdst__thread_pool *pool, void *to, const void *from, uint64_t bytes)
{
    copy c = {to, from, bytes};
    if (!pool || hdst__thread_pool_size(pool) < 2 || bytes <= 2 * (uint64_t)HDST__HOST_FILL_BYTES) {
        if (bytes) memcpy(to, from, bytes);
        return;
    }
    hdst__thread_pool_run(pool, (bytes + HDST__HOST_FILL_BYTES - 1) / HDST__HOST_FILL_BYTES, copy_part, &c);
}
