// SPDX-License-Identifier: Apache-2.0
// Wide cells: exact sums of floats and doubles in fixed point over the whole range of the type (accum/accumulators.h says how they are laid out).
//
// It lives in codegen/ because the interpreter adds to wide cells; shuffle/ merges and reads them with the same functions.
// References: Kulisch, "Advanced Arithmetic for the Digital Computer", 2002; Neal, "Fast exact summation using small and large superaccumulators", 2015.
#include "accum/accumulators.h"

#include <assert.h>
#include <string.h>

typedef struct shape {          // of a floating type and its wide cell
    uint32_t digits, fraction_bits, exponent_mask;
    int32_t lowest;
    uint64_t sign, infinity, quiet_nan;
} shape;

static shape shape_of(hdst__kind kind)
{
    if (kind == HDST__F32) return (shape){HDST__F32_DIGITS, 23, 0xff, HDST__F32_LOWEST, UINT64_C(1) << 31, 0x7f800000, 0x7fc00000};
    return (shape){HDST__F64_DIGITS, 52, 0x7ff, HDST__F64_LOWEST, UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)};
}

uint32_t hdst__wide_digits(hdst__kind kind)
{
    return kind == HDST__F32 ? HDST__F32_DIGITS : HDST__F64_DIGITS;
}

// Moves what a digit has above its 32 bits to the next one. The last digit keeps its carry and the sign of the whole.
static void carry(int64_t *cell, uint32_t digits)
{
    for (uint32_t i = 0; i + 1 < digits; i++) {
        const int64_t low = cell[i] & 0xffffffff;
        cell[i + 1] += (cell[i] - low) / ((int64_t)1 << 32);
        cell[i] = low;
    }
}

void hdst__wide_carry(int64_t *cell, hdst__kind kind)
{
    carry(cell, hdst__wide_digits(kind));
}

// Adds value * 2^bit units of digit 0. A digit is changed by less than 2^32; `carry` runs while it still has room for that.
static void add_at(int64_t *cell, uint32_t digits, int64_t value, uint32_t bit)
{
    uint32_t digit = bit / 32 < digits - 1 ? bit / 32 : digits - 1;
    __int128 rest = (__int128)value * ((__int128)1 << (bit - 32 * digit));
    bool full = false;
    for (; digit < digits - 1 && rest != 0; digit++) {
        cell[digit] += (int64_t)(rest & 0xffffffff);
        full |= cell[digit] >= (int64_t)1 << 62 || cell[digit] <= -((int64_t)1 << 62);
        rest = (rest - (rest & 0xffffffff)) / ((__int128)1 << 32);
    }
    cell[digit] += (int64_t)rest;       // zero unless the last digit was reached
    if (full) carry(cell, digits);
}

void hdst__wide_add(int64_t *cell, hdst__kind kind, uint64_t bits)
{
    const shape s = shape_of(kind);
    const uint64_t fraction = bits & ((UINT64_C(1) << s.fraction_bits) - 1);
    const uint32_t exponent = (uint32_t)(bits >> s.fraction_bits) & s.exponent_mask;
    const bool negative = bits & s.sign;
    if (exponent == s.exponent_mask) {
        cell[s.digits] |= fraction ? HDST__FLAG_NAN : negative ? HDST__FLAG_NEG_INF : HDST__FLAG_INF;
        return;
    }
    const int64_t mantissa = (int64_t)(exponent ? fraction | UINT64_C(1) << s.fraction_bits : fraction);
    if (mantissa != 0) add_at(cell, s.digits, negative ? -mantissa : mantissa, exponent ? exponent - 1 : 0);
}

void hdst__wide_add_fixed(int64_t *cell, hdst__kind kind, int64_t q, int32_t s)
{
    const shape type = shape_of(kind);
    int32_t bit = -s - type.lowest;
    // A sum of floats is a multiple of their smallest denormal, so what a fine scale has below it is zero.
    for (; bit < 0 && q % 2 == 0 && q != 0; bit++) q /= 2;
    if (q == 0) return;
    assert(bit >= 0 && (uint32_t)bit < 32 * type.digits);
    add_at(cell, type.digits, q, (uint32_t)bit);
}

void hdst__wide_merge(int64_t *to, const int64_t *from, hdst__kind kind)
{
    const uint32_t digits = hdst__wide_digits(kind);
    int64_t other[HDST__F64_DIGITS];
    memcpy(other, from, digits * sizeof *other);
    carry(other, digits);
    carry(to, digits);
    for (uint32_t i = 0; i < digits; i++) to[i] += other[i];
    to[digits] |= from[digits];
}

// --- Rounding ---

