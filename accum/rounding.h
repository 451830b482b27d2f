// SPDX-License-Identifier: Apache-2.0
// Rounding to nearest, ties to even: the one place on the host where an exact sum becomes a float or a double (accum/rounding.cl is its like on devices).
#ifndef HDST_ACCUM_ROUNDING_H
#define HDST_ACCUM_ROUNDING_H

#include "record/type.h"

typedef struct hdst__float_format {
    int32_t fraction_bits, lowest;          // lowest: exponent of the smallest denormal
    uint32_t exponent_mask;
    uint64_t sign, infinity, quiet_nan;     // bits
} hdst__float_format;

static inline hdst__float_format hdst__float_format_of(hdst__kind kind)
{
    if (kind == HDST__F32) return (hdst__float_format){23, -149, 0xff, UINT64_C(1) << 31, 0x7f800000, 0x7fc00000};
    return (hdst__float_format){52, -1074, 0x7ff, UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)};
}

// |v| = mantissa * 2^exponent. False: NaN or an infinity.
static inline bool hdst__float_split(hdst__kind kind, uint64_t bits, uint64_t *mantissa, int32_t *exponent, bool *negative)
{
    const hdst__float_format f = hdst__float_format_of(kind);
    const uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    const uint32_t e = (uint32_t)(bits >> f.fraction_bits) & f.exponent_mask;
    *negative = bits & f.sign;
    *mantissa = e ? fraction | UINT64_C(1) << f.fraction_bits : fraction;
    *exponent = (int32_t)(e ? e - 1 : 0) + f.lowest;
    return e != f.exponent_mask;
}

// The bits of (magnitude + what is behind it) * 2^exponent; `more`: something not zero stands behind it, which is
// less than 1 (the magnitude then has 64 bits at least). Zero is +0.
uint64_t hdst__round_nearest(hdst__kind kind, bool negative, unsigned __int128 magnitude, bool more, int32_t exponent);

// --- By the processor's own conversion of integers ---
//
// Where every multiple of 2^unit that an int64 counts (or, of two words, an __int128) is zero or a normal number,
// converting the count is the only rounding: the product with a power of two is exact. The limits leave room for both
// words of a sum; the counts of two are below 2^104, and so is what becomes of them.
static inline bool hdst__rounds_directly(hdst__kind kind, int32_t unit)
{
    return kind == HDST__F32 ? unit >= -125 && unit <= 60 : unit >= -1020 && unit <= 900;
}

static inline float hdst__round_float(int64_t count, float unit) { return (float)count * unit; }
static inline double hdst__round_double(int64_t count, double unit) { return (double)count * unit; }

// high * 2^40 + low, times `low_unit`, the power of 2 of the low word; `half_unit`: of the high one, halved. A float
// has 24 bits: where the high word has 26 or more, all that counts of the low one is whether it is zero, which one
// bit more says.
static inline float hdst__round_two_float(int64_t high, int64_t low, float half_unit, float low_unit)
{
    enum { WORD = 40, LEAST = 26, MOST = 62 };
    const int64_t sum = (int64_t)((uint64_t)high + (uint64_t)(low >> WORD));
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum, rest = (uint64_t)low & ((UINT64_C(1) << WORD) - 1);
    const bool in_range = size - (UINT64_C(1) << LEAST) < (UINT64_C(1) << MOST) - (UINT64_C(1) << LEAST);
    if (!in_range) return (float)((__int128)high * ((__int128)1 << WORD) + low) * low_unit;
    return (float)(sum * 2 + (rest != 0)) * half_unit;
}

static inline double hdst__round_two_double(int64_t high, int64_t low, double low_unit)
{
    return (double)((__int128)high * ((__int128)1 << 40) + low) * low_unit;
}

#endif
