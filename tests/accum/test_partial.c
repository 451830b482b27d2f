// SPDX-License-Identifier: Apache-2.0
// Addends split over device tables of every form and scale, these over partials, merged in any order and grouping: always the bits of big integers.
#include "tests/accum/partial_split.h"

#include <inttypes.h>

enum { SPLITS = 12 };

static void check_rows(const hdst__partial *all, const case_shape *s, uint64_t expected, uint64_t identity, size_t addends, const char *name)
{
    const uint64_t mask = ~UINT64_C(0) >> (64 - 8 * hdst__scalar_size(s->leaf[1].kind));
    case_row out[CASE_ROWS];
    hdst__partial_read_rows(all, 0, &s->record, 0, CASE_ROWS, out);
    for (uint64_t row = 0; row < CASE_ROWS; row++) {
        cr_assert_eq(out[row].records, row == ROW ? addends : 0, "%s: records of row %d", name, (int)row);
        for (uint64_t e = 0; e < CASE_ELEMENTS; e++) {
            const uint64_t right = row == ROW && e == ELEMENT ? expected : identity;
            cr_assert_eq(out[row].value[e], right & mask, "%s, row %d, element %d: %" PRIx64 " instead of %" PRIx64, name, (int)row, (int)e, out[row].value[e],
                         right);
            cr_assert_eq(hdst__partial_read(all, 0, row, 1, e), right);
        }
    }
    hdst__partial_read_rows(all, 0, &s->record, ROW, 1, out);
    cr_assert_eq(out[0].value[ELEMENT], expected & mask, "%s: a row of its own", name);
}

// Twice what there was, again and again, fills every word that can fill.
static void double_up(hdst__partial *all, const case_table *like, const addend_case *c, int doublings)
{
    hdst__partial *same = new_partial(like);
    for (int d = 1; d <= doublings; d++) {
        hdst__partial_reset(same);
        merge(same, all);
        merge(all, same);
        if (d % 20 == 0) cr_assert_eq(hdst__partial_read(all, 0, ROW, 1, ELEMENT), true_sum(c, d), "%s doubled %d times", c->name, d);
    }
    hdst__partial_destroy(same);
}

static void run_floats(const addend_case *c, hdst__accumulate_op op, uint64_t seed, int doublings)
{
    const uint64_t expected = op == HDST__SUM ? true_sum(c, 0) : true_extreme(c, op == HDST__MIN);
    const uint64_t identity = op == HDST__SUM ? 0 : bits_of_value(c->kind, op == HDST__MIN ? INFINITY : -INFINITY);
    hdst__partial *partial[MOST_PARTIALS];
    uint64_t bits[MOST_ADDENDS];
    case_shape s;
    case_table like;
    case_shape_init(&s, c->kind, op);
    case_table_init(&like, &s, FORM_PLAIN, HDST__CLASS_ONE_WORD, 0);
    for (size_t i = 0; i < c->count; i++) bits[i] = bits_of_value(c->kind, c->v[i]);
    for (int n = 0; n < SPLITS; n++) {
        const size_t parts = split(&s, bits, c->count, &seed, partial);
        hdst__partial *all = merge_at_random(partial, parts, &seed);
        check_rows(all, &s, expected, identity, c->count, c->name);
        if (op == HDST__SUM && n == 0) double_up(all, &like, c, doublings);
        hdst__partial_destroy(all);
    }
    case_table_destroy(&like);
}

Test(partial, hard_addends_in_every_form_meet_in_any_order)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++)
        for (int which = 0; which < ADDEND_CASES; which++)
            for (uint64_t seed = 0; seed < (may_be_doubled(which) ? 6 : 1); seed++) {
                const addend_case c = addends_of((hdst__kind)kind, which, seed);
                for (hdst__accumulate_op op = HDST__SUM; op <= HDST__MAX; op++)
                    run_floats(&c, op, 1000 * seed + (uint64_t)which, may_be_doubled(which) && seed < 2 ? 60 : 0);
            }
}

