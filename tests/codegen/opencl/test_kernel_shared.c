// SPDX-License-Identifier: Apache-2.0
// Sums of products that share a factor, in printed kernels on PoCL (accum/levels_shared.cl), against exact cells on the host (which are tested against big
// integers): b * a0, b * a1, b * a2, b * a3 and b of ten factors b, which are one number divided by 1, 3, 5 ..., of which the last may be another number, of
// data that two levels of floats just hold, just do not hold, hold but for a few records, or hold after the sums have moved.
#include "accum/reduce.h"
#include "accum/representation.h"
#include "codegen/pass/passes.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel_shared, .init = set_up, .fini = tear_down);

enum { GROUPS = 10, OTHERS = 4, INPUTS = OTHERS + 2, BLOCK = 256, N = 40 * BLOCK + 100 };

typedef struct factors { float b, a[OTHERS], last; } factors;      // last: the last group's
static const ir_field input_fields[] = {{"b", HDST__F32, 0}, {"a0", HDST__F32, 0}, {"a1", HDST__F32, 0}, {"a2", HDST__F32, 0}, {"a3", HDST__F32, 0},
                                       {"last", HDST__F32, 0}};
// twice: 2 * b, which is no sum of a group
enum { LEAVES = 3 };
static const ir_field sums[LEAVES] = {{"x", HDST__F32, GROUPS * OTHERS}, {"own", HDST__F32, GROUPS}, {"twice", HDST__F32, GROUPS}};

static float divisor(uint32_t group) { return (float)(2 * group + 1); }

typedef struct shape {
    uint32_t groups, factors;       // the groups' factors are the first ones again where there are fewer
    bool has_own;                   // sums of b itself
    bool plus;                      // |b| in place of b, which the printer knows to have no sign
    bool only;                      // nothing else reads the factors
} shape;
static const shape many = {GROUPS, GROUPS, true}, two = {2, 2, true}, many_plus = {GROUPS, GROUPS, true, true}, two_plus = {2, 2, true, true};
// Blocks of these are added beside the next one's records.
static const shape only[] = {{8, 8, true, true, true}, {7, 7, false, true, true}, {5, 5, true, false, true}, {4, 4, true, true, true},
                             {6, 6, true, false, true}, {8, 8, true, false, true}};
enum { ONLY = sizeof only / sizeof *only };

static ir_func *make_func(const shape *of)
{
    ir_func *f = ir_new(&arena, "sums");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "input", 0, input_fields, INPUTS), false);
    const uint32_t all = ir_param_add(f, IR_ACCUM_TABLE, "all", ir_record(&arena, "sums", 0, sums, LEAVES), false);
    f->params[all].leaf_op = HDST__NEW_ARRAY(&arena, hdst__accumulate_op, LEAVES);
    uint32_t factor[GROUPS];
    for (uint32_t g = 0; g < of->factors; g++) {
        const uint32_t leaf = g + 1 < of->factors ? 0 : OTHERS + 1;
        factor[g] = hdst__ir_add_var(f, "b", HDST__F32, 0);
        ir_expr *b = ir_op2(f, IR_DIV, ir_read(f, IR_FIELD, 0, leaf, NULL, NULL), ir_number(f, HDST__F32, divisor(g)));
        ir_assign(f, &f->body, factor[g], of->plus ? hdst__ir_unary(f, IR_ABS, HDST__F32, b) : b);
    }
    for (uint32_t g = 0; g < of->groups; g++) {
        const uint32_t b = factor[g % of->factors];
        for (uint32_t i = 0; i < OTHERS; i++)
            ir_accumulate(f, &f->body, all, 0, NULL, ir_number(f, HDST__U32, g * OTHERS + i),
                ir_op2(f, IR_MUL, ir_read(f, IR_FIELD, 0, i + 1, NULL, NULL), hdst__ir_var(f, b)));
        if (of->has_own) ir_accumulate(f, &f->body, all, 1, NULL, ir_number(f, HDST__U32, g), hdst__ir_var(f, b));
        if (!of->only) ir_accumulate(f, &f->body, all, 2, NULL, ir_number(f, HDST__U32, g), ir_op2(f, IR_ADD, hdst__ir_var(f, b), hdst__ir_var(f, b)));
    }
    return f;
}

