// SPDX-License-Identifier: Apache-2.0
// Exact sums by another road, for the tests: one big integer in units of 2^-1074, sign and magnitude, base 2^16,
// schoolbook. Rounding is a search: the greatest floating-point number not above the sum, then a comparison of the
// sum with the middle to the next one. Slow, and shares nothing with accum/superaccumulator.c.
#ifndef HDST_TESTS_BIGNUM_H
#define HDST_TESTS_BIGNUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BIG_LIMBS = 160 };       // 2560 bits: 2^-1074 to 2^1486

typedef struct big {
    bool negative;
    uint16_t limb[BIG_LIMBS];   // lowest first
} big;

static inline int big_compare_magnitude(const big *a, const big *b)
{
    for (int i = BIG_LIMBS; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static inline void big_add_magnitude(big *a, const big *b)
{
    uint32_t carry = 0;
    for (int i = 0; i < BIG_LIMBS; i++) {
        carry += (uint32_t)a->limb[i] + b->limb[i];
        a->limb[i] = (uint16_t)carry;
        carry >>= 16;
    }
}

static inline void big_subtract_magnitude(big *a, const big *b)     // |a| >= |b|
{
    int32_t borrow = 0;
    for (int i = 0; i < BIG_LIMBS; i++) {
        int32_t difference = (int32_t)a->limb[i] - b->limb[i] - borrow;
        borrow = difference < 0;
        a->limb[i] = (uint16_t)(difference + (borrow << 16));
    }
}

static inline void big_add(big *a, const big *b)
{
    if (a->negative == b->negative) {
        big_add_magnitude(a, b);
    } else if (big_compare_magnitude(a, b) >= 0) {
        big_subtract_magnitude(a, b);
    } else {
        big other = *b;
        big_subtract_magnitude(&other, a);
        *a = other;
    }
}

static inline void big_double(big *a)
{
    big same = *a;
    big_add_magnitude(a, &same);
}

// The value of a finite double, by frexp: an integer mantissa, doubled often enough.
static inline big big_of(double value)
{
    big result = {.negative = signbit(value) != 0};
    if (value == 0) return result;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(value), &exponent), 53);
    exponent -= 53;
    while (exponent < -1074) {          // denormals: what falls off is zero
        mantissa /= 2;
        exponent++;
    }
    const int shift = exponent + 1074;
    for (int i = 0; i < 64; i++)
        if (mantissa >> i & 1) result.limb[(shift + i) / 16] |= (uint16_t)(1u << (shift + i) % 16);
    return result;
}

static inline double big_bits_to_double(uint64_t bits, bool single)
{
    if (single) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, 4);
        return f;
    }
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

// IEEE bits of the sum rounded to nearest, ties to even, to float or double. +0 for zero.
static inline uint64_t big_round(const big *sum, bool single)
{
    const uint64_t infinity = single ? 0x7f800000 : UINT64_C(0x7ff0000000000000), sign = single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    big magnitude = *sum;
    magnitude.negative = false;
    uint64_t low = 0, high = infinity;          // value(low) <= magnitude < value(high), infinity standing for 2^(emax + 1)
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        const big candidate = big_of(big_bits_to_double(middle, single));
        if (big_compare_magnitude(&candidate, &magnitude) <= 0) low = middle;
        else high = middle;
    }
    big below = big_of(big_bits_to_double(low, single)), above;
    if (high < infinity) {
        above = big_of(big_bits_to_double(high, single));
    } else if (single) {
        above = big_of(0x1p128);
    } else {
        above = big_of(0x1p1023);
        big_double(&above);
    }
    big_add(&below, &above);                    // twice the middle
    big_double(&magnitude);
    const int order = big_compare_magnitude(&magnitude, &below);
    const uint64_t bits = order < 0 || (order == 0 && low % 2 == 0) ? low : high;
    return sum->negative && bits ? sign | bits : bits;
}

#endif
