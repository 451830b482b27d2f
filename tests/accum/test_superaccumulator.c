// SPDX-License-Identifier: Apache-2.0
// Superaccumulators against a big-integer evaluator of the tests (bignum.h): the sum, rounded once, whatever was added in whatever order.
#include "accum/tables.h"

#include "tests/support/bignum.h"
#include "accum/superaccumulator.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static uint64_t f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

static uint64_t random_bits(uint64_t *state)        // splitmix64
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

typedef struct sum {            // the cell under test and the truth, side by side
    hdst__kind kind;
    int64_t cell[HDST__F64_DIGITS + 1];
    big truth;
} sum;

static sum sum_of(hdst__kind kind)
{
    sum s = {.kind = kind};
    return s;
}

static void add(sum *s, double v)
{
    hdst__superaccumulator_add(s->cell, s->kind, s->kind == HDST__F32 ? f32((float)v) : f64(v));
    const big b = big_of(s->kind == HDST__F32 ? (float)v : v);
    big_add(&s->truth, &b);
}

static void expect_equal(const sum *s, const char *what)
{
    const uint64_t expected = big_round(&s->truth, s->kind == HDST__F32), found = hdst__superaccumulator_round(s->cell, s->kind);
    cr_expect_eq(found, expected, "%s: %016llx instead of %016llx", what, (unsigned long long)found, (unsigned long long)expected);
}

static double random_value(uint64_t *state, hdst__kind kind, int low_exponent, int high_exponent)
{
    const uint64_t bits = random_bits(state);
    const int exponent = low_exponent + (int)(random_bits(state) % (uint64_t)(high_exponent - low_exponent + 1));
    const double mantissa = 1 + (double)(bits >> 12) * 0x1p-52, v = ldexp(mantissa, exponent);
    const double cut = kind == HDST__F32 ? (float)v : v;
    return bits & 1 ? -cut : cut;
}

Test(exact, the_evaluator_of_the_tests_is_right_where_plain_c_is)
{
    big one = big_of(1), third = big_of(0x1p-53);
    big_add(&one, &third);
    cr_expect_eq(big_round(&one, false), f64(1), "a tie goes to even");
    big minus = big_of(-3);
    big_add(&one, &minus);
    cr_expect_eq(big_round(&one, false), f64(-2 + 0x1p-53));
    cr_expect_eq(big_round(&(big){0}, true), 0);
    const big most = big_of(0x1.ffffffp127);
    cr_expect_eq(big_round(&most, true), 0x7f800000, "a tie to infinity");
}

Test(exact, addends_over_more_than_200_binades)
{
    uint64_t state = 1;
    for (int round = 0; round < 20; round++) {
        sum s = sum_of(HDST__F32), d = sum_of(HDST__F64);
        for (int i = 0; i < 300; i++) {
            add(&s, random_value(&state, HDST__F32, -149, 120));
            add(&d, random_value(&state, HDST__F64, -1074, 1015));
        }
        expect_equal(&s, "float");
        expect_equal(&d, "double");
    }
}

Test(exact, cancellation_leaves_the_small_part)
{
    uint64_t state = 2;
    for (int round = 0; round < 30; round++) {
        sum s = sum_of(round % 2 ? HDST__F32 : HDST__F64);
        double large[50];
        for (int i = 0; i < 50; i++) add(&s, large[i] = random_value(&state, s.kind, 60, 120));
        for (int i = 0; i < 3; i++) add(&s, random_value(&state, s.kind, -140, -100));
        for (int i = 0; i < 50; i++) add(&s, -large[i]);
        expect_equal(&s, "cancelled");
    }
}

Test(exact, denormals_and_the_edge_of_the_normal_range)
{
    uint64_t state = 3;
    for (int round = 0; round < 30; round++) {
        sum s = sum_of(HDST__F32), d = sum_of(HDST__F64);
        for (int i = 0; i < 1 + round; i++) {
            add(&s, random_value(&state, HDST__F32, -149, -124));
            add(&d, random_value(&state, HDST__F64, -1074, -1020));
        }
        expect_equal(&s, "float denormals");
        expect_equal(&d, "double denormals");
    }
}

