// SPDX-License-Identifier: Apache-2.0
// Sorts from the highest digit against qsort over (values, place), which is what stable means: unsigned, signed, floats and bools, several keys, either
// direction, records of all sizes that it takes, in one run and in several, keys that differ in many bits, in few, in none, and in some that no sample sees.
#include "record/layout.h"
#include "shuffle/sort/msd_radix.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST = 90000 };

// Smaller records are its first bytes.
typedef struct row { uint32_t number; uint32_t place; float real; uint16_t small; uint8_t is; uint8_t none; double wide; int64_t whole; } row;

static row rows[MOST], expected[MOST];
static char packed[MOST * sizeof(row)], sorted[MOST * sizeof(row)];
static uint64_t state;

static const hdst__sort_field number_up = {offsetof(row, number), HDST__U32, 32, false}, number_down = {offsetof(row, number), HDST__U32, 32, true},
    real_up = {offsetof(row, real), HDST__F32, 32, false}, small_down = {offsetof(row, small), HDST__U16, 16, true},
    is_up = {offsetof(row, is), HDST__BOOL, 8, false}, wide_down = {offsetof(row, wide), HDST__F64, 64, true},
    whole_up = {offsetof(row, whole), HDST__I64, 64, false}, text_up = {0, HDST__TEXT, 128, false};

static const struct order { const char *what; const hdst__sort_field *field[3]; uint64_t least_size; } orders[] = {
    {"number", {&number_up}, 8}, {"number down", {&number_down}, 8}, {"real", {&real_up}, 12},
    {"is, small down, number", {&is_up, &small_down, &number_down}, 16},
    {"wide down", {&wide_down}, 24}, {"whole", {&whole_up}, 32}};

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

// 0: all bits; 1: few values; 2: one; 3: ascending; 4: one in a thousand is far below the others, and one above; 5: most are one, others are spread
static uint32_t make_number(int way, uint32_t i)
{
    const uint32_t any = next();
    if (way == 1) return any % 3;
    if (way == 2) return 77;
    if (way == 3) return i;
    if (way == 4) return any % 1000 == 0 ? any % 7 : any % 1000 == 1 ? UINT32_MAX - any % 9 : (1u << 30) + any % 50000;
    if (way == 5) return any % 5 ? 1000 : any;
    return any;
}

static void make_rows(int way, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const int32_t value = (int32_t)make_number(way, i);
        rows[i] = (row){.number = (uint32_t)value, .place = i, .real = (float)value / 1000, .small = (uint16_t)value, .is = (uint8_t)(next() % 2),
                        .wide = value * 1e-5, .whole = (int64_t)value * (way == 0 ? 1 << 30 : 1)};
    }
}

static const struct order *by;

static int compare_values(const hdst__sort_field *f, const row *a, const row *b)
{
    if (f->offset == offsetof(row, real)) return (a->real > b->real) - (a->real < b->real);
    if (f->offset == offsetof(row, wide)) return (a->wide > b->wide) - (a->wide < b->wide);
    if (f->offset == offsetof(row, whole)) return (a->whole > b->whole) - (a->whole < b->whole);
    if (f->offset == offsetof(row, small)) return (a->small > b->small) - (a->small < b->small);
    if (f->offset == offsetof(row, is)) return (a->is > b->is) - (a->is < b->is);
    return (a->number > b->number) - (a->number < b->number);
}

static int compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
    for (int i = 0; i < 3 && by->field[i]; i++) {
        const int order = compare_values(by->field[i], x, y);
        if (order) return by->field[i]->descending ? -order : order;
    }
    return (x->place > y->place) - (x->place < y->place);
}

static uint64_t begin_job(hdst__msd_sort *job, hdst__sort_field fields[3], uint64_t size)
{
    for (job->field_count = 0; job->field_count < 3 && by->field[job->field_count]; job->field_count++) fields[job->field_count] = *by->field[job->field_count];
    job->fields = fields;
    job->size = size;
    return job->field_count;
}

