// SPDX-License-Identifier: Apache-2.0
// The inverse of the hash of keys of 8 bytes, by its description (docs/datasets.md): with it keys are made that crowd. Products are modulo 2^64.
#ifndef TESTS_SUPPORT_KEY_UNMIX_H
#define TESTS_SUPPORT_KEY_UNMIX_H

#include <stdint.h>

// Of an odd number, by Newton's iteration.
static inline uint64_t odd_inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

// x of y = x ^ x >> by.
static inline uint64_t unshift(uint64_t y, int by)
{
    uint64_t x = y;
    for (int i = 0; i < 64; i += by) x = y ^ x >> by;
    return x;
}

// The key whose mixed bits these are; their upper half is its hash.
static inline uint64_t unmix64(uint64_t mixed)
{
    mixed = unshift(mixed, 31) * odd_inverse(UINT64_C(0x94d049bb133111eb));
    mixed = unshift(mixed, 27) * odd_inverse(UINT64_C(0xbf58476d1ce4e5b9));
    return unshift(mixed, 30);
}

#endif
