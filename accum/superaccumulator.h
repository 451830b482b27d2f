// SPDX-License-Identifier: Apache-2.0
// Superaccumulators: exact sums of floats and doubles in fixed point over the whole range of the type. `digits`
// words, word j counting multiples of 2^(32 j - 149) for float and 2^(32 j - 1074) for double, each signed and
// allowed to grow past 32 bits, then one word of flags. (Kulisch, "Advanced Arithmetic for the Digital Computer",
// 2002; the carry-save digits follow Neal, "Fast exact summation using small and large superaccumulators", 2015.)
//
// The host's additions carry before a digit could overflow, so their number is not bounded (the last digit takes 2^41
// addends of the greatest magnitude and one sign). Kernels add digits without a carry: each addition changes a digit
// by less than 2^32, so a launch may make 2^30 to one cell.
#ifndef HDST_ACCUM_SUPERACCUMULATOR_H
#define HDST_ACCUM_SUPERACCUMULATOR_H

#include "record/type.h"

enum {
    HDST__F32_DIGITS = 9, HDST__F64_DIGITS = 66,
    HDST__F32_LOWEST = -149, HDST__F64_LOWEST = -1074,      // exponent of digit 0
    HDST__FLAG_NAN = 1, HDST__FLAG_INF = 2, HDST__FLAG_NEG_INF = 4,     // or-ed
};

static inline uint32_t hdst__superaccumulator_digits(hdst__kind kind) { return kind == HDST__F32 ? HDST__F32_DIGITS : HDST__F64_DIGITS; }
void hdst__superaccumulator_add(int64_t *cell, hdst__kind kind, uint64_t bits);         // adds one float or double (IEEE bits), NaN and infinities to the flags
void hdst__superaccumulator_add_fixed(int64_t *cell, hdst__kind kind, int64_t q, int32_t s);   // adds q * 2^-s
void hdst__superaccumulator_merge(int64_t *to, const int64_t *from, hdst__kind kind);
void hdst__superaccumulator_carry(int64_t *cell, hdst__kind kind);      // digits but the last in 0 .. 2^32 - 1, the same sum
uint64_t hdst__superaccumulator_round(const int64_t *cell, hdst__kind kind);            // IEEE bits of the sum, to nearest even; +0 when exactly zero

#endif
