// SPDX-License-Identifier: Apache-2.0
// Every representation of an accumulator on the host (accum/representation.h), against the truth by another road
// (conformance.h): whatever was added, in whatever order, split over whatever parts that were merged in any order,
// with words that fill up on the way.
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "accum/overflow_table.h"
#include "accum/representation.h"
#include "accum/superaccumulator.h"
#include "tests/accum/conformance.h"
#include "tests/accum/conformance_integers.h"
#include "accum/tables.h"

#include <criterion/criterion.h>
#include <inttypes.h>

// WORDS: room for every representation, of which an overflow table is the largest.
enum { CELL_WORDS = HDST__F64_DIGITS + 1, WORDS = 3 + 2 * CELL_WORDS, PARTS = 3, SEEDS = 20 };

typedef struct state {              // a value in the making: words of the representation, and what they refused
    int64_t word[WORDS], rest[CELL_WORDS];
    bool spilled;
} state;

typedef struct trial {
    const hdst__representation *held;
    hdst__cell cell;
    int32_t s;
} trial;

static void spill(const trial *t, state *to)
{
    cr_assert_not_null(t->held->spill, "%s has no room and cannot say where to go", t->held->name);
    t->held->spill(&t->cell, to->word, t->s, to->rest);
    to->spilled = true;
    for (int w = 0; w < WORDS; w++) cr_assert_eq(to->word[w], 0, "%s: words are empty after a spill", t->held->name);
}

static void add(const trial *t, state *to, uint64_t bits)
{
    if (t->held->add(&t->cell, to->word, t->s, bits)) return;
    hdst__cell_accumulate(&t->cell, to->rest, bits);
    to->spilled = true;
}

static void merge(const trial *t, state *to, const state *from)
{
    state other = *from;
    if (!t->held->merge(&t->cell, to->word, other.word)) {
        spill(t, to);
        spill(t, &other);
    }
    if (t->cell.digits) (void)hdst__superaccumulator.merge(&t->cell, to->rest, other.rest);
    to->spilled |= other.spilled;
}

// Also by way of words that travel.
static uint64_t value(const trial *t, const state *from)
{
    int64_t travelling[WORDS] = {0}, arrived[WORDS] = {0};
    const int64_t *rest = t->cell.digits ? from->rest : NULL;
    const uint64_t bits = t->held->round(&t->cell, from->word, t->s, rest);
    t->held->write(&t->cell, from->word, travelling);
    t->held->read(&t->cell, travelling, arrived);
    cr_expect_eq(t->held->round(&t->cell, arrived, t->s, rest), bits, "%s: written and read", t->held->name);
    if (!from->spilled) cr_expect_eq(t->held->round(&t->cell, from->word, t->s, NULL), bits, "%s: alone", t->held->name);
    return bits;
}

static const int order_of[6][PARTS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

// Parts, merged in each order; then doubled again and again, which fills every word that can fill.
static void run_case(const trial *t, const addend_case *c, bool is_sum, uint64_t expected, int doublings)
{
    state part[PARTS] = {0};
    int64_t first[WORDS];
    for (size_t i = 0; i < c->count; i++) add(t, &part[i % PARTS], bits_of_value(c->kind, c->v[i]));
    for (int o = 0; o < 6; o++) {
        state all = part[order_of[o][0]];
        for (int p = 1; p < PARTS; p++) merge(t, &all, &part[order_of[o][p]]);
        const uint64_t found = value(t, &all);
        cr_expect_eq(found, expected, "%s, %s, scale %d, order %d: %" PRIx64 " instead of %" PRIx64, t->held->name, c->name, t->s, o, found, expected);
        int64_t words[WORDS] = {0};
        t->held->write(&t->cell, all.word, words);
        if (o == 0) memcpy(first, words, sizeof first);
        else if (!all.spilled) cr_expect_arr_eq(words, first, sizeof words, "%s, %s: words of equal values are equal", t->held->name, c->name);
        for (int d = 1; is_sum && d <= doublings; d++) {
            merge(t, &all, &(state){0});        // what is empty changes nothing
            const state same = all;
            merge(t, &all, &same);
            if (d % 20 == 0) cr_expect_eq(value(t, &all), true_sum(c, d), "%s, %s, scale %d, doubled %d times", t->held->name, c->name, t->s, d);
        }
    }
}

static void run_scales(const hdst__representation *held, const hdst__cell *cell, const addend_case *c, uint64_t expected, int doublings)
{
    hdst__addends seen;
    hdst__addends_init(&seen);
    for (size_t i = 0; i < c->count; i++) hdst__addends_add(&seen, c->kind, bits_of_value(c->kind, c->v[i]));
    const int32_t chosen = hdst__addends_scale(&seen, c->kind, HDST__FIXED_BITS);
    const int32_t scales[] = {chosen, 0, 23, hdst__fixed_scale(c->kind, -2000), hdst__fixed_scale(c->kind, 2000)};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) run_case(&(trial){held, *cell, scales[i]}, c, cell->acc == HDST__SUM, expected, doublings);
}

