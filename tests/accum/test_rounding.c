// SPDX-License-Identifier: Apache-2.0
// Rounding to nearest, ties to even (accum/rounding.h), against big integers (bignum.h): ties and what lies next to them, at every place of the
// magnitude and at every exponent; and that converting by the processor rounds the same wherever it is said to.
#include "accum/fixed_point.h"
#include "accum/rounding.h"
#include "tests/accum/conformance.h"

#include <criterion/criterion.h>
#include <inttypes.h>

// value * 2^exponent, exponent >= -1074.
static big big_scaled(__int128 value, int32_t exponent)
{
    big result = {.negative = value < 0};
    const unsigned __int128 size = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    for (int i = 0; i < 128; i++) {
        const int bit = exponent + 1074 + i;
        if (size >> i & 1) result.limb[bit / 16] |= (uint16_t)(1u << bit % 16);
    }
    return result;
}

static uint64_t true_rounding(hdst__kind kind, __int128 value, bool more, int32_t exponent)
{
    big sum = big_scaled(value, exponent);
    if (more) {
        big rest = big_of(0x1p-1074);
        rest.negative = sum.negative;
        big_add(&sum, &rest);
    }
    const uint64_t bits = big_round(&sum, kind == HDST__F32);
    return bits == 0 && value < 0 ? hdst__float_format_of(kind).sign : bits;      // what is too small keeps its sign
}

static void expect_rounding(hdst__kind kind, unsigned __int128 magnitude, bool more, int32_t exponent)
{
    for (int negative = 0; negative < 2; negative++) {
        const __int128 value = negative ? -(__int128)magnitude : (__int128)magnitude;
        const uint64_t expected = true_rounding(kind, value, more, exponent), found = hdst__round_nearest(kind, negative, magnitude, more, exponent);
        cr_assert_eq(found, expected, "%" PRIx64 " %" PRIx64 " * 2^%d, %s: %" PRIx64 " instead of %" PRIx64, (uint64_t)(magnitude >> 64), (uint64_t)magnitude,
                     exponent, more ? "more" : "exact", found, expected);
    }
}

// A mantissa of a float or a double, even or odd, with the tie behind it at bit `tie`, and the numbers next to the tie.
static void try_tie(hdst__kind kind, int tie, bool odd, int32_t exponent)
{
    const int precision = kind == HDST__F32 ? 24 : 53;
    if (tie + 1 + precision > 126) return;
    const unsigned __int128 one = 1, mantissa = one << (precision - 1) | odd, middle = mantissa << (tie + 1) | one << tie;
    expect_rounding(kind, middle, false, exponent);
    expect_rounding(kind, middle + 1, false, exponent);
    expect_rounding(kind, middle - 1, false, exponent);
    if (tie + 1 + precision >= 64) expect_rounding(kind, middle, true, exponent);
    expect_rounding(kind, ((one << precision) - 1) << (tie + 1) | one << tie, false, exponent);     // rounds up into the next binade
}

Test(rounding, ties_at_every_bit_go_to_even)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++)
        for (int tie = 0; tie < 100; tie++)
            for (int odd = 0; odd < 2; odd++) {
                try_tie((hdst__kind)kind, tie, odd, 0);
                try_tie((hdst__kind)kind, tie, odd, -tie - 1);
            }
}

// From below the smallest denormal to beyond the largest number.
Test(rounding, ties_at_every_exponent_go_to_even)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const int lowest = kind == HDST__F32 ? -149 : -1074, highest = kind == HDST__F32 ? 130 : 1000, step = kind == HDST__F32 ? 1 : 7;
        for (int exponent = lowest; exponent < highest; exponent += exponent < lowest + 60 ? 1 : step)
            for (int odd = 0; odd < 2; odd++) {
                try_tie((hdst__kind)kind, 0, odd, exponent);
                try_tie((hdst__kind)kind, 41, odd, exponent);
            }
    }
}