// --- Data ---

static uint64_t random_bits(uint64_t *state)      // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

// All digits, within `binades` of 1 and below.
static float number(uint64_t *s, int binades)
{
    const uint64_t bits = random_bits(s);
    return ldexpf(1 + (float)(bits & 0x7fffff) * 0x1p-23f, -(int)((bits >> 32 & 0xffff) % (uint64_t)binades)) * (bits >> 63 ? -1 : 1);
}

// The shared factor itself has more digits than two levels hold.
static factors within(uint64_t *s, int binades)
{
    factors f = {.b = number(s, binades + 4)};
    for (int i = 0; i < OTHERS; i++) f.a[i] = number(s, binades - 4);
    return f;
}

typedef factors (*maker)(uint64_t i, uint64_t *state);

static factors broad(uint64_t i, uint64_t *s) { (void)i; return within(s, 10); }
static factors scaled_by(uint64_t *s, int b, int a)
{
    factors f = within(s, 10);
    f.b = ldexpf(f.b, b);
    for (int k = 0; k < OTHERS; k++) f.a[k] = ldexpf(f.a[k], a);
    return f;
}
static factors moving(uint64_t i, uint64_t *s) { return scaled_by(s, (int)(i / 3000) * 7 - 30, 10 - (int)(i / 5000) * 4); }
static factors low(uint64_t i, uint64_t *s) { (void)i; return scaled_by(s, -30, -35); }
static factors lowest(uint64_t i, uint64_t *s) { (void)i; return scaled_by(s, -70, -70); }
static factors high(uint64_t i, uint64_t *s) { (void)i; return scaled_by(s, 60, 50); }
static factors apart(uint64_t i, uint64_t *s) { (void)i; return scaled_by(s, 100, -110); }
static factors apart_too(uint64_t i, uint64_t *s) { (void)i; return scaled_by(s, -125, 110); }
static factors all_exceptions(uint64_t i, uint64_t *s) { (void)i; return within(s, 40); }
// Two of a block that is broad otherwise, and whose other records cancel out, so that the sum shows each bit of those two.
static factors with(uint64_t i, uint64_t *s, float b, float a)
{
    uint64_t pair = (i / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    factors f = within(&pair, 10);
    (void)s;
    if (i % 2) f.b = -f.b;
    if (i < 2 * BLOCK || i % BLOCK / 2 != 38) return f;
    if (b != 0) f.b = b;
    for (int k = 0; k < OTHERS; k++) f.a[k] = a;
    return f;
}
static factors one_small(uint64_t i, uint64_t *s) { return with(i, s, 0x1p-9f, 0x1p-40f); }
static factors one_great(uint64_t i, uint64_t *s) { return with(i, s, 0x1p9f, 0x1p20f); }
static factors one_zero(uint64_t i, uint64_t *s) { return with(i, s, 0, i % 2 ? 0.f : -0.f); }
static factors one_denormal(uint64_t i, uint64_t *s) { return with(i, s, 0x1p30f, 0x1.8p-140f); }
static factors denormal_factor(uint64_t i, uint64_t *s) { return with(i, s, 0x1.8p-140f, 0x1p100f); }
static factors one_nan(uint64_t i, uint64_t *s) { return with(i, s, 0, i > 9 * BLOCK ? NAN : 1); }
static factors one_infinity(uint64_t i, uint64_t *s) { return with(i, s, 0, i > 9 * BLOCK ? -INFINITY : 1); }
static factors infinite_factor(uint64_t i, uint64_t *s) { return with(i, s, i > 9 * BLOCK ? INFINITY : 1, 0x1p-70f); }
static factors too_great(uint64_t i, uint64_t *s) { return with(i, s, FLT_MAX, FLT_MAX); }
static factors zeros(uint64_t i, uint64_t *s)
{
    factors f = within(s, 10);
    if (i % 3 == 0) f.b = i % 2 ? 0.f : -0.f;
    return f;
}
static factors no_others(uint64_t i, uint64_t *s) { (void)i; return (factors){.b = number(s, 20)}; }
// Pairs cancel out, but for each 32nd record, which shows in the sum with all its digits.
static factors each_32nd(uint64_t i, uint64_t *s, int b, int a)
{
    uint64_t pair = (i / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    factors f = i % 32 < 30 ? within(&pair, 5) : within(s, 5);
    if (i % 32 < 30) return i % 2 ? (f.b = -f.b, f) : f;
    if (i % 32 == 31) return f.b = 0, f;
    f.b = ldexpf(fabsf(f.b), b);
    for (int k = 0; k < OTHERS; k++) f.a[k] = ldexpf(f.a[k], a);
    return f;
}
static factors few_aside(uint64_t i, uint64_t *s) { return each_32nd(i, s, -16, 0); }
static factors few_far_aside(uint64_t i, uint64_t *s) { return each_32nd(i, s, -23, -8); }
static factors few_by_others(uint64_t i, uint64_t *s) { return each_32nd(i, s, 0, -30); }
static factors few_denormal(uint64_t i, uint64_t *s) { return each_32nd(i, s, -60, -80); }
static factors greater_others(uint64_t i, uint64_t *s) { return each_32nd(i, s, 0, i < 5 * BLOCK ? 0 : 30); }
static factors nan_factor(uint64_t i, uint64_t *s)
{
    factors f = each_32nd(i, s, 0, 0);
    if (i == 9 * BLOCK + 30) f.b = NAN;
    return f;
}
static factors infinite_other(uint64_t i, uint64_t *s) { return each_32nd(i, s, 0, i < 5 * BLOCK ? 0 : 200); }
// The first block sets the sums so that lanes' sums of |b| may be 0.99 of 32, |a| may be 2, and products hold from 2^-14 on; the others fill that to the brim
// with b just below `top`, or not, and with the least that is still held, or not, which shows in the sum as all else cancels out.
static factors brim(uint64_t i, float top, float least)
{
    const float up = 2 - 0x1p-23f;
    if (i < BLOCK) return (factors){i % 2 ? -1 : 1, {1, -1, 1, 1}};
    if (i >= 39 * BLOCK) return (factors){0, {1, 1, 1, 1}};
    if (i / 16 % 16 == 15) return (factors){least, {0x1p-7f + 0x1p-30f, 0x1p-7f - 0x1p-31f, 0x1p-7f, 0x1p-6f}};
    return (factors){i / BLOCK % 2 ? top : -top, {up, up, -up, up}};
}
static factors full(uint64_t i, uint64_t *s) { (void)s; return brim(i, 2.1f, 0x1.000002p-7f); }
static factors over_full(uint64_t i, uint64_t *s) { (void)s; return brim(i, 2.12f, 0x1.000002p-7f); }
static factors too_full(uint64_t i, uint64_t *s) { (void)s; return brim(i, 2.27f, 0x1.000002p-7f); }       // of the factors that are divided by 17
static factors less_than_least(uint64_t i, uint64_t *s) { (void)s; return brim(i, 2.1f, 0x1.fffffep-8f); }
static factors one_way(uint64_t i, uint64_t *s) { (void)s; return i < BLOCK ? brim(i, 1, 1) : (factors){1.975f, {2 - 0x1p-23f, 2, -2, 1.5f}}; }
// In blocks of 512: the first one leaves room above. Then each product leaves the greatest remainder, with a last digit that the second level just holds, and
// shows it in the sum, as each second block has products that are greater by that digit, and negative.
static factors remainders(uint64_t i, uint64_t *s)
{
    (void)s;
    const uint64_t block = i / (2 * BLOCK);
    const float b = block == 0 ? i % 2 ? -1.f : 1.f : block > 18 ? 0.f : block % 2 ? 0x1.1ffffep-13f : -0x1.2p-13f;
    return (factors){b, {1, 1, 1, 1}};
}
// Numbers that would need a base beyond all floats; what is left of them when pairs cancel out does not.
static factors highest(uint64_t i, uint64_t *s)
{
    uint64_t pair = (i / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    factors f = i % 32 < 30 ? within(&pair, 5) : within(s, 5);
    f.b = (i % 2 ? -1 : 1) * ldexpf(1.5f, i % 32 < 30 ? 61 : 50);
    for (int k = 0; k < OTHERS; k++) f.a[k] = ldexpf(f.a[k], 61);
    return f;
}
// Bits of the factors say the least about a product of fractions of a half each.
static factors halves(uint64_t i, uint64_t *s)
{
    const float least = 1.5f - (i % 2 ? 0x1p-23f : 0), up = ldexpf(1, (int)(random_bits(s) % 25));
    return (factors){least, {up * 1.5f, -up * 1.5f, up, up * (2 - 0x1p-23f)}};
}

static const struct { const char *name; maker make; } cases[] = {
    {"broad", broad}, {"moving", moving}, {"low", low}, {"lowest", lowest}, {"high", high}, {"apart", apart}, {"apart the other way", apart_too},
    {"all exceptions", all_exceptions}, {"one small", one_small}, {"one great", one_great}, {"one zero", one_zero}, {"one denormal", one_denormal},
    {"denormal factor", denormal_factor}, {"NaN", one_nan}, {"infinity", one_infinity}, {"infinite factor", infinite_factor}, {"too great", too_great},
    {"zeros", zeros}, {"no others", no_others}, {"full", full}, {"over full", over_full}, {"less than the least", less_than_least}, {"few aside", few_aside},
    {"few far aside", few_far_aside}, {"few by the others", few_by_others}, {"few denormal", few_denormal},
    {"greater others", greater_others}, {"infinite other", infinite_other}, {"halves", halves},
    {"NaN as factor", nan_factor}, {"too full", too_full}, {"remainders", remainders}, {"highest", highest},
    {"one way", one_way},
};
// --- Data of factors without a sign ---

// A lane's sum of b may be 2^22 - 32 units of 2^-17, by the first block. It is one more in a block, with products of the greatest others, or it is not.
static factors units(uint64_t i, uint32_t more)
{
    const float up = 2 - 0x1p-23f;
    if (i < BLOCK) return (factors){1, {1, -1, 1, 1}};
    return (factors){i / 16 % 16 == 15 ? 2 - (float)(32 - more) * 0x1p-17f : 2, {up, -up, up, i % 32 < 16 ? up : -up}};
}
static factors units_full(uint64_t i, uint64_t *s) { (void)s; return units(i, 0); }
static factors units_over(uint64_t i, uint64_t *s) { (void)s; return units(i, 1); }
static factors units_far_over(uint64_t i, uint64_t *s) { (void)s; return units(i, i / BLOCK % 3 * 0x8000u); }
// Records with a small product whose b is a NaN of either sign, an infinity, or greater than any sum may be.
static factors aside_and(uint64_t i, uint64_t *s, float b)
{
    factors f = each_32nd(i, s, 0, 0);
    if (i > 9 * BLOCK && i % BLOCK == 30) f = (factors){b, {1, 0x1p-60f, 0x1.8p-140f, 0}};
    return f;
}
static factors nan_aside(uint64_t i, uint64_t *s) { return aside_and(i, s, NAN); }
static factors negative_nan_aside(uint64_t i, uint64_t *s) { return aside_and(i, s, -NAN); }
static factors infinity_aside(uint64_t i, uint64_t *s) { return aside_and(i, s, INFINITY); }
static factors great_aside(uint64_t i, uint64_t *s) { return aside_and(i, s, ldexpf(1.5f, (int)(i % 100))); }
// Blocks that grow, or of which each ninth is 2^9 times as great.
static factors growing(uint64_t i, uint64_t *s)
{
    factors f = each_32nd(i, s, 0, 0);
    f.b = ldexpf(f.b, (int)(i / (2 * BLOCK)));
    return f;
}
static factors some_great(uint64_t i, uint64_t *s)
{
    factors f = each_32nd(i, s, 0, 0);
    f.b = ldexpf(f.b, i / BLOCK % 9 == 8 ? 9 : 0);
    return f;
}

// --- Data whose last group's factor is another number ---

// It alone is too small for some records, or all others are.
static factors few_of_last(uint64_t i, uint64_t *s)
{
    factors f = each_32nd(i, s, 0, 0);
    f.last = i % 32 == 30 ? f.b * 0x1p-30f : f.b;
    return f;
}
static factors few_but_last(uint64_t i, uint64_t *s)
{
    factors f = each_32nd(i, s, 0, 0);
    f.last = f.b;
    if (i % 32 == 30) f.b *= 0x1p-30f;
    return f;
}
// In blocks of 512. What is put aside fills the sums in double: each block but the first of 56, which are fewer than fill the levels, puts four numbers of each
// lane aside that are a quarter of what a lane's sum may be. Behind the last of them comes one whose last digit the sum has room for only if it was emptied
// in time. A block of zeros ends this. Then the same with the other sign, without that number.
static factors asides(uint64_t i, uint64_t *s)
{
    enum { LENGTH = 2 * BLOCK, BLOCKS = 56, ASIDE = LENGTH / 8 };
    const uint64_t way = i / LENGTH / (BLOCKS + 1), block = i / LENGTH % (BLOCKS + 1), at = i % LENGTH;
    const float sign = way ? -1 : 1;
    factors f = {i % 2 ? -1 : 1, {1, -1, 1, 1}};
    (void)s;
    if (way > 1 || block == BLOCKS) f.b = 0;
    else if (block == BLOCKS - 1 && at == ASIDE - 1) f = (factors){0x1p-8f, {way ? 0 : 0x1.000002p-10f, 0, 0, 0}};
    else if (block && at < ASIDE) f = (factors){sign * 15.75f, {2, 2, 2, 0}};
    else if (block) f = (factors){sign * 0x1p-8f, {2, 2, 2, 2}};
    f.last = 3 * f.b;
    return f;
}
// Near the least numbers that have all digits there are some with fewer, whose bits say more than what they are. All digits of their products show in the sum.
static factors least_factors(uint64_t i, uint64_t *s)
{
    uint64_t pair = (i / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    factors f = i % 32 < 30 ? within(&pair, 5) : within(s, 5);
    f.b = i % 32 < 30 ? (i % 2 ? -0x1p-119f : 0x1p-119f) : 0x1.8p-144f;
    for (int k = 0; k < OTHERS; k++) f.a[k] = ldexpf(f.a[k], 95);
    f.last = 3 * f.b;
    return f;
}

// Infinite among factors near the greatest number.
static factors greatest_factors(uint64_t i, uint64_t *s)
{
    factors f = within(s, 5);
    f.b = i == 20 * BLOCK + 30 ? INFINITY : i % 2 ? -0x1.4p122f : 0x1.4p122f;
    for (int k = 0; k < OTHERS; k++) f.a[k] = ldexpf(1, -98);
    f.last = 3 * f.b;
    return f;
}
// Five of 21 records are too small, more than there is room for. All others cancel out.
static factors five_of_21(uint64_t i, uint64_t *s)
{
    uint64_t pair = (i / 2 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const bool small = i / 2 % 21 % 4 == 2;
    factors f = small ? within(s, 5) : within(&pair, 5);
    f.b = small ? f.b * 0x1p-30f : i % 2 ? -f.b : f.b;
    f.last = 3 * f.b;
    return f;
}

static const struct { const char *name; maker make; } plus_cases[] = {
    {"units full", units_full}, {"units over", units_over}, {"units far over", units_far_over}, {"NaN aside", nan_aside},
    {"negative NaN aside", negative_nan_aside}, {"infinity aside", infinity_aside}, {"great aside", great_aside}, {"growing", growing},
    {"some great", some_great},
};
static const struct { const char *name; maker make; shape of; uint64_t records; } own_cases[] = {
    {"few of the last", few_of_last, {2, 2, true}, N}, {"few but of the last", few_but_last, {2, 2, true}, N},
    {"few of the last of many", few_of_last, {GROUPS, GROUPS, true}, N}, {"few but of the last of many", few_but_last, {GROUPS, GROUPS, true}, N},
    {"few of the last, twice", few_of_last, {4, 2, true}, N}, {"asides", asides, {2, 2, true}, 260 * BLOCK},
    {"least factors", least_factors, {2, 2, false}, N}, {"greatest factors", greatest_factors, {2, 2, false}, N},
    {"five of 21", five_of_21, {2, 2, true}, N},
};

// --- Running ---

static const uint64_t rows[] = {0, 1};

static void put(const hdst__storage *storage, char *buffer, uint64_t i, const factors *f)
{
    const float all[INPUTS] = {f->b, f->a[0], f->a[1], f->a[2], f->a[3], f->last};
    for (uint32_t l = 0; l < INPUTS; l++) memcpy(buffer + hdst__storage_offset(storage, l, i, 0), &all[l], sizeof all[l]);
}

static void add_one(const hdst__accum *accum, int64_t *table, uint32_t leaf, uint32_t element, float value)
{
    const hdst__cell *cell = &accum->cell[leaf];
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    hdst__cell_accumulate(cell, table + cell->device_first + element * cell->device_words, word);
}

static void add_up(const hdst__accum *accum, const shape *of, const factors *f, int64_t *table)
{
    for (uint32_t g = 0; g < of->groups; g++) {
        const uint32_t factor = g % of->factors;
        const volatile float signed_b = (factor + 1 < of->factors ? f->b : f->last) / divisor(factor), b = of->plus ? fabsf(signed_b) : signed_b;
        for (uint32_t k = 0; k < OTHERS; k++) {
            const volatile float value = f->a[k] * b;
            add_one(accum, table, 0, g * OTHERS + k, value);
        }
        if (of->has_own) add_one(accum, table, 1, g, b);
        if (!of->only) add_one(accum, table, 2, g, b + b);
    }
}

static void check_sums(const char *name, uint64_t records, const hdst__kernel *kernel, const int64_t *device, const int64_t *reference)
{
    for (uint32_t l = 0; l < LEAVES; l++)
        for (uint32_t k = 0; k < sums[l].count; k++) {
            const uint64_t got = hdst__table_read(kernel->tables, rows, device, 0, 0, l, k),
                want = hdst__table_read(kernel->tables, rows, reference, 0, 0, l, k);
            cr_expect_eq(got, want, "%s, %llu records, %s[%u]: %llx, not %llx", name, (unsigned long long)records, sums[l].name, k, (unsigned long long)got,
                (unsigned long long)want);
        }
}

// `strips` of them. Unless the maker has set it, the last group's factor is that of the others.
static void check_data(const char *name, maker make, bool has_last, const shape *of, size_t strips, hdst__layout layout, uint64_t records)
{
    ir_func *func = make_func(of);
    cr_assert_null(hdst__passes_scalar(func));
    const hdst__storage *storage = hdst__storage_make(&arena, func->params[0].record, layout, 0, records ? records : 1);
    const hdst__target_facts facts = {HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = storage, .rows = rows};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, func, &options, &diags);
    cr_assert_not_null(kernel);
    cr_assert_not_null(strstr(kernel->source, of->plus && of->has_own ? "family_holds_plus_4" : "family_holds_4"), "the sums are no group");
    cr_assert(!of->only || strstr(kernel->source, "FAMILY_WAITS && "), "nothing is added beside the next block");
    hdst__kernel here = *kernel;        // on processors of any kind
    if (of->only) here.source = hdst__arena_printf(&arena, "#define FAMILY_WAITS_ANYWHERE\n%s", kernel->source);
    char *buffer = aligned_alloc(4096, (storage->buffer_bytes[0] + 4095) / 4096 * 4096);
    cr_assert_not_null(buffer);
    const uint64_t words = hdst__tables_device_words(kernel->tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, words), *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    uint64_t state = 42;
    for (uint64_t i = 0; i < records; i++) {
        factors f = make(i, &state);
        if (!has_last) f.last = f.b;
        if (of->plus && signbit(f.b))
            for (int k = 0; k < OTHERS; k++) f.a[k] = -f.a[k];       // the same products
        put(storage, buffer, i, &f);
        add_up(&kernel->tables->accum[0], of, &f, reference);
    }
    void *buffers[] = {buffer};
    static const int32_t scales[LEAVES] = {20, 20, 20};
    kernel_case c = {.kernel = &here, .func = func, .input = storage, .input_buffers = buffers, .count = records, .rows = rows, .scales = scales,
                     .flush = 1 << 23, .groups = strips, .device_table = device};
    cr_assert(kernel_run(&run, &c));
    check_sums(name, records, kernel, device, reference);
    free(buffer);
}

static void check_case(size_t which, const shape *of, hdst__layout layout, uint64_t records)
{
    check_data(cases[which].name, cases[which].make, false, of, which % 2 + 1, layout, records);
}

Test(kernel_shared, exact_where_they_lie)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, &many, HDST__SOA, N);
}

Test(kernel_shared, exact_in_blocks_of_the_layout)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, &many, HDST__AOSOA, N);
}