static void run_representation(const hdst__representation *held, const addend_case *c, int doublings, int *tried)
{
    for (hdst__precision_class precision = HDST__CLASS_ONE_WORD; precision <= HDST__CLASS_SUPERACCUMULATOR; precision++)
        for (hdst__accumulate_op op = HDST__SUM; op <= HDST__MAX; op++) {
            const hdst__cell cell = hdst__cell_make(c->kind, op, precision);
            if (!held->applies(&cell)) continue;
            cr_assert_leq(held->applies(&cell), WORDS);
            const uint64_t expected = op == HDST__SUM ? true_sum(c, 0) : true_extreme(c, op == HDST__MIN);
            run_scales(held, &cell, c, expected, doublings);
            ++*tried;
        }
}

Test(conformance, every_representation_of_floats)
{
    int tried[16] = {0};
    for (int kind = HDST__F32; kind <= HDST__F64; kind++)
        for (int which = 0; which < ADDEND_CASES; which++)
            for (uint64_t seed = 0; seed < (may_be_doubled(which) ? SEEDS : 1); seed++) {
                const addend_case c = addends_of((hdst__kind)kind, which, seed);
                for (size_t r = 0; r < hdst__representation_count; r++)
                    run_representation(hdst__representations[r], &c, seed == 0 && may_be_doubled(which) ? 60 : 0, &tried[r]);
            }
    for (size_t r = 0; r < hdst__representation_count; r++)
        if (hdst__representations[r] != &hdst__integers) cr_expect_gt(tried[r], 0, "%s was not tried", hdst__representations[r]->name);
}

Test(conformance, ties_at_every_bit)
{
    int tried = 0;
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const int low = kind == HDST__F32 ? -125 : -1021, high = kind == HDST__F32 ? 127 : 1023, step = kind == HDST__F32 ? 3 : 29;
        for (int exponent = low; exponent <= high; exponent += step)
            for (int odd = 0; odd < 2; odd++)
                for (int beside = -1; beside <= 1; beside++) {
                    const addend_case c = tie_at((hdst__kind)kind, exponent, odd, beside);
                    for (size_t r = 0; r < hdst__representation_count; r++) run_representation(hdst__representations[r], &c, 0, &tried);
                }
    }
    cr_expect_gt(tried, 0);
}

// Words of the same sign fill up by single additions, past where they must have been spilled.
Test(conformance, more_additions_than_a_word_takes)
{
    enum { DOUBLINGS = 22, MORE = 5 };          // 2^22 addends just below 2^40: 2^62
    for (int kind = HDST__F32; kind <= HDST__F64; kind++)
        for (int negative = 0; negative < 2; negative++) {
            const double v = negative ? -0xffffffp16 : 0xffffffp16;
            addend_case more = {.name = "many additions", .kind = (hdst__kind)kind, .count = MORE, .v = {v, v, v, v, v}};
            big sum = big_of(v);
            for (int i = 0; i < DOUBLINGS; i++) big_double(&sum);
            for (int i = 0; i < MORE; i++) {
                const big one = big_of(v);
                big_add(&sum, &one);
            }
            for (size_t r = 0; r < hdst__representation_count; r++) {
                const hdst__cell cell = hdst__cell_make((hdst__kind)kind, HDST__SUM, HDST__CLASS_TWO_WORDS);
                const trial t = {hdst__representations[r], cell, 0};
                state s = {0};
                if (!t.held->applies(&cell)) continue;
                for (int i = 0; i < 1 << DOUBLINGS; i++) add(&t, &s, bits_of_value((hdst__kind)kind, v));
                for (size_t i = 0; i < more.count; i++) add(&t, &s, bits_of_value((hdst__kind)kind, more.v[i]));
                cr_expect_eq(value(&t, &s), big_round(&sum, kind == HDST__F32), "%s", t.held->name);
            }
        }
}

