// SPDX-License-Identifier: Apache-2.0
// Integers that representations of accumulators are tried with, and the truth about them, in 128 bits.
#ifndef HDST_TESTS_CONFORMANCE_INTEGERS_H
#define HDST_TESTS_CONFORMANCE_INTEGERS_H

#include "tests/accum/conformance.h"

static inline __int128 number_of(hdst__kind kind, uint64_t bits) { return kind == HDST__U64 ? (__int128)bits : (__int128)(int64_t)bits; }

// The pattern of a number modulo the kind's range.
static inline uint64_t pattern_of(hdst__kind kind, __int128 number)
{
    if (kind == HDST__BOOL) return number != 0;
    const unsigned width = 8 * (unsigned)hdst__scalar_size(kind);
    const __int128 range = (__int128)1 << width, rest = (number % range + range) % range;
    return (uint64_t)(hdst__kind_is_signed(kind) && rest >= range / 2 ? rest - range : rest);
}

static inline uint64_t true_integer(hdst__kind kind, hdst__accumulate_op op, const uint64_t *v, size_t count)
{
    __int128 all = number_of(kind, v[0]);
    for (size_t i = 1; i < count; i++) {
        const __int128 one = number_of(kind, v[i]);
        switch (op) {
        case HDST__SUM: all += one; break;
        case HDST__MIN: all = one < all ? one : all; break;
        case HDST__MAX: all = one > all ? one : all; break;
        case HDST__AND: all &= one; break;
        case HDST__OR: all |= one; break;
        case HDST__XOR: all ^= one; break;
        }
    }
    return pattern_of(kind, all);
}

// Any, or one at an edge of some type.
static inline uint64_t some_integer(hdst__kind kind, uint64_t *state, bool any_at_all)
{
    const uint64_t any = random_word(state);
    const uint64_t edge[] = {any, 0, ~UINT64_C(0), UINT64_C(1) << 63, INT64_MAX, any & 255, UINT64_C(1) << 31, INT32_MAX, 0x80, 0x8000};
    return pattern_of(kind, (__int128)(int64_t)edge[any_at_all ? 0 : random_word(state) % (sizeof edge / sizeof *edge)]);
}

#endif
