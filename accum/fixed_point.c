// SPDX-License-Identifier: Apache-2.0
// Float sums in fixed point on the host (accum/fixed_point.h).
#include "accum/fixed_point.h"

#include "accum/representation.h"
#include "accum/rounding.h"
#include "accum/superaccumulator.h"

// |value| * 2^(scale of the last word), a whole number of `width` bits at most. False: it is not.
static bool in_fixed_point(hdst__kind kind, int32_t lowest, int32_t width, uint64_t bits, unsigned __int128 *magnitude, bool *negative)
{
    uint64_t mantissa;
    int32_t exponent;
    *magnitude = 0;
    if (!hdst__float_split(kind, bits, &mantissa, &exponent, negative)) return false;
    if (mantissa == 0) return true;
    exponent += __builtin_ctzll(mantissa);
    mantissa >>= __builtin_ctzll(mantissa);
    const int32_t shift = exponent + lowest, highest = 63 - __builtin_clzll(mantissa) + shift;
    if (shift < 0 || highest >= width) return false;
    *magnitude = (unsigned __int128)mantissa << shift;
    return true;
}

bool hdst__fixed_fits(hdst__kind kind, uint32_t words, int32_t s, uint32_t addend_bits, uint64_t bits)
{
    const int32_t each = (int32_t)addend_bits, width = (int32_t)words * each;
    unsigned __int128 magnitude;
    bool negative;
    return in_fixed_point(kind, s + width - each, width, bits, &magnitude, &negative);
}

bool hdst__fixed_split(hdst__kind kind, uint32_t words, int32_t s, uint64_t bits, int64_t q[2])
{
    const int32_t width = (int32_t)words * HDST__FIXED_BITS;
    unsigned __int128 magnitude;
    bool negative;
    const bool fits = in_fixed_point(kind, s + width - HDST__FIXED_BITS, width, bits, &magnitude, &negative);
    const __int128 all = negative ? -(__int128)magnitude : (__int128)magnitude;
    q[0] = words == 2 ? (int64_t)(all / ((__int128)1 << HDST__FIXED_BITS)) : (int64_t)all;
    q[1] = words == 2 ? (int64_t)(all - q[0] * ((__int128)1 << HDST__FIXED_BITS)) : 0;
    return fits;
}

void hdst__fixed_spill(const int64_t *word, uint32_t words, int32_t s, int64_t *superaccumulator, hdst__kind kind)
{
    for (uint32_t w = 0; w < words; w++) hdst__superaccumulator_add_fixed(superaccumulator, kind, word[w], s + (int32_t)w * HDST__FIXED_BITS);
}

// --- Rounding ---

static uint64_t bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

uint64_t hdst__fixed_round(const int64_t *word, uint32_t words, int32_t s, hdst__kind kind)
{
    const int32_t unit = -s - (words == 2 ? HDST__FIXED_BITS : 0);
    if (hdst__rounds_directly(kind, -s) && hdst__rounds_directly(kind, unit)) {
        const double one = hdst__power_of_two(-s), low = hdst__power_of_two(unit);
        const bool two = words == 2;
        if (kind == HDST__F64) return bits_of_double(two ? hdst__round_two_double(word[0], word[1], low) : hdst__round_double(word[0], one));
        return bits_of_float(two ? hdst__round_two_float(word[0], word[1], (float)(one / 2), (float)low) : hdst__round_float(word[0], (float)one));
    }
    const __int128 sum = words == 2 ? (__int128)word[0] * ((__int128)1 << HDST__FIXED_BITS) + word[1] : word[0];
    return hdst__round_nearest(kind, sum < 0, sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum, false, unit);
}

// --- The representation ---

static uint32_t applies(const hdst__cell *cell) { return cell->digits ? cell->private_words : 0; }

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    for (uint32_t w = 0; w < cell->private_words; w++)
        if (!hdst__fixed_has_room(to[w], HDST__FIXED_FULL) || !hdst__fixed_has_room(from[w], HDST__FIXED_FULL)) return false;
    for (uint32_t w = 0; w < cell->private_words; w++) to[w] += from[w];
    return true;
}

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    int64_t q[2];
    return cell->private_words && hdst__fixed_split(cell->kind, cell->private_words, s, bits, q) && merge(cell, word, q);
}

static void spill(const hdst__cell *cell, int64_t *word, int32_t s, int64_t *superaccumulator)
{
    hdst__fixed_spill(word, cell->private_words, s, superaccumulator, cell->kind);
    memset(word, 0, cell->private_words * sizeof *word);
}

static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    if (!rest && cell->private_words) return hdst__fixed_round(word, cell->private_words, s, cell->kind);
    int64_t all[HDST__F64_DIGITS + 1] = {0};
    if (rest) memcpy(all, rest, (cell->digits + 1) * sizeof *all);
    hdst__fixed_spill(word, cell->private_words, s, all, cell->kind);
    return hdst__superaccumulator_round(all, cell->kind);
}

static void read_words(const hdst__cell *cell, const int64_t *in, int64_t *word) { memcpy(word, in, cell->private_words * sizeof *word); }

static void write_words(const hdst__cell *cell, const int64_t *word, int64_t *out)
{
    read_words(cell, word, out);
    if (cell->private_words == 2) hdst__fixed_carry(out);
}

const hdst__representation hdst__fixed_point = {"fixed_point", "fixed_point.cl fixed_point_double.cl", applies, add, merge, spill, value,
                                                write_words, read_words};
