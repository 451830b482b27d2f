// SPDX-License-Identifier: Apache-2.0
// Records that wait in buckets in eight bytes each, against qsort by key and place: records that differ in few bits from the first to the last; in bits that no
// sample saw, which are packed anew; in more than 64, which come as they are from then on; keys of which the sample tells nothing; memory that ends then.
#include "shuffle/sort/msd_radix.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>

enum { COUNT = 80000, SAMPLE = 6000, LATE = 70000 };

typedef struct row { int32_t key; uint32_t place; uint64_t rest, tail; } row;      // smaller records are its first bytes

static row rows[COUNT], expected[COUNT];
static char came[COUNT * sizeof(row)], sorted[COUNT * sizeof(row)];
static uint64_t given_count;
static uint64_t state;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static const struct scenario {
    const char *what;
    uint32_t keys, late_keys;           // how many different ones; of those behind LATE
    uint64_t rest, late_rest;           // bits that may be set
    int32_t least;
    bool packed, again;                 // at the end
} scenarios[] = {
    {"few bits", 5000, 5000, 0xff, 0xff, 0, true, false},
    {"signed keys around zero", 100, 100, 0, 0, -50, true, false},          // which differ in their sign's bit
    {"no other bits", 300, 300, 0, 0, 1 << 20, true, false},
    {"one key", 1, 1, 3, 3, 9, true, false},
    {"more bits of the rest later, 64 in all", 500, 500, 1, 0x7fff, 0, true, false},
    {"too many bits later", 5000, 5000, 0xff, ~(uint64_t)0, 0, false, false},
    {"too many bits in the sample", 5000, 5000, ~(uint64_t)0, ~(uint64_t)0, 0, false, false},
    {"keys above the sample's, most of them there", 100, 0, 3, 3, 0, false, true},
};

static void make_rows(const struct scenario *c)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        const bool late = i >= LATE, above = !c->late_keys && i >= SAMPLE;
        const int32_t key = c->least + (int32_t)(above ? 1000 + next() % 20000 : next() % (late ? c->late_keys : c->keys));
        rows[i] = (row){key, i, ((next() << 33) ^ next()) & (late ? c->late_rest : c->rest), 77};
    }
}

