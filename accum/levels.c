// SPDX-License-Identifier: Apache-2.0
// Pre-rounded summation on the host, one lane of it: what accum/levels_lane.cl and levels_lane_double.cl do in a lane's registers, in the arithmetic of
// the numbers themselves. Kernels are quick by it; here it is what they are compared with.
//
// A running sum stands beside a number so great that adding to it rounds to a multiple of its level's unit; the next level takes what rounding left.
// (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005; Demmel, Nguyen, "Fast reproducible floating-point summation", 2013.) So the bits of a sum
// count units. The words: totals in fixed point - floats: multiples of 2^-(s + 13); doubles: of 2^-s and of 2^-(s + 40) -, then of each level what its
// sum's bits are above its base's, then how many additions these hold.
#include "accum/fixed_point.h"
#include "accum/representation.h"
#include "accum/rounding.h"
#include "accum/superaccumulator.h"

#include <math.h>

enum { WORDS = 5, ADDS = 4, FLOAT_LEVELS = 3, FLOAT_STEP = 18, FLOAT_ADDS = 32, DOUBLE_LEVELS = 2, DOUBLE_STEP = 40, DOUBLE_ADDS = 1 << 10 };

static bool is_float(const hdst__cell *cell) { return cell->kind == HDST__F32; }
static uint32_t totals(const hdst__cell *cell) { return is_float(cell) ? 1 : 2; }

// Scales at which bases are normal numbers.
static int32_t lane_scale(const hdst__cell *cell, int32_t s)
{
    const int32_t fixed = hdst__fixed_scale(cell->kind, s);
    return is_float(cell) && fixed < HDST__LANE_LEAST_SCALE ? HDST__LANE_LEAST_SCALE : fixed;
}

// Of the totals.
static int32_t total_scale(const hdst__cell *cell, int32_t s) { return lane_scale(cell, s) + (is_float(cell) ? HDST__LANE_BITS : 0); }

static uint32_t applies(const hdst__cell *cell) { return cell->digits ? WORDS : 0; }

// --- Running sums ---

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static int64_t bits_of(const void *v, size_t size)
{
    int64_t bits = 0;
    memcpy(&bits, v, size);
    return bits;
}

// 1.5 times the number from which on a last place is the level's unit.
static uint32_t float_base(int32_t s, int level) { return (uint32_t)(127 + 23 + 23 - s - FLOAT_STEP * level) << 23 | UINT32_C(1) << 22; }
static uint64_t double_base(int32_t s, int level) { return (uint64_t)(1023 + 52 - s - DOUBLE_STEP * level) << 52 | UINT64_C(1) << 51; }

// False: the first sum left its binade, or something is left behind the last level; NaN and infinities do either.
static bool add_float(int64_t *word, int32_t s, float v)
{
    float rest = v, now[FLOAT_LEVELS];
    for (int level = 0; level < FLOAT_LEVELS; level++) {
        const float sum = float_of((uint32_t)(float_base(s, level) + (uint32_t)word[1 + level]));
        now[level] = sum + rest;
        rest -= now[level] - sum;
    }
    const uint32_t changed = (uint32_t)bits_of(&now[0], sizeof *now) ^ float_base(s, 0);
    if (rest != 0 || rest != rest || changed >> 23) return false;
    for (int level = 0; level < FLOAT_LEVELS; level++) word[1 + level] = bits_of(&now[level], sizeof *now) - (int64_t)float_base(s, level);
    return true;
}

// An addend whose 53 bits all lie in the two levels, which its exponent tells. False: it is another one.
static bool add_double(int64_t *word, int32_t s, double v)
{
    const uint32_t exponent = (uint32_t)((uint64_t)bits_of(&v, sizeof v) >> 52) & 2047;
    if (v == 0) return true;
    if (exponent - (uint32_t)(1023 + 12 - s) >= 28) return false;
    const double sum = double_of(double_base(s, 0) + (uint64_t)word[2]), now = sum + v;
    const double second = double_of(double_base(s, 1) + (uint64_t)word[3]) + (v - (now - sum));
    word[2] = bits_of(&now, sizeof now) - (int64_t)double_base(s, 0);
    word[3] = bits_of(&second, sizeof second) - (int64_t)double_base(s, 1);
    return true;
}

// The running sums go to the totals: at most 2^59 at a time, and the totals are below 2^62 before.
static void take(const hdst__cell *cell, int64_t *word)
{
    if (is_float(cell)) {
        word[0] += word[1] * (INT64_C(1) << 2 * FLOAT_STEP) + word[2] * (INT64_C(1) << FLOAT_STEP) + word[3];
        word[1] = word[2] = word[3] = 0;
    } else {
        word[0] += word[2];
        word[1] += word[3];
        word[2] = word[3] = 0;
    }
    word[ADDS] = 0;
}

static bool has_room(const hdst__cell *cell, const int64_t *word)
{
    for (uint32_t w = 0; w < totals(cell); w++)
        if (!hdst__fixed_has_room(word[w], HDST__FIXED_FULL)) return false;
    return true;
}

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    const int32_t at = lane_scale(cell, s);
    if (word[ADDS] == (is_float(cell) ? FLOAT_ADDS : DOUBLE_ADDS)) take(cell, word);
    if (!has_room(cell, word) || !(is_float(cell) ? add_float(word, at, float_of((uint32_t)bits)) : add_double(word, at, double_of(bits)))) return false;
    word[ADDS]++;
    return true;
}

// --- The rest of the representation: that of the totals ---

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    int64_t other[WORDS];
    memcpy(other, from, sizeof other);
    take(cell, other);
    take(cell, to);
    if (!has_room(cell, to) || !has_room(cell, other)) return false;
    for (uint32_t w = 0; w < totals(cell); w++) to[w] += other[w];
    return true;
}

static void spill(const hdst__cell *cell, int64_t *word, int32_t s, int64_t *superaccumulator)
{
    take(cell, word);
    hdst__fixed_spill(word, totals(cell), total_scale(cell, s), superaccumulator, cell->kind);
    memset(word, 0, WORDS * sizeof *word);
}

static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    int64_t own[WORDS], all[HDST__F64_DIGITS + 1] = {0};
    memcpy(own, word, sizeof own);
    take(cell, own);
    if (!rest) return hdst__fixed_round(own, totals(cell), total_scale(cell, s), cell->kind);
    memcpy(all, rest, (cell->digits + 1) * sizeof *all);
    hdst__fixed_spill(own, totals(cell), total_scale(cell, s), all, cell->kind);
    return hdst__superaccumulator_round(all, cell->kind);
}

static void write_words(const hdst__cell *cell, const int64_t *word, int64_t *out)
{
    memcpy(out, word, WORDS * sizeof *out);
    take(cell, out);
    if (!is_float(cell)) hdst__fixed_carry(out);
}

static void read_words(const hdst__cell *cell, const int64_t *in, int64_t *word)
{
    (void)cell;
    memcpy(word, in, WORDS * sizeof *word);
}

const hdst__representation hdst__levels = {"levels", "levels_lane.cl levels_lane_double.cl", applies, add, merge, spill, value, write_words, read_words};