// What fits words of fewer bits, by the numbers themselves: whether value * 2^s is whole and small enough.
Test(conformance, what_fits_fewer_bits)
{
    uint64_t seed = 9;
    for (int i = 0; i < 20000; i++) {
        const double v = i % 9 ? random_between(&seed, HDST__F32, -40, 40) : ldexp((double)(random_word(&seed) % 4096), -8);
        const int s = (int)(random_word(&seed) % 30) - 5;
        const uint32_t bits = 30 + (uint32_t)(random_word(&seed) % 11), words = 1 + i % 2;
        const double scaled = ldexp(v, s), last = words == 1 ? scaled : ldexp(scaled, (int)bits);
        const bool expected = fabs(scaled) < ldexp(1, (int)bits) && last == floor(last);
        cr_assert_eq(hdst__fixed_fits(HDST__F64, words, s, bits, bits_of_value(HDST__F64, v)), expected, "%a, %d, %u bits, %u words", v, s, bits, words);
        cr_assert_eq(hdst__fixed_fits(HDST__F32, words, s, bits, bits_of_value(HDST__F32, v)), expected, "%a, %d, %u bits, %u words", v, s, bits, words);
    }
    cr_expect_not(hdst__fixed_fits(HDST__F32, 2, 0, 40, 0x7f800000));
    cr_expect_not(hdst__fixed_fits(HDST__F32, 2, 0, 40, 0x7fc00000));
    cr_expect(hdst__fixed_fits(HDST__F64, 1, 0, 30, UINT64_C(1) << 63), "negative zero");
}

// --- Overflow tables of several elements ---

enum { PLACES = 8, TABLE_WORDS = 2 + PLACES + (PLACES + 1) * (HDST__F32_DIGITS + 1) };

static void overflow_add(const hdst__cell *cell, int64_t *table, uint64_t element, float v)
{
    (void)hdst__superaccumulator.add(cell, hdst__overflow_cell(table, cell->digits + 1, element), 0, bits_of_value(HDST__F32, (double)v));
}

static double overflow_read(const hdst__cell *cell, int64_t *table, uint64_t element)
{
    return big_bits_to_double(hdst__cell_read(cell, hdst__overflow_cell(table, cell->digits + 1, element)), true);
}

Test(conformance, an_overflow_table_keeps_elements_apart)
{
    const hdst__cell cell = hdst__cell_make(HDST__F32, HDST__SUM, HDST__CLASS_ONE_WORD);
    int64_t one[TABLE_WORDS] = {PLACES - 1}, other[TABLE_WORDS] = {PLACES - 1}, rest[CELL_WORDS] = {0};
    for (int e = 0; e < 5; e++) overflow_add(&cell, one, (uint64_t)e * 8, (float)(1 << e));
    for (int e = 3; e < 8; e++) overflow_add(&cell, other, (uint64_t)e * 8, (float)(1 << e));
    cr_assert(hdst__overflow_table.merge(&cell, one, other), "eight elements have eight places");
    for (int e = 0; e < 8; e++) cr_expect_eq(overflow_read(&cell, one, (uint64_t)e * 8), (e == 3 || e == 4 ? 2.0 : 1.0) * (1 << e), "element %d", e);
    cr_expect_eq(one[HDST__OVERFLOW_STATE], HDST__OVERFLOW_USED);
    int64_t before[TABLE_WORDS];
    overflow_add(&cell, other, 1000, 1);
    memcpy(before, one, sizeof one);
    cr_expect_not(hdst__overflow_table.merge(&cell, one, other), "a ninth element has none");
    cr_expect_arr_eq(one, before, sizeof one, "and then nothing was done");
    int64_t seven[TABLE_WORDS] = {PLACES - 1}, two[TABLE_WORDS] = {PLACES - 1};
    for (int e = 0; e < 7; e++) overflow_add(&cell, seven, (uint64_t)e, 1);
    for (int e = 7; e < 9; e++) overflow_add(&cell, two, (uint64_t)e, 1);
    memcpy(before, seven, sizeof seven);
    cr_expect_not(hdst__overflow_table.merge(&cell, seven, two), "one of two has a place");
    cr_expect_arr_eq(seven, before, sizeof seven, "which it does not keep");
    hdst__overflow_table.spill(&cell, one, 0, rest);
    cr_expect_eq(big_bits_to_double(hdst__cell_read(&cell, rest), true), 255.0 + 8 + 16);
    cr_expect_eq(one[0], PLACES - 1, "its size stays");
    for (int w = 1; w < TABLE_WORDS; w++) cr_expect_eq(one[w], 0, "word %d", w);
    for (int e = 0; e < 9; e++) overflow_add(&cell, one, (uint64_t)e, 1);
    cr_expect(hdst__overflow_is_full((uint64_t)one[HDST__OVERFLOW_STATE]), "who finds no place is told");
}