Test(partial, integers_of_every_operation_meet_in_any_order)
{
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U8, HDST__U16, HDST__U32, HDST__U64};
    uint64_t v[MOST_ADDENDS], seed = 77;
    hdst__partial *partial[MOST_PARTIALS];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int round = 0; round < 10; round++)
            for (hdst__accumulate_op op = HDST__SUM; op <= HDST__XOR; op++) {
                const size_t count = 1 + random_word(&seed) % MOST_ADDENDS;
                case_shape s;
                case_shape_init(&s, kinds[k], op);
                for (size_t i = 0; i < count; i++) v[i] = some_integer(kinds[k], &seed, round % 2);
                const size_t parts = split(&s, v, count, &seed, partial);
                hdst__partial *all = merge_at_random(partial, parts, &seed);
                cr_assert_eq(hdst__partial_read(all, 0, ROW, 1, ELEMENT), true_integer(kinds[k], op, v, count), "kind %d, operation %d", (int)kinds[k],
                             (int)op);
                hdst__partial_destroy(all);
            }
}

// --- Scales ---

static uint64_t sum_of_two(int32_t first_scale, double first, int32_t second_scale, double second)
{
    case_shape s;
    case_table table[2];
    case_shape_init(&s, HDST__F64, HDST__SUM);
    case_table_init(&table[0], &s, FORM_FIXED_POINT, HDST__CLASS_ONE_WORD, first_scale);
    case_table_init(&table[1], &s, FORM_FIXED_POINT, HDST__CLASS_ONE_WORD, second_scale);
    case_add(&table[0], 1, ROW, ELEMENT, bits_of_value(HDST__F64, first));
    case_add(&table[1], 1, ROW, ELEMENT, bits_of_value(HDST__F64, second));
    hdst__partial *all = new_partial(&table[0]);
    add_table(all, &table[0]);
    add_table(all, &table[1]);
    const uint64_t bits = hdst__partial_read(all, 0, ROW, 1, ELEMENT);
    hdst__partial_destroy(all);
    for (int t = 0; t < 2; t++) case_table_destroy(&table[t]);
    return bits;
}

// Every distance of two scales: words that shift up, down, into the low word, and into a superaccumulator.
Test(partial, any_two_scales)
{
    for (int32_t distance = -300; distance <= 300; distance++)
        for (int whole = 0; whole < 2; whole++) {
            const double a = 0x1.23456789p30, b = whole ? ldexp(-3, 38 - distance) : ldexp(-0x1.fedcba97p30, -distance);
            big sum = big_of(a);
            const big other = big_of(b);
            big_add(&sum, &other);
            cr_assert_eq(sum_of_two(0, a, distance, b), big_round(&sum, false), "scales 0 and %d", (int)distance);
        }
}

// Sums that fit two words, which are rounded by the processor: both words of either sign.
Test(partial, words_alone)
{
    uint64_t seed = 11;
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        addend_case sums[CASE_ROWS][CASE_ELEMENTS] = {0};
        case_shape s;
        case_table table;
        case_shape_init(&s, (hdst__kind)kind, HDST__SUM);
        case_table_init(&table, &s, FORM_FIRST_LEVEL, HDST__CLASS_TWO_WORDS, 0);
        for (uint64_t row = 0; row < CASE_ROWS; row++)
            for (uint64_t e = 0; e < CASE_ELEMENTS; e++) {
                addend_case *c = &sums[row][e];
                c->kind = (hdst__kind)kind;
                for (c->count = 0; c->count < 1 + (row + e) % 4; c->count++) {
                    const int bits = kind == HDST__F32 ? 23 : 50;
                    const int64_t units = (int64_t)(random_word(&seed) >> (64 - bits)) - (INT64_C(1) << (bits - 1));
                    c->v[c->count] = ldexp((double)units, kind == HDST__F32 ? -30 : -40);
                    case_add(&table, 1, row, e, bits_of_value(c->kind, c->v[c->count]));
                }
            }
        hdst__partial *all = new_partial(&table);
        add_table(all, &table);
        case_row out[CASE_ROWS];
        hdst__partial_read_rows(all, 0, &s.record, 0, CASE_ROWS, out);
        for (uint64_t row = 0; row < CASE_ROWS; row++)
            for (uint64_t e = 0; e < CASE_ELEMENTS; e++) {
                cr_expect_eq(out[row].value[e], true_sum(&sums[row][e], 0), "kind %d, row %d, element %d", kind, (int)row, (int)e);
                cr_expect_eq(hdst__partial_read(all, 0, row, 1, e), true_sum(&sums[row][e], 0));
            }
        hdst__partial_destroy(all);
        case_table_destroy(&table);
    }
}

// --- What is refused ---