// A mantissa whose last bit is 0 or 1, and then less than half, half, more than half of a last place, of either sign, at several places.
Test(exact, every_way_to_round_at_and_around_a_tie)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const int precision = kind == HDST__F32 ? 24 : 53;
        const int exponents[] = {kind == HDST__F32 ? -100 : -950, -3, 0, 40, kind == HDST__F32 ? 104 : 970};
        for (int e = 0; e < 5; e++)
            for (int odd = 0; odd < 3; odd++)           // 2: all mantissa bits set, so that rounding up goes to the next binade
                for (int eighths = 0; eighths <= 8; eighths++)
                    for (int sign = -1; sign <= 1; sign += 2) {
                        sum s = sum_of((hdst__kind)kind);
                        const double last = ldexp(1, exponents[e] - precision + 1);
                        const double mantissa = odd == 2 ? ldexp(1, exponents[e] + 1) - last : ldexp(1, exponents[e]) + odd * last;
                        add(&s, sign * mantissa);
                        for (int i = 0; i < eighths; i++) add(&s, sign * last / 8);
                        expect_equal(&s, "rounding");
                        if (eighths != 4) continue;
                        for (int direction = -1; direction <= 1; direction += 2) {      // a tie and the least bit more or less
                            sum t = s;
                            add(&t, direction * (kind == HDST__F32 ? 0x1p-149 : 0x1p-1074));
                            expect_equal(&t, "beside a tie");
                        }
                    }
    }
}

Test(exact, the_exact_sum_decides_about_overflow)
{
    sum s = sum_of(HDST__F32), d = sum_of(HDST__F64);
    add(&s, 0x1.fffffep127);
    add(&s, 0x1p102);
    expect_equal(&s, "below the tie to infinity");
    cr_expect_eq(hdst__superaccumulator_round(s.cell, HDST__F32), 0x7f7fffff);
    add(&s, 0x1p102);
    expect_equal(&s, "the tie to infinity");
    cr_expect_eq(hdst__superaccumulator_round(s.cell, HDST__F32), 0x7f800000);
    add(&s, -0x1.fffffep127);
    add(&s, -0x1.fffffep127);
    expect_equal(&s, "back from above");
    for (int i = 0; i < 100; i++) add(&d, 0x1.fffffffffffffp1023);
    cr_expect_eq(hdst__superaccumulator_round(d.cell, HDST__F64), f64(INFINITY));
    for (int i = 0; i < 99; i++) add(&d, -0x1.fffffffffffffp1023);
    cr_expect_eq(hdst__superaccumulator_round(d.cell, HDST__F64), f64(0x1.fffffffffffffp1023));
    for (int i = 0; i < 3; i++) add(&d, -0x1.fffffffffffffp1023);
    cr_expect_eq(hdst__superaccumulator_round(d.cell, HDST__F64), f64(-INFINITY));
}

// Digits as kernels leave them: of any sign, up to 2^62, none to four in a row that are not zero, anywhere in the cell.
Test(exact, digits_of_any_size_and_sign_are_rounded_once)
{
    uint64_t state = 5;
    for (int turn = 0; turn < 200000; turn++) {
        sum s = sum_of(turn % 2 ? HDST__F64 : HDST__F32);
        const int32_t lowest = s.kind == HDST__F32 ? HDST__F32_LOWEST : HDST__F64_LOWEST;
        const int32_t last = (s.kind == HDST__F32 ? 127 : 1023) - 64;       // no sum is out of range here
        const uint32_t count = (uint32_t)(random_bits(&state) % 5), room = (uint32_t)(last - lowest) / 32 - count,
                       first = (uint32_t)(random_bits(&state) % (turn % 3 ? room : 3));
        for (uint32_t i = 0; i < count; i++) {
            int64_t digit = (int64_t)(random_bits(&state) >> (2 + random_bits(&state) % 62));
            if (random_bits(&state) % 4 == 0) digit = (int64_t)1 << random_bits(&state) % 62;        // ties
            if (random_bits(&state) % 2) digit = -digit;
            s.cell[first + i] = digit;
            const int64_t low = digit & 0xffffffff, high = (digit - low) / ((int64_t)1 << 32);
            const int place = (int)(32 * (first + i)) + lowest;
            const big b = big_of(ldexp((double)low, place)), c = big_of(ldexp((double)high, place + 32));
            big_add(&s.truth, &b);
            big_add(&s.truth, &c);
        }
        expect_equal(&s, "a few digits");
    }
}

