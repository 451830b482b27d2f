// SPDX-License-Identifier: Apache-2.0
// Frozen hash tables: every key is found where its hash says, no other one is; keys that are there twice, keys that were chosen to meet, little memory.
#include "record/frozen_hash.h"
#include "shuffle/join/frozen_table.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct row { uint64_t a; int16_t b; uint32_t number; uint64_t c; } row;

enum { MOST = 20000 };
static row rows[MOST];
static const hdst__key_field narrow[] = {{offsetof(row, number), HDST__U32}}, wide[] = {{offsetof(row, a), HDST__U64}},
                             both[] = {{offsetof(row, a), HDST__U64}, {offsetof(row, c), HDST__U64}},
                             three[] = {{offsetof(row, b), HDST__I16}, {offsetof(row, a), HDST__U64}, {offsetof(row, number), HDST__U32}};

typedef struct fixture {
    hdst__budget budget;
    hdst__allocator allocator;
    hdst__thread_pool *pool;
    hdst__frozen_table table;
    hdst__frozen_spec spec;
} fixture;

static void begin(fixture *f, const hdst__key_field *key, size_t fields, uint64_t count, hdst__frozen_form form, uint64_t limit)
{
    *f = (fixture){.spec = {(const char *)rows, count, sizeof *rows, hdst__key_fields_of(key, fields), form}};
    hdst__budget_init(&f->budget, "memory", "--memory", limit);
    f->allocator = hdst__budget_allocator(&f->budget, NULL);
    f->pool = hdst__thread_pool_create(&f->allocator, 2);
    f->table = (hdst__frozen_table){.memory = &f->budget, .owner = HDST__OWNER_SORTS};
}

static hdst_status make(fixture *f, const hdst__cancel *cancel)
{
    hdst_error error;
    return hdst__frozen_table_make(&f->table, &f->spec, f->pool, cancel, &error);
}

static void end(fixture *f)
{
    hdst__frozen_table_free(&f->table);
    hdst__frozen_table_free(&f->table);
    hdst__thread_pool_destroy(f->pool);
    uint64_t owned[HDST__OWNERS];
    cr_assert_eq(hdst__budget_used(&f->budget, owned), 0);
}

static uint64_t hash_of(const hdst__key_fields *key, const row *r, uint32_t seed)
{
    uint64_t h = hdst__frozen_begin(seed);
    for (size_t i = 0; i < key->count; i++) h = hdst__frozen_add(h, hdst__key_field_read(&key->field[i], (const char *)r));
    return hdst__frozen_end(h);
}

static uint64_t slot_of(const fixture *f, const row *r)
{
    const uint32_t *d = f->table.displacements;
    const uint64_t h = hash_of(&f->spec.key, r, d[HDST__FROZEN_SEED]);
    const uint64_t bucket = hdst__frozen_bucket(h, f->table.displacement_count - HDST__FROZEN_BUCKETS);
    const uint64_t part = hdst__frozen_part(h, d[HDST__FROZEN_PARTS]), slots = d[HDST__FROZEN_PART_SLOTS];
    const uint64_t slot = part * slots + hdst__frozen_slot(h, d[HDST__FROZEN_BUCKETS + bucket], slots);
    cr_assert_lt(slot, f->table.slot_count);
    return slot;
}

static bool same(const fixture *f, const row *a, const row *b) { return !hdst__key_fields_compare(&f->spec.key, (const char *)a, (const char *)b); }

// As kernels look it up.
static const row *find(const fixture *f, const row *r)
{
    const row *at = (const row *)f->table.slots + slot_of(f, r);
    return f->table.displacements[HDST__FROZEN_KEYS] && same(f, at, r) ? at : NULL;
}

// Keys 0, 3, 6 ... of every kind: those between are not there.
static void fill_rows(void)
{
    for (uint32_t i = 0; i < MOST; i++) rows[i] = (row){UINT64_MAX - 3 * (uint64_t)i, (int16_t)(i % 7 - 3), 3 * i, i};
}

static void each_is_found(fixture *f)
{
    cr_assert_eq(make(f, NULL), HDST_OK);
    cr_assert_eq(f->table.key_count, f->spec.count);
    for (uint64_t i = 0; i < f->spec.count; i++) {
        const row *found = find(f, &rows[i]);
        cr_assert(found && found->c == rows[i].c, "row %d", (int)i);
    }
}

Test(frozen_table, each_key_is_found_and_no_other)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 5, 100, MOST};
    const struct { const hdst__key_field *key; size_t fields; } keys[] = {{narrow, 1}, {wide, 1}, {both, 2}, {three, 3}};
    fill_rows();
    for (size_t k = 0; k < 4; k++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            fixture f;
            begin(&f, keys[k].key, keys[k].fields, counts[n], HDST__FROZEN_ONLY, 64 << 20);
            each_is_found(&f);
            for (uint32_t i = 0; i < MOST; i++) {
                row other = rows[i];
                other.a--, other.number++;
                cr_assert_null(find(&f, &other));
                if (i >= counts[n]) cr_assert_null(find(&f, &rows[i]));
            }
            cr_assert_leq(hdst__budget_peak(&f.budget), hdst__frozen_table_bytes(counts[n], sizeof(row), HDST__FROZEN_ONLY) + (64 << 10));
            end(&f);
        }
}

