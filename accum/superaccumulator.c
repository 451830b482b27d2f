// SPDX-License-Identifier: Apache-2.0
// Superaccumulators on the host (accum/superaccumulator.h).
#include "accum/superaccumulator.h"

#include "accum/representation.h"
#include "accum/rounding.h"

#include <assert.h>
#include <string.h>

// Moves what a digit has above its 32 bits to the next one. The last digit keeps its carry and the sign of the whole.
static void carry(int64_t *cell, uint32_t digits)
{
    for (uint32_t i = 0; i + 1 < digits; i++) {
        const int64_t low = cell[i] & 0xffffffff;
        cell[i + 1] += (cell[i] - low) / ((int64_t)1 << 32);
        cell[i] = low;
    }
}

void hdst__superaccumulator_carry(int64_t *cell, hdst__kind kind)
{
    carry(cell, hdst__superaccumulator_digits(kind));
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

void hdst__superaccumulator_add(int64_t *cell, hdst__kind kind, uint64_t bits)
{
    const uint32_t digits = hdst__superaccumulator_digits(kind);
    uint64_t mantissa;
    int32_t exponent;
    bool negative;
    if (!hdst__float_split(kind, bits, &mantissa, &exponent, &negative)) {
        const bool is_nan = mantissa & (mantissa - 1);       // an infinity's has its leading bit alone
        cell[digits] |= is_nan ? HDST__FLAG_NAN : negative ? HDST__FLAG_NEG_INF : HDST__FLAG_INF;
        return;
    }
    const int32_t lowest = hdst__float_format_of(kind).lowest;
    if (mantissa != 0) add_at(cell, digits, negative ? -(int64_t)mantissa : (int64_t)mantissa, (uint32_t)(exponent - lowest));
}

void hdst__superaccumulator_add_fixed(int64_t *cell, hdst__kind kind, int64_t q, int32_t s)
{
    const uint32_t digits = hdst__superaccumulator_digits(kind);
    int32_t bit = -s - hdst__float_format_of(kind).lowest;
    // A sum of floats is a multiple of their smallest denormal, so what a fine scale has below it is zero.
    for (; bit < 0 && q % 2 == 0 && q != 0; bit++) q /= 2;
    if (q == 0) return;
    assert(bit >= 0 && (uint32_t)bit < 32 * (digits + 1));        // the last digit has 64 bits
    add_at(cell, digits, q, (uint32_t)bit);
}

void hdst__superaccumulator_merge(int64_t *to, const int64_t *from, hdst__kind kind)
{
    const uint32_t digits = hdst__superaccumulator_digits(kind);
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

static bool any_below(const uint32_t *limb, uint32_t bit)
{
    for (uint32_t i = 0; i < bit / 32; i++)
        if (limb[i]) return true;
    return bit % 32 != 0 && (limb[bit / 32] & (((uint32_t)1 << bit % 32) - 1)) != 0;
}

// The 128 bits from the highest one on, and whether anything is below them.
static uint64_t round_magnitude(hdst__kind kind, bool negative, const uint32_t *limb, uint32_t limbs)
{
    const int32_t highest = highest_bit(limb, limbs), first = highest > 127 ? highest - 127 : 0;
    const uint32_t at = (uint32_t)first / 32, shift = (uint32_t)first % 32;
    unsigned __int128 bits = 0;
    for (uint32_t i = 0; i < 4 && at + i < limbs; i++) bits |= (unsigned __int128)limb[at + i] << 32 * i;
    bits >>= shift;
    if (shift && at + 4 < limbs) bits |= (unsigned __int128)limb[at + 4] << (128 - shift);
    return hdst__round_nearest(kind, negative, bits, any_below(limb, (uint32_t)first), first + hdst__float_format_of(kind).lowest);
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

uint64_t hdst__superaccumulator_round(const int64_t *cell, hdst__kind kind)
{
    const hdst__float_format format = hdst__float_format_of(kind);
    const uint32_t digits = hdst__superaccumulator_digits(kind);
    const int64_t flags = cell[digits], both = HDST__FLAG_INF | HDST__FLAG_NEG_INF;
    if (flags & HDST__FLAG_NAN || (flags & both) == both) return format.quiet_nan;
    if (flags & HDST__FLAG_INF) return format.infinity;
    if (flags & HDST__FLAG_NEG_INF) return format.sign | format.infinity;
    uint32_t first;
    __int128 total;
    if (few_digits(cell, digits, &first, &total)) {
        const unsigned __int128 size = total < 0 ? -(unsigned __int128)total : (unsigned __int128)total;
        return hdst__round_nearest(kind, total < 0, size, false, (int32_t)(32 * first) + format.lowest);
    }
    uint32_t limb[HDST__F64_DIGITS + 1];
    const bool negative = to_magnitude(cell, digits, limb);
    return round_magnitude(kind, negative, limb, digits + 1);
}

// --- The representation ---

static uint32_t applies(const hdst__cell *cell) { return cell->digits ? cell->digits + 1 : 0; }

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    (void)s;
    hdst__superaccumulator_add(word, cell->kind, bits);
    return true;
}

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    hdst__superaccumulator_merge(to, from, cell->kind);
    return true;
}

static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    (void)s;
    int64_t all[HDST__F64_DIGITS + 1];
    if (!rest) return hdst__superaccumulator_round(word, cell->kind);
    memcpy(all, word, (cell->digits + 1) * sizeof *all);
    hdst__superaccumulator_merge(all, rest, cell->kind);
    return hdst__superaccumulator_round(all, cell->kind);
}

static void read_words(const hdst__cell *cell, const int64_t *in, int64_t *word) { memcpy(word, in, (cell->digits + 1) * sizeof *word); }

static void write_words(const hdst__cell *cell, const int64_t *word, int64_t *out)
{
    read_words(cell, word, out);
    hdst__superaccumulator_carry(out, cell->kind);
}

const hdst__representation hdst__superaccumulator = {"superaccumulator", "superaccumulator.cl superaccumulator_double.cl", applies, add, merge, NULL, value,
                                                     write_words, read_words};