// The absolute value of the sum as 32-bit limbs, lowest first; one more limb than digits, for the carry that the last digit keeps.
static bool to_magnitude(const int64_t *cell, uint32_t digits, uint32_t *limb)
{
    int64_t copy[HDST__F64_DIGITS];
    memcpy(copy, cell, digits * sizeof *copy);
    carry(copy, digits);
    const bool negative = copy[digits - 1] < 0;
    uint64_t borrow = negative;         // two's complement: invert and add one
    for (uint32_t i = 0; i <= digits; i++) {
        const uint64_t last = (uint64_t)copy[digits - 1];
        const uint32_t word = (uint32_t)(i < digits ? (uint64_t)copy[i] : last >> 32);
        borrow += negative ? (uint32_t)~word : word;
        limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    return negative;
}

static int32_t highest_bit(const uint32_t *limb, uint32_t limbs)       // -1: zero
{
    for (uint32_t i = limbs; i-- > 0;)
        if (limb[i]) return (int32_t)(32 * i + 31 - (uint32_t)__builtin_clz(limb[i]));
    return -1;
}

static uint64_t bits_from(const uint32_t *limb, uint32_t limbs, uint32_t first, uint32_t count)    // count < 64
{
    unsigned __int128 bits = 0;         // of the three limbs that may have them
    for (uint32_t i = 0; i < 3 && first / 32 + i < limbs; i++) bits |= (unsigned __int128)limb[first / 32 + i] << 32 * i;
    return (uint64_t)(bits >> first % 32) & ((UINT64_C(1) << count) - 1);
}

static bool any_below(const uint32_t *limb, uint32_t bit)
{
    for (uint32_t i = 0; i < bit / 32; i++)
        if (limb[i]) return true;
    return bit % 32 != 0 && (limb[bit / 32] & (((uint32_t)1 << bit % 32) - 1)) != 0;
}

// Rounds to nearest, ties to even. Adding the mantissa with its leading bit to the exponent field lets carries run into the exponent, up to infinity.
static uint64_t round_magnitude(const uint32_t *limb, uint32_t limbs, shape s)
{
    const int32_t highest = highest_bit(limb, limbs), precision = (int32_t)s.fraction_bits + 1;
    if (highest < precision) return bits_from(limb, limbs, 0, (uint32_t)precision);     // exact: zero, a denormal, the first binade
    const uint32_t shift = (uint32_t)(highest - precision + 1);
    if (shift + 1 >= s.exponent_mask) return s.infinity;
    const uint64_t mantissa = bits_from(limb, limbs, shift, (uint32_t)precision);
    const bool half = bits_from(limb, limbs, shift - 1, 1), more = any_below(limb, shift - 1);
    const uint64_t bits = ((uint64_t)shift << s.fraction_bits) + mantissa + (half && (more || mantissa % 2));
    return bits > s.infinity ? s.infinity : bits;
}

// Mostly the digits that are not zero stand together, three at most: their sum in units of digit `first`. False: not so.
static bool few_digits(const int64_t *cell, uint32_t digits, uint32_t *first, __int128 *total)
{
    uint32_t end = digits;
    *first = 0;
    while (*first < digits && cell[*first] == 0) ++*first;
    while (end > *first && cell[end - 1] == 0) end--;
    if (end > *first + 3) return false;
    *total = 0;
    for (uint32_t i = end; i-- > *first;) {
        if (cell[i] >= (int64_t)1 << 62 || cell[i] <= -((int64_t)1 << 62)) return false;
        *total = *total * ((__int128)1 << 32) + cell[i];
    }
    return true;
}

// As round_magnitude, of m units of digit `first`.
static uint64_t round_few(unsigned __int128 m, uint32_t first, shape s)
{
    if (m == 0) return 0;
    const int32_t zeros = m >> 64 ? __builtin_clzll((uint64_t)(m >> 64)) : 64 + __builtin_clzll((uint64_t)m);
    const int32_t highest = (int32_t)(32 * first) + 127 - zeros, precision = (int32_t)s.fraction_bits + 1;
    if (highest < precision) return (uint64_t)m << 32 * first;
    const uint32_t shift = (uint32_t)(highest - precision + 1);
    if (shift + 1 >= s.exponent_mask) return s.infinity;
    const int32_t cut = (int32_t)shift - (int32_t)(32 * first);     // bits of m that go
    uint64_t mantissa = (uint64_t)(cut > 0 ? m >> cut : m << -cut), up = 0;
    if (cut > 0) {
        const unsigned __int128 half = (unsigned __int128)1 << (cut - 1), rest = m & (2 * half - 1);
        up = rest > half || (rest == half && mantissa % 2);
    }
    mantissa &= (UINT64_C(1) << precision) - 1;
    const uint64_t bits = ((uint64_t)shift << s.fraction_bits) + mantissa + up;
    return bits > s.infinity ? s.infinity : bits;
}

uint64_t hdst__wide_round(const int64_t *cell, hdst__kind kind)
{
    const shape s = shape_of(kind);
    const int64_t flags = cell[s.digits], both = HDST__FLAG_INF | HDST__FLAG_NEG_INF;
    if (flags & HDST__FLAG_NAN || (flags & both) == both) return s.quiet_nan;
    if (flags & HDST__FLAG_INF) return s.infinity;
    if (flags & HDST__FLAG_NEG_INF) return s.sign | s.infinity;
    uint32_t first;
    __int128 total;
    if (few_digits(cell, s.digits, &first, &total))
        return total < 0 ? s.sign | round_few((unsigned __int128)-total, first, s) : round_few((unsigned __int128)total, first, s);
    uint32_t limb[HDST__F64_DIGITS + 1];
    const bool negative = to_magnitude(cell, s.digits, limb);
    const uint64_t magnitude = round_magnitude(limb, s.digits + 1, s);
    return negative ? s.sign | magnitude : magnitude;
}
