// SPDX-License-Identifier: Apache-2.0
// Records by key against a plain sort by (hash, key, place): few keys, many, as many as records, keys made to share a hash, one key, dense ones.
#include "shuffle/group/group.h"

#include "record/key_hash.h"
#include "shuffle/group/group_table.h"
#include "tests/shuffle/pairs.h"

#include <stdlib.h>

enum { RECORDS = 40000 };           // of 16 bytes: several partitions

typedef struct job {
    hdst__engine *engine;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record;
    hdst__reader reader;
    pair input[RECORDS];
    hdst_error error;
} job;

static job j;
static const hdst__key_field key_field = {offsetof(pair, key), HDST__U64};

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)error;
    cr_assert_eq(storage->layout, HDST__AOS);
    memcpy((pair *)buffers[0] + to_first, (pair *)user + first, count * sizeof(pair));
    return HDST_OK;
}

static void open_job(void)
{
    j.engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = UINT64_C(1) << 30});
    hdst__arena_init(&j.arena, NULL, &j.out_of_memory);
    cr_assert(setjmp(j.out_of_memory) == 0);
    j.record = make_record(&j.arena, HDST__U64, 2);
    j.reader = (hdst__reader){fill, j.input, RECORDS, j.record, HDST__AOS, 0};
}

static void close_job(void)
{
    cr_assert_eq(atomic_load(&j.engine->runtime.memory.used), 0);
    hdst__arena_destroy(&j.arena);
    hdst__engine_destroy(j.engine);
}

// --- Keys ---

// What SplitMix64's finaliser makes this of: its steps from the last to the first, with the multipliers' inverses.
static uint64_t unmixed(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

static uint64_t few(uint64_t i) { return i * i % 7; }
static uint64_t many(uint64_t i) { return (i * 2654435761u >> 3) % 900; }
static uint64_t grows(uint64_t i) { return i * 2654435761u % 9973; }                       // past the first table
static uint64_t own(uint64_t i) { return i * 77; }
static uint64_t one(uint64_t i) { return 5 + 0 * i; }
static uint64_t some_of_one_hash(uint64_t i) { return unmixed(UINT64_C(77) << 32 | i % 11); }
static uint64_t all_of_one_hash(uint64_t i) { return unmixed(UINT64_C(0xfffffff0) << 32 | i * 31 % 4001); }
static uint64_t hundred_of_one_hash(uint64_t i) { return unmixed(UINT64_C(77) << 32 | i % 100); }
static uint64_t both(uint64_t i) { return i % 3 ? many(i) : some_of_one_hash(i); }
static uint64_t runs(uint64_t i) { return i / 100; }

static uint64_t hash_of(uint64_t key) { return hdst__key_mix64(key) >> 32; }

static int by_place(const pair *a, const pair *b) { return a->key != b->key ? (a->key < b->key ? -1 : 1) : a->value < b->value ? -1 : a->value > b->value; }

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = hash_of(((const pair *)a)->key), y = hash_of(((const pair *)b)->key);
    return x != y ? (x < y ? -1 : 1) : by_place(a, b);
}

static int by_key(const void *a, const void *b) { return by_place(a, b); }

static void expect_runs(const hdst__group *g, const pair *expected)
{
    uint64_t at = 0;
    for (uint64_t r = 0; r < g->run_count; r++) {
        cr_assert(g->run[r].first == at && g->run[r].count > 0);
        at += g->run[r].count;
        for (uint64_t i = g->run[r].first; i < at; i++) cr_assert_eq(expected[i].key, expected[g->run[r].first].key);
        cr_assert(at == RECORDS || expected[at].key != expected[at - 1].key);
    }
    cr_assert_eq(at, RECORDS);
}

static void expect_order(hdst__group *g, const char *name)
{
    static pair expected[RECORDS];
    bool more;
    memcpy(expected, j.input, sizeof expected);
    qsort(expected, RECORDS, sizeof *expected, g->dense ? by_key : by_hash);
    cr_assert_eq(hdst__group_start(g, &j.reader, &j.error), HDST_OK);
    cr_assert_eq(hdst__group_next(g, &j.reader, &more, &j.error), HDST_OK);
    cr_assert(more && g->row_count == RECORDS);
    cr_assert_arr_eq(g->rows, expected, sizeof expected, "%s", name);
    expect_runs(g, expected);
    cr_assert_eq(hdst__group_next(g, &j.reader, &more, &j.error), HDST_OK);
    cr_assert_not(more);
}

static const struct { const char *name; uint64_t (*key)(uint64_t i); bool may_be_dense; } cases[] = {
    {"few", few, true}, {"many", many, true}, {"grows", grows, true}, {"own", own, true}, {"one", one, true}, {"runs", runs, true},
    {"some of one hash", some_of_one_hash, false}, {"hundred of one hash", hundred_of_one_hash, false}, {"all of one hash", all_of_one_hash, false},
    {"both", both, false},
};

static void fill_input(uint64_t (*key)(uint64_t i))
{
    for (uint64_t i = 0; i < RECORDS; i++) j.input[i] = (pair){key(i), i};
}

Test(group_order, rows_are_those_of_a_plain_sort)
{
    open_job();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hdst__group g;
        fill_input(cases[c].key);
        hdst__group_init(&g, j.engine, j.record, &key_field, 1);
        expect_order(&g, cases[c].name);
        for (int wide = 0; wide < 2 && cases[c].may_be_dense; wide++) {
            g.dense = true;
            g.dense_rows = wide ? UINT64_C(1) << 52 : RECORDS * 77;
            expect_order(&g, cases[c].name);
        }
        hdst__group_release(&g);
    }
    close_job();
}

// Nobody makes the engine look at the same slots over and over.
Test(group_order, keys_made_to_collide_are_sorted)
{
    hdst__group g;
    hdst__group_table table = {0};
    open_job();
    hdst__group_init(&g, j.engine, j.record, &key_field, 1);
    for (int few_keys = 0; few_keys < 2; few_keys++) {
        fill_input(few_keys ? hundred_of_one_hash : all_of_one_hash);
        cr_expect_not(hdst__group_table_fill(&table, &g, (const char *)j.input, RECORDS, 0, 32), "%d", few_keys);
        hdst__group_table_free(&table, &g);
    }
    fill_input(many);
    cr_expect(hdst__group_table_fill(&table, &g, (const char *)j.input, RECORDS, 0, 32));
    cr_expect_eq(table.keys, 900);
    hdst__group_table_free(&table, &g);
    close_job();
}

Test(group_order, memory_of_rows_stays_from_run_to_run_where_there_is_plenty)
{
    hdst__group g;
    open_job();
    hdst__group_init(&g, j.engine, j.record, &key_field, 1);
    fill_input(many);
    expect_order(&g, "first");
    hdst__group_rest(&g);
    cr_expect_geq(atomic_load(&j.engine->runtime.memory.used), sizeof j.input);
    expect_order(&g, "second");
    j.engine->runtime.memory.limit = atomic_load(&j.engine->runtime.memory.used) + sizeof j.input;
    hdst__group_rest(&g);
    cr_expect_eq(atomic_load(&j.engine->runtime.memory.used), 0);
    hdst__group_release(&g);
    close_job();
}