// --- Integers ---

static void run_integers(hdst__kind kind, hdst__accumulate_op op, const uint64_t *v, size_t count)
{
    const hdst__cell cell = hdst__cell_make(kind, op, HDST__CLASS_PLAIN);
    const trial t = {hdst__exact_representation(&cell), cell, 0};
    state part[PARTS] = {0};
    for (size_t i = 0; i < count; i++) add(&t, &part[i % PARTS], v[i]);
    for (int o = 0; o < 6; o++) {
        state all = part[order_of[o][0]];
        for (int p = 1; p < PARTS; p++) merge(&t, &all, &part[order_of[o][p]]);
        cr_expect_eq(value(&t, &all), true_integer(kind, op, v, count), "%s of kind %d, operation %d", t.held->name, (int)kind, (int)op);
    }
}

Test(conformance, every_representation_of_integers)
{
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U8, HDST__U16, HDST__U32, HDST__U64};
    uint64_t v[MOST_ADDENDS], seed = 5;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int round = 0; round < 50; round++)
            for (hdst__accumulate_op op = HDST__SUM; op <= HDST__XOR; op++) {
                const size_t count = 1 + random_word(&seed) % MOST_ADDENDS;
                for (size_t i = 0; i < count; i++) v[i] = some_integer(kinds[k], &seed, round % 2);
                run_integers(kinds[k], op, v, count);
            }
}

// What nobody added to: of a minimum what every value is below, of an `and` all ones.
Test(conformance, what_is_empty)
{
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__U8, HDST__I32, HDST__U64};
    static const uint64_t least[] = {0, (uint64_t)INT8_MIN, 0, (uint64_t)INT32_MIN, 0}, most[] = {1, INT8_MAX, UINT8_MAX, INT32_MAX, UINT64_MAX},
                          ones[] = {1, ~UINT64_C(0), UINT8_MAX, ~UINT64_C(0), UINT64_MAX};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (hdst__accumulate_op op = HDST__SUM; op <= HDST__XOR; op++) {
            const hdst__cell cell = hdst__cell_make(kinds[k], op, HDST__CLASS_PLAIN);
            const trial t = {hdst__exact_representation(&cell), cell, 0};
            const uint64_t expected = op == HDST__MIN ? most[k] : op == HDST__MAX ? least[k] : op == HDST__AND ? ones[k] : 0;
            cr_expect_eq(value(&t, &(state){0}), expected, "%s of kind %d, operation %d", t.held->name, (int)kinds[k], (int)op);
        }
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        const addend_case none = {.name = "nothing", .kind = (hdst__kind)kind};
        int tried = 0;
        for (size_t r = 0; r < hdst__representation_count; r++) run_representation(hdst__representations[r], &none, 0, &tried);
        cr_expect_gt(tried, 0);
    }
}

Test(conformance, one_representation_holds_each_cell_whatever_comes)
{
    for (int kind = HDST__BOOL; kind <= HDST__F64; kind++)
        for (hdst__accumulate_op op = HDST__SUM; op <= (hdst__kind_is_float((hdst__kind)kind) ? HDST__MAX : HDST__XOR); op++) {
            const hdst__cell cell = hdst__cell_make((hdst__kind)kind, op, HDST__CLASS_TWO_WORDS);
            const hdst__representation *held = hdst__exact_representation(&cell);
            cr_expect_eq(held->applies(&cell), cell.device_words);
            cr_expect_null(held->spill, "%s always has room", held->name);
        }
}