// Slots that nobody took were zeroes.
Test(frozen_table, a_key_of_zeroes_is_found_only_where_it_is)
{
    for (uint32_t i = 0; i < MOST; i++) rows[i] = (row){.number = i + 1};
    const row zeroes = {0};
    for (uint64_t count = 1; count <= 64; count++) {
        fixture f;
        begin(&f, narrow, 1, count, HDST__FROZEN_ONLY, 64 << 20);
        cr_assert_eq(make(&f, NULL), HDST_OK);
        cr_assert_null(find(&f, &zeroes), "%d rows", (int)count);
        end(&f);
        rows[count / 2].number = 0;
        begin(&f, narrow, 1, count, HDST__FROZEN_ONLY, 64 << 20);
        each_is_found(&f);
        cr_assert_not_null(find(&f, &zeroes));
        end(&f);
        rows[count / 2].number = (uint32_t)count / 2 + 1;
    }
}

// A run has all rows of its key, in their order; the first one is what the other forms keep.
Test(frozen_table, keys_that_are_there_more_than_once)
{
    static const uint32_t distinct[] = {1, 2, 77, MOST / 2};
    for (int n = 0; n < 4; n++) {
        for (uint32_t i = 0; i < MOST; i++) rows[i] = (row){i * 7919 % distinct[n], 1, 0, i};
        fixture f;
        begin(&f, wide, 1, MOST, HDST__FROZEN_RUNS, 64 << 20);
        cr_assert_eq(make(&f, NULL), HDST_OK);
        cr_assert_eq(f.table.key_count, distinct[n]);
        uint64_t in_runs = 0;
        for (uint64_t k = 0; k < distinct[n] + 3; k++) {
            const row wanted = {.a = k};
            const hdst__frozen_run *run = (const hdst__frozen_run *)f.table.slots + slot_of(&f, &wanted);
            const row *first = (const row *)f.table.rows + run->first;
            const bool there = run->count && same(&f, first, &wanted);
            cr_assert_eq(there, k < distinct[n]);
            for (uint32_t i = 0; there && i < run->count; i++) cr_assert(first[i].a == k && (!i || first[i - 1].c < first[i].c));
            in_runs += there ? run->count : 0;
        }
        cr_assert_eq(in_runs, MOST);
        end(&f);
        begin(&f, wide, 1, MOST, HDST__FROZEN_FIRST, 64 << 20);
        cr_assert_eq(make(&f, NULL), HDST_OK);
        for (uint32_t i = 0; i < MOST; i++) cr_assert(find(&f, &rows[i])->c <= rows[i].c);
        end(&f);
        begin(&f, wide, 1, MOST, HDST__FROZEN_ONLY, 64 << 20);
        cr_assert_eq(make(&f, NULL), HDST_OK);
        cr_assert_neq(f.table.twice[0], f.table.twice[1]);
        cr_assert_eq(rows[f.table.twice[0]].a, rows[f.table.twice[1]].a);
        cr_assert_null(f.table.slots);
        end(&f);
    }
}

static uint64_t inverse_of(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

// The word that leads from one state of the hash to another.
static uint64_t word_between(uint64_t from, uint64_t to)
{
    to = (to ^ to >> 32) * inverse_of(HDST__FROZEN_WORD);
    return to ^ from;
}

// With the first seed all keys have hashes in one bucket; keys of two words have one and the same hash.
Test(frozen_table, keys_that_were_chosen_to_meet)
{
    for (int words = 1; words <= 2; words++) {
        for (uint64_t i = 0; i < MOST; i++) {
            const uint64_t hash = words == 1 ? UINT64_C(0x123456700000000) + i * 99991 : 42;
            uint64_t at = hdst__frozen_begin(0);
            rows[i] = (row){.c = i, .a = word_between(at, hash * inverse_of(HDST__FROZEN_LAST))};
            if (words == 1) continue;
            rows[i].a = i;
            rows[i].c = word_between(hdst__frozen_add(at, i), hash * inverse_of(HDST__FROZEN_LAST));
        }
        fixture f;
        begin(&f, words == 1 ? wide : both, (size_t)words, MOST, HDST__FROZEN_ONLY, 64 << 20);
        if (words == 2) cr_assert_eq(hash_of(&f.spec.key, &rows[5], 0), hash_of(&f.spec.key, &rows[MOST - 1], 0));
        else cr_assert_eq(hash_of(&f.spec.key, &rows[5], 0) >> 32, hash_of(&f.spec.key, &rows[6], 0) >> 32);
        each_is_found(&f);
        cr_assert_gt(f.table.displacements[HDST__FROZEN_SEED], 0);
        end(&f);
    }
}

Test(frozen_table, little_memory_and_a_cancel)
{
    fill_rows();
    fixture f;
    for (uint64_t limit = 100 << 10; limit <= 1600 << 10; limit += 100 << 10) {
        begin(&f, narrow, 1, MOST, HDST__FROZEN_RUNS, limit);
        const hdst_status status = make(&f, NULL);
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY);
        if (limit < 700 << 10) cr_assert_eq(status, HDST_E_MEMORY);
        cr_assert_eq(status != HDST_OK, !f.table.slots);
        cr_assert_leq(f.budget.peak, limit);
        end(&f);
    }
    hdst__cancel cancel = {0};
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    begin(&f, narrow, 1, MOST, HDST__FROZEN_ONLY, 64 << 20);
    cr_assert_eq(make(&f, &cancel), HDST_E_CANCELLED);
    cr_assert_null(f.table.slots);
    end(&f);
}
