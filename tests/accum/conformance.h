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

enum { ADDEND_CASES = 15 };

// Where a case has a great sum, or none at all, doubling it 60 times is not for it.
static inline bool may_be_doubled(int which) { return which < 7; }

static inline void fill_special(addend_case *c, int which, double most, double least)
{
    static const double special[][4] = {{NAN, 1, 2, 3}, {INFINITY, 1, -5, 0}, {-INFINITY, 1, -5, 0}, {INFINITY, 1, -INFINITY, 0}, {-0.0, -0.0, -0.0, -0.0}};
    static const char *const names[] = {"a NaN", "infinity", "negative infinity", "both infinities", "negative zeroes"};
    if (which < 5) {
        c->name = names[which];
        c->count = 4;
        memcpy(c->v, special[which], sizeof special[which]);
        return;
    }
    const double half = c->kind == HDST__F32 ? 0x1p103 : 0x1p970;        // of the last place of the largest number
    if (which == 5) {           // the sum goes far beyond the range, and comes back
        c->name = "largest values";
        for (int i = 0; i < 40; i++) c->v[c->count++] = most;
        for (int i = 0; i < 39; i++) c->v[c->count++] = -most;
        c->v[c->count++] = least;
    } else if (which == 6) {    // a tie between the largest number and infinity
        c->name = "a tie to infinity";
        c->v[c->count++] = most;
        c->v[c->count++] = half;
    } else {
        c->name = "just below infinity";
        c->v[c->count++] = most;
        c->v[c->count++] = half;
        c->v[c->count++] = -least;
    }
}

static inline addend_case addends_of(hdst__kind kind, int which, uint64_t seed)
{
    addend_case c = {.kind = kind};
    const bool single = kind == HDST__F32;
    const int lowest = single ? -149 : -1074, normal = single ? -126 : -1022, precision = single ? 24 : 53;
    const double least = single ? 0x1p-149 : 0x1p-1074, most = single ? 0x1.fffffep127 : 0x1.fffffffffffffp1023, last = ldexp(1, 1 - precision);
    uint64_t state = seed * 64 + (uint64_t)which;
    static const char *const names[] = {"ordinary numbers", "halves of a last place", "subnormals", "cancellation", "many exponents", "numbers at the word's limit", "few exponents"};
    if (which >= 7) {
        fill_special(&c, which - 7, most, least);
        return c;
    }
    c.name = names[which];
    switch (which) {
    case 0: while (c.count < 90) c.v[c.count++] = ldexp((double)((int64_t)(random_word(&state) % 2000001) - 1000000), -10); break;
    case 1:
        c.v[c.count++] = 1 + (double)(random_word(&state) % 2) * last;
        for (int i = 0; i < 1 + (int)(random_word(&state) % 9); i++) c.v[c.count++] = last / (random_word(&state) % 2 ? 2 : 4);
        if (random_word(&state) % 2) c.v[c.count++] = random_word(&state) % 2 ? least : -least;
        break;
    case 2: while (c.count < 60) c.v[c.count++] = random_between(&state, kind, lowest, normal + 2); break;
    case 3:
        for (int i = 0; i < 40; i++) c.v[c.count++] = random_between(&state, kind, 60, 100);
        for (int i = 0; i < 40; i++) c.v[c.count++] = -c.v[i];
        for (int i = 0; i < 3; i++) c.v[c.count++] = random_between(&state, kind, single ? -140 : -1000, -90);
        break;
    case 4: while (c.count < 90) c.v[c.count++] = random_between(&state, kind, lowest, single ? 60 : 900); break;
    case 5: while (c.count < 90) c.v[c.count++] = ldexp((double)(0xffffff - random_word(&state) % 3), 16); break;       // below 2^40
    default: while (c.count < 90) c.v[c.count++] = random_between(&state, kind, -3, 12); break;
    }
    return c;
}

#endif