static int by_key_and_place(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static const hdst__sort_field by_key = {offsetof(row, key), HDST__I32, 32, false};

static hdst__msd_slices *take_slices(hdst__budget *budget, const hdst__allocator *allocator, uint64_t size, hdst_status *status)
{
    const hdst__row_run run[] = {{came, 0}, {came, SAMPLE}};
    const hdst__msd_sort sample = {.allocator = allocator, .fields = &by_key, .field_count = 1, .size = size, .runs = run, .run_count = 2, .count = SAMPLE};
    hdst__msd_slices *slices = hdst__msd_slices_create(&sample, budget, COUNT);
    cr_assert(slices);
    *status = HDST_OK;
    for (uint32_t at = 0, slice; at < COUNT && *status == HDST_OK; at += slice) {
        slice = (uint32_t)(1 + next() % 3000);
        if (slice > COUNT - at) slice = COUNT - at;
        *status = hdst__msd_slices_take(slices, came + at * size, slice, NULL);
    }
    return slices;
}

static hdst_status keep_given(void *user, const char *given, uint64_t count, hdst_error *error)
{
    const uint64_t size = *(const uint64_t *)user;
    (void)error;
    memcpy(sorted + given_count * size, given, count * size);
    given_count += count;
    return HDST_OK;
}

static void open_budget(hdst__budget *budget, uint64_t bytes) { hdst__budget_init(budget, "memory", "memory", bytes); }

// What is given back holds records of each key as they came.
static void check_given(hdst__msd_slices *slices, uint64_t size, uint64_t count, const char *what)
{
    given_count = 0;
    cr_assert_eq(hdst__msd_slices_give(slices, keep_given, &size, NULL), HDST_OK);
    cr_assert_eq(given_count, count);
    for (uint64_t i = 0; i < count; i++) {
        row r = {0};
        memcpy(&r, sorted + i * size, size);
        cr_assert_lt(r.place, count, "%s", what);
        cr_assert(!memcmp(&r, &rows[r.place], size), "%s: %u", what, (unsigned)i);
        expected[i] = r;
    }
    int32_t *last = calloc(1 << 21, sizeof *last);
    for (uint64_t i = 0; i < count; i++) {
        int32_t *seen = &last[expected[i].key + 1000];
        cr_assert_gt((int32_t)expected[i].place + 1, *seen, "%s: records of a key in another order", what);
        *seen = (int32_t)expected[i].place + 1;
    }
    free(last);
}

static void check(const struct scenario *c, uint64_t size)
{
    hdst__budget budget;
    hdst_status status;
    bool done;
    open_budget(&budget, UINT64_MAX);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    hdst__msd_slices *slices = take_slices(&budget, &allocator, size, &status);
    cr_assert_eq(status, HDST_OK);
    check_given(slices, size, COUNT, c->what);
    memcpy(expected, rows, sizeof rows);
    qsort(expected, COUNT, sizeof *expected, by_key_and_place);
    memset(sorted, 0xff, sizeof sorted);
    cr_assert_eq(hdst__msd_slices_end(slices, sorted, &done, NULL), HDST_OK);
    cr_assert(done, "%s", c->what);
    cr_assert_eq(hdst__msd_slices_were_dealt_again(slices), c->again, "%s", c->what);
    cr_assert_eq(hdst__msd_slices_are_packed(slices), c->packed, "%s, %u bytes", c->what, (unsigned)size);
    for (uint32_t i = 0; i < COUNT; i++) cr_assert(!memcmp(sorted + i * size, &expected[i], size), "%s, %u bytes: %u", c->what, (unsigned)size, i);
    hdst__msd_slices_destroy(slices);
    cr_assert_eq(budget.used, 0);
}

static void make_input(const struct scenario *c, uint64_t size)
{
    make_rows(c);
    for (uint32_t i = 0; i < COUNT; i++) memcpy(came + i * size, &rows[i], size);
}

Test(msd_packed, what_differs_in_few_bits_and_what_does_not_any_more)
{
    for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++) {
        for (uint64_t size = 16; size <= sizeof(row); size += 8) {
            state = k;
            make_input(&scenarios[k], size);
            check(&scenarios[k], size);
        }
    }
}

// Packed, they take half of what they take as they are.
Test(msd_packed, buckets_are_smaller)
{
    uint64_t used[2];
    for (int k = 0; k < 2; k++) {
        hdst__budget budget;
        hdst_status status;
        open_budget(&budget, UINT64_MAX);
        const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
        make_input(&scenarios[k ? 6 : 0], sizeof(row));
        hdst__msd_slices *slices = take_slices(&budget, &allocator, sizeof(row), &status);
        used[k] = budget.used;
        hdst__msd_slices_destroy(slices);
    }
    cr_assert_lt(2 * used[0], used[1]);
}

// Wherever the memory ends, those that were taken are there, and no others.
Test(msd_packed, memory_that_ends)
{
    const uint64_t sizes[] = {16, 24};
    for (uint64_t bytes = 700 << 10, k = 0; bytes < 4 << 20; bytes += 50 << 10, k++) {
        hdst__budget budget;
        hdst_status status;
        open_budget(&budget, bytes);
        const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
        make_input(&scenarios[k % 2 ? 5 : 4], sizes[k / 2 % 2]);
        hdst__msd_slices *slices = take_slices(&budget, &allocator, sizes[k / 2 % 2], &status);
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY);
        cr_assert_eq(status == HDST_OK, hdst__msd_slices_count(slices) == COUNT);
        check_given(slices, sizes[k / 2 % 2], hdst__msd_slices_count(slices), "little memory");
        hdst__msd_slices_destroy(slices);
        cr_assert_eq(budget.used, 0);
    }
}