Test(exact, nothing_and_zeros_are_plus_zero)
{
    int64_t cell[HDST__F64_DIGITS + 1] = {0};
    cr_expect_eq(hdst__superaccumulator_round(cell, HDST__F64), 0);
    hdst__superaccumulator_add(cell, HDST__F64, f64(-0.0));
    cr_expect_eq(hdst__superaccumulator_round(cell, HDST__F64), 0);
    hdst__superaccumulator_add(cell, HDST__F64, f64(-7));
    hdst__superaccumulator_add(cell, HDST__F64, f64(7));
    cr_expect_eq(hdst__superaccumulator_round(cell, HDST__F64), 0);
}

static uint64_t round_of(hdst__kind kind, int count, const uint64_t *bits)
{
    int64_t cell[HDST__F64_DIGITS + 1] = {0};
    for (int i = 0; i < count; i++) hdst__superaccumulator_add(cell, kind, bits[i]);
    return hdst__superaccumulator_round(cell, kind);
}

Test(exact, nan_and_infinities)
{
    const uint64_t inf = 0x7f800000, neg = 0xff800000, nan = 0xffc00001, one = f32(1);
    cr_expect_eq(round_of(HDST__F32, 2, (uint64_t[]){one, inf}), inf);
    cr_expect_eq(round_of(HDST__F32, 3, (uint64_t[]){neg, one, neg}), neg);
    cr_expect_eq(round_of(HDST__F32, 2, (uint64_t[]){neg, inf}), 0x7fc00000);
    cr_expect_eq(round_of(HDST__F32, 3, (uint64_t[]){inf, nan, inf}), 0x7fc00000);
    cr_expect_eq(round_of(HDST__F64, 2, (uint64_t[]){f64(-INFINITY), f64(1e308)}), f64(-INFINITY));
    cr_expect_eq(round_of(HDST__F64, 2, (uint64_t[]){f64(-INFINITY), f64(INFINITY)}), f64(NAN) & INT64_MAX);
}

Test(exact, permuted_addends_give_equal_bits)
{
    uint64_t state = 5;
    enum { N = 500 };
    uint64_t bits[N], first = 0;
    for (int i = 0; i < N; i++) bits[i] = f64(random_value(&state, HDST__F64, -400, 400));
    for (int round = 0; round < 20; round++) {
        const uint64_t found = round_of(HDST__F64, N, bits);
        if (round == 0) first = found;
        cr_expect_eq(found, first);
        for (int i = N - 1; i > 0; i--) {
            const int j = (int)(random_bits(&state) % (uint64_t)(i + 1));
            const uint64_t other = bits[i];
            bits[i] = bits[j];
            bits[j] = other;
        }
    }
}

Test(exact, merged_parts_are_the_whole)
{
    uint64_t state = 6;
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const int reach = kind == HDST__F32 ? 120 : 1000;
        sum whole = sum_of((hdst__kind)kind), part[3] = {sum_of((hdst__kind)kind), sum_of((hdst__kind)kind), sum_of((hdst__kind)kind)};
        for (int i = 0; i < 3000; i++) {
            const double v = random_value(&state, (hdst__kind)kind, -reach, i % 3 == 0 ? reach : -reach / 2);   // parts of unlike size
            add(&whole, v);
            add(&part[i % 3], v);
        }
        for (int i = 1; i < 3; i++) hdst__superaccumulator_merge(part[0].cell, part[i].cell, (hdst__kind)kind);
        cr_expect_eq(hdst__superaccumulator_round(part[0].cell, (hdst__kind)kind), hdst__superaccumulator_round(whole.cell, (hdst__kind)kind));
        expect_equal(&whole, "whole");
    }
}