// Few factors leave room for blocks of 512 records.
Test(kernel_shared, exact_in_long_blocks)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, &two, HDST__SOA, N);
}

Test(kernel_shared, exact_of_any_number_of_records)
{
    static const uint64_t sizes[] = {1, 15, BLOCK / 2 - 1, BLOCK / 2, BLOCK / 2 + 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_case(0, &many, HDST__SOA, sizes[i]);
}

Test(kernel_shared, exact_over_many_blocks)
{
    check_case(sizeof cases / sizeof *cases - 1, &many, HDST__SOA, 1100 * BLOCK + 7);
}

Test(kernel_shared, exact_where_the_last_factor_is_another_one)
{
    for (size_t i = 0; i < sizeof own_cases / sizeof *own_cases; i++)
        check_data(own_cases[i].name, own_cases[i].make, true, &own_cases[i].of, 1, HDST__SOA, own_cases[i].records);
}

static void check_plus(const shape *of, hdst__layout layout)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, of, layout, N);
    for (size_t i = 0; i < sizeof plus_cases / sizeof *plus_cases; i++)
        check_data(plus_cases[i].name, plus_cases[i].make, false, of, i % 2 + 1, layout, N);
}

Test(kernel_shared, exact_of_factors_without_a_sign) { check_plus(&many_plus, HDST__SOA); }
Test(kernel_shared, exact_of_factors_without_a_sign_in_long_blocks) { check_plus(&two_plus, HDST__SOA); }

