// SPDX-License-Identifier: Apache-2.0
// What every representation of an accumulator is tried with (accum/representation.h): addends made to break sums, and
// the truth about them by another road: big integers for floats (bignum.h), 128-bit integers for integers,
// comparisons of C for minimum and maximum.
#ifndef HDST_TESTS_CONFORMANCE_H
#define HDST_TESTS_CONFORMANCE_H

#include "accum/cell.h"
#include "tests/support/bignum.h"

enum { MOST_ADDENDS = 96 };

typedef struct addend_case {
    const char *name;
    hdst__kind kind;
    size_t count;
    double v[MOST_ADDENDS];         // each a value of the kind
} addend_case;

static inline uint64_t bits_of_value(hdst__kind kind, double v)
{
    uint64_t bits = 0;
    const float f = (float)v;
    if (kind == HDST__F32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    return bits;
}

static inline uint64_t random_word(uint64_t *state)        // splitmix64
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline double random_between(uint64_t *state, hdst__kind kind, int low_exponent, int high_exponent)
{
    const uint64_t bits = random_word(state);
    const int exponent = low_exponent + (int)(random_word(state) % (uint64_t)(high_exponent - low_exponent + 1));
    const double v = ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent), cut = kind == HDST__F32 ? (float)v : v;
    return bits & 1 ? -cut : cut;
}

// The truth: the exact sum of the finite ones `times` over, rounded once; what NaN and infinities make of it.
static inline uint64_t true_sum(const addend_case *c, int doublings)
{
    const bool single = c->kind == HDST__F32;
    const uint64_t infinity = single ? 0x7f800000 : UINT64_C(0x7ff0000000000000), nan = single ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
    big sum = {0};
    bool up = false, down = false, no_number = false;
    for (size_t i = 0; i < c->count; i++) {
        const double v = c->v[i];
        no_number |= v != v;
        up |= v == INFINITY;
        down |= v == -INFINITY;
        if (!isfinite(v)) continue;
        const big b = big_of(v);
        big_add(&sum, &b);
    }
    if (no_number || (up && down)) return nan;
    if (up || down) return infinity | (down ? single ? UINT64_C(1) << 31 : UINT64_C(1) << 63 : 0);
    for (int i = 0; i < doublings; i++) big_double(&sum);
    return big_round(&sum, single);
}

// The least or greatest: -0 is below +0, NaN wins. An empty one is an infinity.
static inline uint64_t true_extreme(const addend_case *c, bool is_min)
{
    double best = is_min ? INFINITY : -INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const double v = c->v[i];
        if (v != v) return c->kind == HDST__F32 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
        const bool below = v < best || (v == best && signbit(v) && !signbit(best)), above = v > best || (v == best && !signbit(v) && signbit(best));
        if (is_min ? below : above) best = v;
    }
    return bits_of_value(c->kind, best);
}

// --- Cases ---

enum { REGULAR_CASES = 10, SPECIAL_CASES = 10, ADDEND_CASES = REGULAR_CASES + SPECIAL_CASES };

// Where a case has a great sum, or none at all, doubling it 60 times is not for it.
static inline bool may_be_doubled(int which) { return which < REGULAR_CASES; }

typedef struct float_limits {
    int lowest, normal, precision;      // exponents of the smallest denormal, of the smallest normal number; bits of a mantissa
    double least, most, half;           // the smallest and the largest number; half of the largest one's last place
} float_limits;

static inline float_limits limits_of(hdst__kind kind)
{
    if (kind == HDST__F32) return (float_limits){-149, -126, 24, 0x1p-149, 0x1.fffffep127, 0x1p103};
    return (float_limits){-1074, -1022, 53, 0x1p-1074, 0x1.fffffffffffffp1023, 0x1p970};
}

