// SPDX-License-Identifier: Apache-2.0
// Every byte of the target is looked at: values arrive where they should, and what lies between stays as it was.
#include "base/strided_copy.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 71, MOST = 40 };

static void check(uint64_t size, uint64_t to_stride, uint64_t from_stride)
{
    char from[COUNT * MOST], to[COUNT * MOST];
    for (size_t i = 0; i < sizeof from; i++) from[i] = (char)(i + 1);
    memset(to, -1, sizeof to);
    hdst__strided_copy(to, to_stride, from, from_stride, size, COUNT);
    for (uint64_t at = 0; at < sizeof to; at++) {
        const uint64_t value = at / to_stride, byte = at % to_stride;
        const char expected = value < COUNT && byte < size ? (char)(value * from_stride + byte + 1) : (char)-1;
        cr_assert_eq(to[at], expected, "%u bytes, %u to %u apart: byte %u", (unsigned)size, (unsigned)from_stride, (unsigned)to_stride, (unsigned)at);
    }
}

Test(strided_copy, all_sizes_side_by_side_and_apart)
{
    for (uint64_t size = 1; size <= 16; size *= 2)
        for (uint64_t to_gap = 0; to_gap <= 5; to_gap += 5)
            for (uint64_t from_gap = 0; from_gap <= 8; from_gap += 4) check(size, size + to_gap, size + from_gap);
}

Test(strided_copy, a_column_of_two_to_five)
{
    for (uint64_t size = 4; size <= 8; size *= 2)
        for (uint64_t columns = 2; columns <= 5; columns++) check(size, size, columns * size);
}

Test(strided_copy, one_value_for_all)
{
    check(4, 4, 0);
    check(16, 20, 0);
}