// A kernel that made 2^30 additions without a carry leaves digits near 2^62. More than 2^31 of the same on top of it, on the host.
Test(exact, digits_carry_before_they_overflow)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const uint64_t bits = kind == HDST__F32 ? f32(0x1.fffffep10f) : f64(0x1.fffffffffffffp10);
        const uint32_t digits = hdst__superaccumulator_digits((hdst__kind)kind);
        int64_t one[HDST__F64_DIGITS + 1] = {0}, many[HDST__F64_DIGITS + 1] = {0};
        hdst__superaccumulator_add(one, (hdst__kind)kind, bits);
        for (uint32_t i = 0; i < digits; i++) many[i] = one[i] * ((int64_t)1 << 30);       // not carried
        for (int i = 0; i < 4; i++) hdst__superaccumulator_merge(many, many, (hdst__kind)kind);        // 2^34 addends
        for (int i = 0; i < 1000; i++) hdst__superaccumulator_add(many, (hdst__kind)kind, bits);
        big truth = big_of(big_bits_to_double(bits, kind == HDST__F32)), rest = truth;
        for (int i = 0; i < 34; i++) big_double(&truth);
        for (int i = 0; i < 1000; i++) big_add(&truth, &rest);
        cr_expect_eq(hdst__superaccumulator_round(many, (hdst__kind)kind), big_round(&truth, kind == HDST__F32));
        // Driven to the edge: a digit that is nearly full gets its carry in the addition itself.
        int64_t full[HDST__F64_DIGITS + 1] = {0};
        full[5] = ((int64_t)1 << 62) - 1;
        hdst__superaccumulator_add_fixed(full, (hdst__kind)kind, 1, -(32 * 5 + (kind == HDST__F32 ? HDST__F32_LOWEST : HDST__F64_LOWEST)));
        cr_expect_eq(full[5], 0);
        cr_expect_eq(full[6], (int64_t)1 << 30);
    }
}

Test(exact, fixed_point_parts_mean_q_times_a_power_of_two)
{
    uint64_t state = 7;
    for (int round = 0; round < 2000; round++) {
        const bool single = round % 2;
        const hdst__kind kind = single ? HDST__F32 : HDST__F64;
        const int32_t s = single ? (int32_t)(random_bits(&state) % 227) - 100 : (int32_t)(random_bits(&state) % 1976) - 955;
        const int64_t q = (int64_t)random_bits(&state) >> random_bits(&state) % 50;
        int64_t cell[HDST__F64_DIGITS + 1] = {0};
        hdst__superaccumulator_add_fixed(cell, kind, q, s);
        big truth = {0};
        const big high = big_of(ldexp((double)(q >> 32), 32 - s)), low = big_of(ldexp((double)(q & 0xffffffff), -s));
        big_add(&truth, &high);
        big_add(&truth, &low);
        cr_expect_eq(hdst__superaccumulator_round(cell, kind), big_round(&truth, single), "q %lld s %d", (long long)q, s);
    }
    int64_t cell[HDST__F32_DIGITS + 1] = {0};
    hdst__superaccumulator_add_fixed(cell, HDST__F32, INT64_MIN, 100);
    cr_expect_eq(hdst__superaccumulator_round(cell, HDST__F32), f32(-0x1p-37f));
    hdst__superaccumulator_add_fixed(cell, HDST__F32, 3 << 10, 159);        // finer than the smallest denormal, but a multiple of it
    hdst__superaccumulator_add_fixed(cell, HDST__F32, INT64_MAX, 100);
    hdst__superaccumulator_add_fixed(cell, HDST__F32, 1, 100);
    cr_expect_eq(hdst__superaccumulator_round(cell, HDST__F32), 3);
}
