// SPDX-License-Identifier: Apache-2.0
// Scales and precision classes from a sample of addends (accum/addends.h).
#include "accum/addends.h"

#include "accum/fixed_point.h"
#include "accum/rounding.h"

enum { LAST_BINS = sizeof((hdst__addends *)0)->last_bit / sizeof(uint64_t), TOP_BINS = sizeof((hdst__addends *)0)->top_bit / sizeof(uint64_t) };
enum { OUTLIERS = 64, EXCEPTIONS = 32 };      // one in so many

void hdst__addends_init(hdst__addends *addends)
{
    *addends = (hdst__addends){0};
}

// The histograms are kept against the running maximum: a new one moves what was counted.
static void move_bins(uint64_t *bin, int32_t bins, int32_t by)
{
    for (int32_t i = bins - 1; i >= 0; i--) {
        const uint64_t moved = bin[i];
        bin[i] = 0;
        bin[i + by < bins ? i + by : bins - 1] += moved;
    }
}

static void raise_highest(hdst__addends *addends, int32_t highest)
{
    move_bins(addends->last_bit, LAST_BINS, highest - addends->highest);
    move_bins(addends->top_bit, TOP_BINS, highest - addends->highest);
    addends->highest = highest;
}

void hdst__addends_add(hdst__addends *addends, hdst__kind kind, uint64_t bits)
{
    uint64_t mantissa;
    int32_t unit;
    bool negative;
    if (!hdst__float_split(kind, bits, &mantissa, &unit, &negative) || mantissa == 0) return;
    const int32_t highest = unit + 63 - __builtin_clzll(mantissa), last = unit + __builtin_ctzll(mantissa);
    if (addends->count == 0) {
        addends->highest = highest;
        addends->lowest_bit = last;
    }
    if (highest > addends->highest) raise_highest(addends, highest);
    if (last < addends->lowest_bit) addends->lowest_bit = last;
    const int32_t below = addends->highest - last, top = addends->highest - highest;
    addends->last_bit[below < LAST_BINS ? below : LAST_BINS - 1]++;
    addends->top_bit[top < TOP_BINS ? top : TOP_BINS - 1]++;
    addends->count++;
}

static uint64_t addends_below(const hdst__addends *addends, int32_t exponent)      // with a last bit below 2^exponent
{
    uint64_t count = 0;
    for (int32_t i = 0; i < LAST_BINS; i++) {
        const int32_t last = i == LAST_BINS - 1 ? addends->lowest_bit : addends->highest - i;
        if (last < exponent) count += addends->last_bit[i];
    }
    return count;
}

static uint64_t addends_above(const hdst__addends *addends, int32_t exponent)      // of 2^exponent or more
{
    uint64_t count = 0;
    for (int32_t i = 0; i < TOP_BINS && addends->highest - i >= exponent; i++) count += addends->top_bit[i];
    return count;
}

static int32_t scale_with_room(int32_t bits, int32_t highest, int32_t spare)
{
    const int32_t room = spare / 2 > 2 ? spare / 2 : 2;
    return bits - 1 - highest - room;
}

// An addend of 2^highest gets a place in the bits with room above it for larger ones that the sample missed: half of
// the bits that nobody uses, two at least; where one full word does not do, of those of two words.
static int32_t scale_for(const hdst__addends *addends, hdst__kind kind, int32_t bits, int32_t highest)
{
    const int32_t span = highest - addends->lowest_bit + 1;
    int32_t s = scale_with_room(bits, highest, bits - span);
    if (bits == HDST__FIXED_BITS && addends_below(addends, -s) > addends->count / EXCEPTIONS) s = scale_with_room(bits, highest, 2 * bits - span);
    return hdst__fixed_scale(kind, s);
}

// Addends of the sample that do not fit; more than all where two words are needed.
static uint64_t exceptions(const hdst__addends *addends, int32_t s, int32_t bits)
{
    const uint64_t above = addends_above(addends, bits - s), one = above + addends_below(addends, -s);
    return one <= addends->count / EXCEPTIONS ? one : addends->count + above + addends_below(addends, -s - HDST__FIXED_BITS);
}

int32_t hdst__addends_scale(const hdst__addends *addends, hdst__kind kind, int32_t bits)
{
    uint64_t outliers = 0;
    int32_t below = 0;
    if (addends->count == 0) return 0;
    const int32_t s = scale_for(addends, kind, bits, addends->highest);
    while (below < TOP_BINS - 1 && outliers + addends->top_bit[below] <= addends->count / OUTLIERS) outliers += addends->top_bit[below++];
    const int32_t without = scale_for(addends, kind, bits, addends->highest - below);
    return exceptions(addends, without, bits) < exceptions(addends, s, bits) ? without : s;
}

// More than one in 32 that would not fit is too many for the slow path.
hdst__precision_class hdst__addends_precision(const hdst__addends *addends, hdst__kind kind, int32_t s, int32_t bits)
{
    if (addends->count == 0) return kind == HDST__F32 ? HDST__CLASS_ONE_WORD : HDST__CLASS_TWO_WORDS;
    const uint64_t too_many = addends->count / EXCEPTIONS, above = addends_above(addends, bits - s);
    if (above + addends_below(addends, -s) <= too_many) return HDST__CLASS_ONE_WORD;
    if (above + addends_below(addends, -s - HDST__FIXED_BITS) <= too_many) return HDST__CLASS_TWO_WORDS;
    return HDST__CLASS_SUPERACCUMULATOR;
}

// --- Words of rows ---

enum { LEAST_SPARE = 8 };           // bits: in a loop addends may become larger and smaller than those of the first turn

// Limits keep 2^s and 2^-(s + 52) normal, and a sum's upper half within its superaccumulator.
static int32_t limited(hdst__kind kind, int32_t s)
{
    const int32_t least = kind == HDST__F32 ? -70 : -900, most = kind == HDST__F32 ? 74 : 960;
    return s < least ? least : s > most ? most : s;
}

uint32_t hdst__row_words(const hdst__addends *addends, hdst__kind kind, int32_t *s)
{
    if (addends->count == 0) return 0;
    const int32_t span = addends->highest - addends->lowest_bit + 1;
    const uint32_t words = span + LEAST_SPARE <= HDST__ROW_BITS ? 1 : 2;
    const int32_t spare = (int32_t)words * HDST__ROW_BITS - span;
    if (spare < LEAST_SPARE) return 0;
    *s = limited(kind, HDST__ROW_BITS - 1 - addends->highest - spare / 2);
    const int32_t lowest = -*s - ((int32_t)words - 1) * HDST__ROW_BITS;
    return addends->highest < HDST__ROW_BITS - *s && addends->lowest_bit >= lowest ? words : 0;
}