Test(rounding, denormals_and_what_is_below_them)
{
    for (int below = 0; below <= 120; below++) {        // of the smallest denormal of floats; of doubles' there is nothing below in these units
        const unsigned __int128 unit = (unsigned __int128)1 << below, half = unit / 2;
        const unsigned __int128 values[] = {1, half, half + 1, unit, unit + half, unit + half - 1, 3 * unit + half, 2 * unit - 1};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) expect_rounding(HDST__F32, values[i], false, -149 - below);
    }
    expect_rounding(HDST__F32, 1, false, -1000);
    expect_rounding(HDST__F64, 1, false, -1074);
    cr_expect_eq(hdst__round_nearest(HDST__F64, true, 0, false, 5), 0, "zero is positive");
    cr_expect_eq(hdst__round_nearest(HDST__F64, true, 3, false, -1076), UINT64_C(0x8000000000000001), "three quarters of the smallest number");
    cr_expect_eq(hdst__round_nearest(HDST__F64, false, 1, false, -1075), 0, "a half of it is even at zero");
}

// --- By the processor ---

static uint64_t float_bits(float v) { return bits_of_value(HDST__F32, (double)v); }

static int64_t some_word(uint64_t *state)
{
    const uint64_t bits = random_word(state);
    const int64_t size = (int64_t)(bits >> (1 + random_word(state) % 63));
    const int tie = (int)(random_word(state) % 38);         // so that 26 bits stay below the sign
    const int64_t near_tie = ((INT64_C(1) << 24 | (int64_t)(bits & 3)) << 1 | 1) << tie >> (bits % 2);
    const int64_t choices[] = {size, near_tie, near_tie + 1, near_tie - 1, INT64_MAX, INT64_C(1) << 62, 0, (INT64_C(1) << 53) + (int64_t)(bits % 8)};
    const int64_t word = choices[random_word(state) % (sizeof choices / sizeof *choices)];
    return bits >> 32 & 1 ? -word : word;
}

Test(rounding, the_processor_rounds_the_same_wherever_it_may)
{
    uint64_t state = 7;
    for (int32_t unit = -125; unit <= 60; unit++)
        for (int i = 0; i < 100; i++) {
            const int64_t word = some_word(&state);
            cr_assert(hdst__rounds_directly(HDST__F32, unit));
            const uint64_t found = float_bits(hdst__round_float(word, (float)hdst__power_of_two(unit)));
            cr_assert_eq(found, true_rounding(HDST__F32, word, false, unit), "%" PRId64 " * 2^%d", word, unit);
        }
    for (int32_t unit = -1020; unit <= 900; unit += 13)
        for (int i = 0; i < 40; i++) {
            const int64_t word = some_word(&state);
            cr_assert(hdst__rounds_directly(HDST__F64, unit));
            const uint64_t found = bits_of_value(HDST__F64, hdst__round_double(word, hdst__power_of_two(unit)));
            cr_assert_eq(found, true_rounding(HDST__F64, word, false, unit), "%" PRId64 " * 2^%d", word, unit);
        }
    cr_expect_not(hdst__rounds_directly(HDST__F32, -150), "denormals round at another place");
    cr_expect_not(hdst__rounds_directly(HDST__F64, -1075), "denormals round at another place");
}

Test(rounding, two_words_by_the_processor)
{
    uint64_t state = 11;
    for (int32_t unit = -125; unit <= 20; unit++)        // of the second word
        for (int i = 0; i < 100; i++) {
            const int64_t high = some_word(&state), low = some_word(&state) >> (i % 2 ? 20 : 0);
            const __int128 all = (__int128)high * ((__int128)1 << HDST__FIXED_BITS) + low;
            const float half = (float)hdst__power_of_two(unit + HDST__FIXED_BITS - 1);
            const uint64_t found = float_bits(hdst__round_two_float(high, low, half, (float)hdst__power_of_two(unit)));
            cr_assert_eq(found, true_rounding(HDST__F32, all, false, unit), "%" PRId64 ", %" PRId64 " * 2^%d", high, low, unit);
            const uint64_t two = bits_of_value(HDST__F64, hdst__round_two_double(high, low, hdst__power_of_two(unit * 7)));
            cr_assert_eq(two, true_rounding(HDST__F64, all, false, unit * 7), "%" PRId64 ", %" PRId64 " * 2^%d", high, low, unit * 7);
        }
}
