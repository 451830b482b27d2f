// SPDX-License-Identifier: Apache-2.0
// Float sums in fixed point: one or two int64 at a scale 2^s that was guessed from the data. Word 0 counts multiples
// of 2^-s, word 1 of 2^-(s + 40). An addend is below 2^40 in each word, so 2^23 of them fit. One that does not fit
// goes to a superaccumulator, and so do the words before they could overflow: no choice of scale changes a bit of the
// sum.
#ifndef HDST_ACCUM_FIXED_POINT_H
#define HDST_ACCUM_FIXED_POINT_H

#include "record/type.h"

#include <string.h>

#define HDST__FIXED_FULL (INT64_C(1) << 62)     // words below it in magnitude take an addend, or one another, and stay below 2^63

enum {
    HDST__FIXED_BITS = 40,          // an addend in fixed point is below 2^40, so 2^23 of them fit an int64
    HDST__FLUSH_ADDS = 1 << 23,
    // GPU: a lane's own word counts multiples of 2^-(s + 13); 32 addends are below 2^58, so it takes 2^10 (FLUSH_ADDS >> LANE_BITS) before it merges
    HDST__LANE_BITS = 13,
    HDST__LANE_TURNS = 32,          // additions to its running sums before they go to the word
    HDST__LANE_LEAST_SCALE = -81,   // its running sums stand beside 1.5 * 2^(46 - s), a float's largest at that
};

// Whether a word may take more: it is below `full` in magnitude.
static inline bool hdst__fixed_has_room(int64_t word, int64_t full) { return word < full && word > -full; }

// Limits keep 2^s, 2^-s and 2^(s + 40) in the range of the addends' kind, because kernels multiply by them (accum/fixed_point.cl clamps alike).
static inline int32_t hdst__fixed_scale(hdst__kind addends, int32_t s)
{
    const int32_t least = addends == HDST__F32 ? -100 : -970, most = addends == HDST__F32 ? 86 : 980;
    return s < least ? least : s > most ? most : s;
}

// Whether words take the value where they are of `addend_bits` bits each, HDST__FIXED_BITS at most. NaN and infinities: no.
bool hdst__fixed_fits(hdst__kind kind, uint32_t words, int32_t s, uint32_t addend_bits, uint64_t bits);

// The value in `words` (1 or 2) words; false, and zeros: NaN, an infinity, or a number that they do not hold. Integers alone, for any s.
bool hdst__fixed_split(hdst__kind kind, uint32_t words, int32_t s, uint64_t bits, int64_t q[2]);

// Adds the words to a superaccumulator of `kind`.
void hdst__fixed_spill(const int64_t *word, uint32_t words, int32_t s, int64_t *superaccumulator, hdst__kind kind);

// Of two words the second one in 0 .. 2^40 - 1, the same sum.
static inline void hdst__fixed_carry(int64_t word[2])
{
    const int64_t low = word[1] & ((INT64_C(1) << HDST__FIXED_BITS) - 1);
    word[0] = (int64_t)((uint64_t)word[0] + (uint64_t)((word[1] - low) / (INT64_C(1) << HDST__FIXED_BITS)));
    word[1] = low;
}

// IEEE bits of the words' sum, rounded once.
uint64_t hdst__fixed_round(const int64_t *word, uint32_t words, int32_t s, hdst__kind kind);

// --- In double arithmetic, without a branch, so that loops over addends become vectors ---

static inline double hdst__power_of_two(int32_t e)       // of a normal double
{
    const uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Adding 1.5 * 2^52 moves the integer nearest to a number below 2^51 into the low bits of the sum.
static inline int64_t hdst__nearest_integer(double x, double *as_double)
{
    const double beside = 0x1.8p52, moved = x + beside;
    int64_t bits, zero;
    memcpy(&bits, &moved, sizeof bits);
    memcpy(&zero, &beside, sizeof zero);
    *as_double = moved - beside;
    return bits - zero;
}

// One word: v = q 2^-s, with up = 2^s and down = 2^-s. `down` catches what got lost on the way to a denormal. NaN
// fails every comparison. Not 0: it does not fit, and the word is 0.
static inline uint8_t hdst__fixed_one(double v, double up, double down, uint64_t *q)
{
    const double x = v * up;
    double n;
    const int64_t word = hdst__nearest_integer(x, &n);
    const uint8_t fits = (n == x) & (x < 0x1p40) & (x > -0x1p40) & (n * down == v);
    *q = fits ? (uint64_t)word : 0;
    return !fits;
}

static inline uint8_t hdst__fixed_two(double v, double up, double down, uint64_t *high, uint64_t *low)
{
    const double x = v * up;
    double n, m;
    const int64_t first = hdst__nearest_integer(x, &n);
    const double rest = (x - n) * 0x1p40;           // exact: both are multiples of the last bit of x, and the difference is at most a half
    const int64_t second = hdst__nearest_integer(rest, &m);
    const uint8_t fits = (x < 0x1p40) & (x > -0x1p40) & (m == rest) & (x * down == v);
    *high = fits ? (uint64_t)first : 0;
    *low = fits ? (uint64_t)second : 0;
    return !fits;
}

#endif