// The same in slices, of which the first is the sample.
static void check_slices(const hdst__msd_sort *job, uint32_t count, const char *what)
{
    hdst__budget budget;
    bool done = false;
    hdst__budget_init(&budget, "memory", "memory", UINT64_MAX);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    const uint32_t first = count / 9 + 1;
    const hdst__row_run run = {packed, first};
    hdst__msd_sort sample = *job;
    sample.allocator = &allocator;
    sample.runs = &run;
    sample.run_count = 1;
    sample.count = first;
    hdst__msd_slices *slices = hdst__msd_slices_create(&sample, &budget, count * 2);
    cr_assert(slices);
    for (uint32_t at = 0, slice = first; at < count; at += slice, slice = 1 + next() % 20000)
        cr_assert_eq(hdst__msd_slices_take(slices, packed + at * job->size, slice < count - at ? slice : count - at, NULL), HDST_OK);
    cr_assert_eq(hdst__msd_slices_count(slices), count);
    memset(sorted, 0, count * job->size);
    cr_assert_eq(hdst__msd_slices_end(slices, sorted, &done, NULL), HDST_OK);
    cr_assert(done, "%s by %s, %u records in slices", what, by->what, count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(!memcmp(sorted + i * job->size, &expected[i], job->size), "%s by %s in slices: %u of %u", what, by->what, i, count);
    hdst__msd_slices_destroy(slices);
    cr_assert_eq(budget.used, 0);
}

// In three runs, of which one is empty.
static void check(hdst__thread_pool *threads, uint32_t count, uint64_t size, const char *what)
{
    hdst__sort_field fields[3];
    bool done = false;
    for (uint32_t i = 0; i < count; i++) memcpy(packed + i * size, &rows[i], size);
    memcpy(expected, rows, count * sizeof *rows);
    qsort(expected, count, sizeof *expected, compare);
    const hdst__row_run runs[] = {{packed, count / 3}, {packed + count / 3 * size, 0}, {packed + count / 3 * size, count - count / 3}};
    hdst__msd_sort job = {.threads = threads, .runs = runs, .run_count = 3, .count = count};
    begin_job(&job, fields, size);
    cr_assert(hdst__msd_radix_suits(fields, job.field_count, size));
    cr_assert_eq(hdst__msd_radix_sort(&job, sorted, &done, NULL), HDST_OK);
    cr_assert(done, "%s by %s, %u records of %u bytes", what, by->what, count, (unsigned)size);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(!memcmp(sorted + i * size, &expected[i], size), "%s by %s: %u of %u", what, by->what, i, count);
    check_slices(&job, count, what);
}

Test(msd_radix, all_orders_sizes_and_distributions)
{
    static const uint32_t counts[] = {1, 2, 20, 500, 9000, MOST};
    static const uint64_t sizes[] = {8, 12, 16, 20, 24, 32};
    static const char *const ways[] = {"any", "few values", "one value", "ascending", "some far away", "mostly one"};
    hdst__thread_pool *threads = hdst__thread_pool_create(NULL, 3);
    for (int way = 0; way < 6; way++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            state = (uint64_t)way * 100 + c;
            make_rows(way, counts[c]);
            for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
                by = &orders[o];
                const uint64_t size = sizes[(o + c + (size_t)way) % 6];
                check(c % 2 ? NULL : threads, counts[c], size < by->least_size ? 32 : size, ways[way]);
            }
        }
    }
    hdst__thread_pool_destroy(threads);
}

Test(msd_radix, large_records_texts_and_long_keys_are_for_others)
{
    const hdst__sort_field two[] = {whole_up, is_up};
    cr_assert(!hdst__msd_radix_suits(&number_up, 1, 40));
    cr_assert(!hdst__msd_radix_suits(&text_up, 1, 16));
    cr_assert(!hdst__msd_radix_suits(two, 2, 32), "72 bits");
    cr_assert(hdst__msd_radix_suits(two, 1, 32));
}

// Every other record is a sample, in each piece of a quarter; those between are near one another, and the samples are not.
Test(msd_radix, what_is_nearly_all_in_one_bucket_is_told)
{
    enum { COUNT = 80000, QUARTER = COUNT / 4 };
    hdst__sort_field fields[3];
    bool done = true;
    state = 1;
    by = &orders[0];
    for (uint32_t i = 0; i < COUNT; i++) rows[i] = (row){.number = i % QUARTER % 2 || i % 64 == 0 ? i % 999 : next(), .place = i};
    hdst__row_run runs[4];
    for (uint32_t r = 0; r < 4; r++) runs[r] = (hdst__row_run){(const char *)(rows + r * QUARTER), QUARTER};
    hdst__msd_sort job = {.runs = runs, .run_count = 4, .count = COUNT};
    begin_job(&job, fields, sizeof(row));
    cr_assert_eq(hdst__msd_radix_sort(&job, sorted, &done, NULL), HDST_OK);
    cr_assert(!done);
}

Test(msd_radix, one_that_is_cancelled_ends)
{
    hdst__sort_field fields[3];
    hdst_error error = HDST_ERROR_INIT;
    hdst__cancel cancel = {0};
    bool done;
    by = &orders[0];
    make_rows(0, MOST);
    const hdst__row_run run = {(const char *)rows, MOST};
    hdst__msd_sort job = {.runs = &run, .run_count = 1, .count = MOST, .cancel = &cancel};
    begin_job(&job, fields, sizeof(row));
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert_eq(hdst__msd_radix_sort(&job, sorted, &done, &error), HDST_E_CANCELLED);
}

typedef struct giving { uint64_t count; } giving;

static hdst_status count_given(void *user, const char *given, uint64_t count, hdst_error *error)
{
    giving *g = user;
    (void)given, (void)error;
    g->count += count;
    return HDST_OK;
}

Test(msd_radix, slices_without_room_are_not_taken)
{
    hdst__sort_field fields[3];
    hdst__budget budget;
    by = &orders[0];
    make_rows(0, MOST);
    hdst__budget_init(&budget, "memory", "memory", 5 << 20);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    const hdst__row_run run = {(const char *)rows, 1000};
    hdst__msd_sort sample = {.allocator = &allocator, .runs = &run, .run_count = 1, .count = 1000};
    begin_job(&sample, fields, sizeof(row));
    hdst__msd_slices *slices = hdst__msd_slices_create(&sample, &budget, MOST);
    uint64_t given = 0;
    giving g = {0};
    hdst_error error;
    hdst_status status = HDST_OK;
    for (; status == HDST_OK && given < 10 * MOST; given += 5000) status = hdst__msd_slices_take(slices, (const char *)rows, 5000, &error);
    cr_assert_eq(status, HDST_E_MEMORY);
    const uint64_t taken = hdst__msd_slices_count(slices);
    cr_assert_gt(taken, 0);
    cr_assert_leq(taken, given);
    cr_assert_eq(hdst__msd_slices_give(slices, count_given, &g, &error), HDST_OK);
    cr_assert_eq(g.count, taken);
    hdst__msd_slices_destroy(slices);
    cr_assert_eq(budget.used, 0);
}