Test(partial, tables_and_partials_of_other_accumulators_are_refused)
{
    static const uint64_t more_rows[1] = {CASE_ROWS + 1};
    hdst_error error = HDST_ERROR_INIT;
    case_shape sums, least, floats;
    case_table a, b, c;
    case_shape_init(&sums, HDST__F64, HDST__SUM);
    case_shape_init(&least, HDST__F64, HDST__MIN);
    case_shape_init(&floats, HDST__F32, HDST__SUM);
    case_table_init(&a, &sums, FORM_FIXED_POINT, HDST__CLASS_ONE_WORD, 0);
    case_table_init(&b, &least, FORM_PLAIN, HDST__CLASS_ONE_WORD, 0);
    case_table_init(&c, &floats, FORM_PLAIN, HDST__CLASS_ONE_WORD, 0);
    hdst__partial *of_sums = new_partial(&a), *of_least = new_partial(&b), *of_floats = new_partial(&c),
                  *of_more = hdst__partial_create(NULL, a.table.tables, more_rows);
    cr_expect_eq(hdst__partial_merge(of_sums, of_least, &error), HDST_E_INTERNAL);
    cr_expect_eq(hdst__partial_merge(of_sums, of_floats, &error), HDST_E_INTERNAL);
    cr_expect_eq(hdst__partial_merge(of_sums, of_more, &error), HDST_E_INTERNAL);
    cr_expect_eq(hdst__partial_merge(of_sums, of_sums, &error), HDST_E_INTERNAL);
    cr_expect_eq(hdst__partial_add_device_table(of_sums, &b.table, &error), HDST_E_INTERNAL);
    cr_expect_eq(hdst__partial_add_device_table(of_more, &a.table, &error), HDST_E_INTERNAL);
    a.overflow[HDST__OVERFLOW_STATE] = HDST__OVERFLOW_FULL;
    cr_expect_eq(hdst__partial_add_device_table(of_sums, &a.table, &error), HDST_E_INTERNAL);
    hdst__partial *all[] = {of_sums, of_least, of_floats, of_more};
    for (size_t i = 0; i < 4; i++) hdst__partial_destroy(all[i]);
    case_table_destroy(&a);
    case_table_destroy(&b);
    case_table_destroy(&c);
}

// --- Memory ---

typedef struct few {
    size_t left;
} few;

static void *few_allocate(size_t bytes, void *user)
{
    few *f = user;
    return f->left && f->left-- ? malloc(bytes) : NULL;
}

static void *few_reallocate(void *pointer, size_t bytes, void *user)
{
    few *f = user;
    return f->left && f->left-- ? realloc(pointer, bytes) : NULL;
}

static void few_release(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

// Each allocation refused once: an error, and the object can be reset and used again.
Test(partial, without_room_nothing_is_lost_but_the_state)
{
    case_shape s;
    case_table table[2];
    case_shape_init(&s, HDST__F64, HDST__SUM);
    case_table_init(&table[0], &s, FORM_FIXED_POINT, HDST__CLASS_ONE_WORD, 0);
    case_table_init(&table[1], &s, FORM_FIRST_LEVEL, HDST__CLASS_TWO_WORDS, 17);
    for (int t = 0; t < 2; t++)
        for (uint64_t e = 0; e < CASE_ELEMENTS; e++) case_add(&table[t], 1, ROW, e, bits_of_value(HDST__F64, e == ELEMENT ? 0x1p200 : 3.25));
    int refused = 0, done = 0;
    for (size_t n = 0; !done && n < 100; n++) {
        few f = {n};
        const hdst__allocator allocator = {few_allocate, few_reallocate, few_release, &f, NULL};
        hdst__partial *all = hdst__partial_create(&allocator, table[0].table.tables, case_rows);
        hdst_error error = HDST_ERROR_INIT;
        hdst_status status = all ? HDST_OK : HDST_E_MEMORY;
        for (int t = 0; t < 2 && status == HDST_OK; t++) status = hdst__partial_add_device_table(all, &table[t].table, &error);
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY);
        refused += status == HDST_E_MEMORY;
        done = status == HDST_OK;
        f.left = SIZE_MAX;
        if (all && !done) {
            hdst__partial_reset(all);
            for (int t = 0; t < 2; t++) add_table(all, &table[t]);
        }
        if (all) cr_expect_eq(hdst__partial_read(all, 0, ROW, 1, ELEMENT), bits_of_value(HDST__F64, 0x1p201));
        if (all) cr_expect_eq(hdst__partial_read(all, 0, ROW, 1, 0), bits_of_value(HDST__F64, 6.5));
        hdst__partial_destroy(all);
    }
    cr_expect(done && refused >= 6, "%d refusals", refused);
    for (int t = 0; t < 2; t++) case_table_destroy(&table[t]);
}