Test(kernel_shared, exact_of_other_factors_without_a_sign)
{
    for (size_t i = 0; i < sizeof own_cases / sizeof *own_cases; i++) {
        shape of = own_cases[i].of;
        of.plus = true;
        check_data(own_cases[i].name, own_cases[i].make, true, &of, 1, HDST__SOA, own_cases[i].records);
    }
}

// Each part of a block leaves the greatest remainders, of one sign.
static factors one_remainder(uint64_t i, uint64_t *s)
{
    (void)s;
    return (factors){i < 2 * BLOCK ? 1 : 0x1.1ffffep-13f, {1, 1, 1, i / 16 % 16 == 3 ? 1 : -1}};
}
Test(kernel_shared, exact_of_the_same_remainders_over_many_blocks)
{
    check_data("one remainder", one_remainder, false, &two, 1, HDST__SOA, 300 * BLOCK);
    check_data("one remainder", one_remainder, false, &two_plus, 1, HDST__SOA, 300 * BLOCK);
}

Test(kernel_shared, exact_beside_the_next_block)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, &only[i % ONLY], i % 3 == 2 ? HDST__AOSOA : HDST__SOA, N);
}

Test(kernel_shared, exact_beside_the_next_block_of_each_number_of_groups)
{
    static const uint64_t sizes[] = {0, 1, BLOCK - 1, BLOCK, 2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK, 1100 * BLOCK + 7};
    for (size_t k = 0; k < ONLY; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_case(22 + i % 2, &only[k], HDST__SOA, sizes[i]);
}

Test(kernel_shared, exact_beside_the_next_block_of_factors_without_a_sign)
{
    for (size_t i = 0; i < sizeof plus_cases / sizeof *plus_cases; i++)
        for (size_t k = 0; k < ONLY; k += 3) check_data(plus_cases[i].name, plus_cases[i].make, false, &only[k], i % 2 + 1, HDST__SOA, N);
}

Test(kernel_shared, exact_beside_the_next_block_where_the_last_factor_is_another_one)
{
    for (size_t i = 0; i < 2 * (sizeof own_cases / sizeof *own_cases); i++) {
        shape of = own_cases[i / 2].of;
        if (of.groups != of.factors) continue;
        of.groups = of.factors = of.groups > 8 ? 8 : 4;
        of.plus = i % 2;
        of.only = true;
        check_data(own_cases[i / 2].name, own_cases[i / 2].make, true, &of, 1, HDST__SOA, own_cases[i / 2].records);
    }
}