static inline void fill_special(addend_case *c, int which)
{
    static const double special[][4] = {
        {NAN, 1, 2, 3}, {INFINITY, 1, -5, 0}, {-INFINITY, 1, -5, 0}, {INFINITY, 1, -INFINITY, 0}, {INFINITY, 1, 2, -INFINITY},
        {-0.0, -0.0, -0.0, -0.0}, {-0.0, 0.0, -0.0, 0.0},
    };
    static const char *const names[SPECIAL_CASES] = {"a NaN", "infinity", "negative infinity", "both infinities", "both, in one part",
                                                     "negative zeroes", "zeroes of both signs",
                                                     "largest values", "a tie to infinity", "just below infinity"};
    const float_limits l = limits_of(c->kind);
    c->name = names[which];
    if (which < 7) {
        c->count = 4;
        memcpy(c->v, special[which], sizeof special[which]);
    } else if (which == 7) {           // the sum goes far beyond the range, and comes back
        for (int i = 0; i < 40; i++) c->v[c->count++] = l.most;
        for (int i = 0; i < 39; i++) c->v[c->count++] = -l.most;
        c->v[c->count++] = l.least;
    } else {                           // between the largest number and infinity
        c->v[c->count++] = l.most;
        c->v[c->count++] = l.half;
        if (which == 9) c->v[c->count++] = -l.least;
    }
}

// A number, even or odd in its last place, and a half of that place; then nothing, or the smallest number on either side.
static inline addend_case tie_at(hdst__kind kind, int exponent, bool odd, int beside)
{
    const float_limits l = limits_of(kind);
    const double last = ldexp(1, exponent + 1 - l.precision);
    addend_case c = {.name = "a tie", .kind = kind, .count = 2, .v = {ldexp(1, exponent) + (odd ? last : 0), last / 2}};
    if (beside) c.v[c.count++] = beside > 0 ? l.least : -l.least;
    return c;
}

static inline void fill_many(addend_case *c, uint64_t *state, int which)
{
    const float_limits l = limits_of(c->kind);
    const bool single = c->kind == HDST__F32;
    double *v = c->v;
    for (size_t n = 0; n < 90; n++, c->count = n)
        switch (which) {
        case 0: v[n] = ldexp((double)((int64_t)(random_word(state) % 2000001) - 1000000), -10); break;
        case 2: v[n] = random_between(state, c->kind, l.lowest, l.normal + 2); break;
        case 4: v[n] = random_between(state, c->kind, l.lowest, single ? 60 : 900); break;
        case 5: v[n] = ldexp((double)(0xffffff - random_word(state) % 3), 16); break;       // below 2^40
        case 7: v[n] = n % 2 ? random_between(state, c->kind, l.lowest + 1, l.normal) : random_between(state, c->kind, 90, 98); break;
        case 8: v[n] = n % 8 ? ldexp((double)(random_word(state) % 4096), -6) : random_between(state, c->kind, n % 16 ? 45 : -100, n % 16 ? 80 : -60);
            break;
        default: v[n] = random_between(state, c->kind, -3, 12);
        }
}

static inline addend_case addends_of(hdst__kind kind, int which, uint64_t seed)
{
    static const char *const names[REGULAR_CASES] = {"ordinary numbers", "halves of a last place", "subnormals", "cancellation", "many exponents",
        "numbers at the word's limit", "few exponents", "huge and tiny numbers", "a few that fit no word", "a tie"};
    addend_case c = {.kind = kind};
    const float_limits l = limits_of(kind);
    const double last = ldexp(1, 1 - l.precision);
    uint64_t state = seed * 64 + (uint64_t)which;
    if (which >= REGULAR_CASES) {
        fill_special(&c, which - REGULAR_CASES);
    } else if (which == 1) {
        c.v[c.count++] = 1 + (double)(random_word(&state) % 2) * last;
        for (int i = 0; i < 1 + (int)(random_word(&state) % 9); i++) c.v[c.count++] = last / (random_word(&state) % 2 ? 2 : 4);
        if (random_word(&state) % 2) c.v[c.count++] = random_word(&state) % 2 ? l.least : -l.least;
    } else if (which == 3) {
        for (int i = 0; i < 40; i++) c.v[c.count++] = random_between(&state, kind, 60, 100);
        for (int i = 0; i < 40; i++) c.v[c.count++] = -c.v[i];
        for (int i = 0; i < 3; i++) c.v[c.count++] = random_between(&state, kind, kind == HDST__F32 ? -140 : -1000, -90);
    } else if (which == 9) {
        c = tie_at(kind, (int)(random_word(&state) % 180) - 100, seed % 2, (int)(seed / 2 % 3) - 1);
    } else {
        fill_many(&c, &state, which);
    }
    if (which < REGULAR_CASES) c.name = names[which];
    return c;
}

#endif
