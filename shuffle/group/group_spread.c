// SPDX-License-Identifier: Apache-2.0
// Rows to the next free places of where they belong (shuffle/group/group_spread.h).
#include "shuffle/group/group_spread.h"

#include <stddef.h>
#include <string.h>

// Of a size that the compiler knows a copy is an instruction or two: it makes a loop of this for each.
static inline __attribute__((always_inline)) void spread(char *restrict to, const char *restrict from, uint64_t count, const size_t size,
                                                         const uint32_t *restrict which, uint64_t *restrict next)
{
    for (uint64_t i = 0; i < count; i++)
        if (which[i] != HDST__GROUP_NOWHERE) memcpy(to + next[which[i]]++ * size, from + i * size, size);
}

void hdst__group_spread(char *to, const char *from, uint64_t count, uint64_t size, const uint32_t *which, uint64_t *next)
{
    switch (size) {
    case 4: spread(to, from, count, 4, which, next); break;
    case 8: spread(to, from, count, 8, which, next); break;
    case 12: spread(to, from, count, 12, which, next); break;
    case 16: spread(to, from, count, 16, which, next); break;
    case 24: spread(to, from, count, 24, which, next); break;
    case 32: spread(to, from, count, 32, which, next); break;
    default: spread(to, from, count, (size_t)size, which, next);
    }
}
