// SPDX-License-Identifier: Apache-2.0
// A run that is cancelled while its last record is read does none of the work that would follow on the host: sorting,
// grouping, parting, reducing by key, merging.
#include "shuffle/aggregate/aggregate.h"
#include "engine/engine_state.h"
#include "shuffle/group/group_large.h"
#include "shuffle/group/group_order.h"
#include "shuffle/group/repartition.h"
#include "shuffle/sort/sort_host.h"
#include "shuffle/sort/sort_state.h"
#include "tests/shuffle/pairs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 200000 };

typedef struct job {
    hdst__cancel cancel;
    hdst__engine *engine;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record;
    hdst__reader reader;
    uint64_t cancel_at;         // the record whose reading cancels; RECORDS: none
    uint64_t asked_after;       // records that were wanted after that
    hdst_error error;
} job;

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    job *j = user;
    (void)error;
    if (hdst__cancel_asked(&j->cancel)) j->asked_after += count;
    fill_pairs(first, count, storage, buffers, to_first);
    if (first <= j->cancel_at && j->cancel_at < first + count) hdst__cancel_ask(&j->cancel);
    return HDST_OK;
}

static void open_job(job *j, uint64_t memory)
{
    *j = (job){.cancel_at = RECORDS};
    j->engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = memory, .cancel = &j->cancel});
    hdst__arena_init(&j->arena, NULL, &j->out_of_memory);
    cr_assert(setjmp(j->out_of_memory) == 0);
    j->record = make_record(&j->arena, HDST__U64, 2);
    j->reader = (hdst__reader){fill, j, RECORDS, j->record, HDST__AOS, 0};
}

static void close_job(job *j)
{
    cr_assert_eq(atomic_load(&j->engine->runtime.memory.used), 0, "what a cancelled run took is given back");
    hdst__arena_destroy(&j->arena);
    hdst__engine_destroy(j->engine);
}

typedef hdst_status (*step)(job *j, void *object);

// Cancelled at the last record, it ends so; not cancelled, it ends well.
static void expect_ends(job *j, step run, void *object)
{
    for (int cancels = 1; cancels >= 0; cancels--) {
        j->cancel_at = cancels ? RECORDS - 1 : RECORDS;
        hdst__cancel_begin(&j->cancel);
        cr_assert_eq(run(j, object), cancels ? HDST_E_CANCELLED : HDST_OK, "%d: %s", cancels, j->error.message);
        hdst__cancel_end(&j->cancel);
    }
}

static hdst_status run_sort(job *j, void *object) { return hdst__sort_run(object, &j->reader, NULL, NULL, false, &j->error); }

Test(cancel, sorts_in_memory_and_through_runs)
{
    static const hdst__sort_key key = {.leaf = 0};
    const uint64_t budgets[] = {UINT64_C(1) << 30, 2 << 20};
    for (size_t i = 0; i < 2; i++) {
        job j;
        open_job(&j, budgets[i]);
        hdst__sort *sort = hdst__sort_create(j.engine, j.record, &key, 1);
        expect_ends(&j, run_sort, sort);
        cr_assert_eq(sort->runs.count > 1, i == 1);
        hdst__sort_destroy(sort);
        close_job(&j);
    }
}

// Between the reading of the last run and the result stand merges of runs.
Test(cancel, merges_of_sorted_runs)
{
    static const hdst__sort_key key = {.leaf = 0};
    job j;
    char rows[100 * sizeof(pair)];
    open_job(&j, 2 << 20);
    hdst__sort *sort = hdst__sort_create(j.engine, j.record, &key, 1);
    hdst__cancel_begin(&j.cancel);
    cr_assert_eq(run_sort(&j, sort), HDST_OK);
    cr_assert_eq(hdst__sort_runs_read(&sort->runs, 0, 100, rows, &j.error), HDST_OK);
    hdst__cancel_ask(&j.cancel);
    cr_assert_eq(hdst__sort_runs_read(&sort->runs, 100, 100, rows, &j.error), HDST_E_CANCELLED);
    hdst__cancel_end(&j.cancel);
    hdst__sort_destroy(sort);
    close_job(&j);
}

Test(cancel, the_merge_sort_leaves_entries_where_they_are)
{
    enum { N = 1000 };
    pair rows[N];
    hdst__cancel cancel = {0};
    hdst__sort_entry entries[N], scratch[N];
    const hdst__sort_field field = {0};
    for (uint64_t i = 0; i < N; i++) rows[i] = (pair){N - i, 0}, entries[i] = scratch[i] = (hdst__sort_entry){0, 77};
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert_null(hdst__sort_entries(&field, 1, (const char *)rows, sizeof *rows, N, entries, scratch, &cancel));
    for (uint64_t i = 0; i < N; i++) cr_assert(entries[i].index == 77 && scratch[i].index == 77);
}

static hdst_status run_grouping(job *j, void *object)
{
    hdst__group *g = object;
    bool more = true;
    hdst_status status = hdst__group_start(g, &j->reader, &j->error);
    while (status == HDST_OK && more) status = hdst__group_next(g, &j->reader, &more, &j->error);
    hdst__group_release(g);
    return status;
}

Test(cancel, groups)
{
    static const hdst__key_field key = {offsetof(pair, key), HDST__U64};
    job j;
    hdst__group g;
    open_job(&j, UINT64_C(1) << 30);
    hdst__group_init(&g, j.engine, j.record, &key, 1);
    expect_ends(&j, run_grouping, &g);
    close_job(&j);
}

// Whoever is asked before any of it began has done nothing when it ends.
Test(cancel, records_are_not_put_in_order)
{
    static const hdst__key_field key = {offsetof(pair, key), HDST__U64};
    job j;
    hdst__group g;
    open_job(&j, UINT64_C(1) << 30);
    hdst__group_init(&g, j.engine, j.record, &key, 1);
    cr_assert_eq(hdst__group_start(&g, &j.reader, &j.error), HDST_OK);
    hdst__group_input input;
    cr_assert_eq(hdst__group_input_open(&g, &j.reader, &input, &j.error), HDST_OK);
    hdst__cancel_begin(&j.cancel);
    hdst__cancel_ask(&j.cancel);
    cr_assert_eq(hdst__group_order(&g, &input, &j.error), HDST_E_CANCELLED);
    cr_assert_null(g.rows);
    hdst__group_release(&g);
    close_job(&j);
}

// Keys of a hash whose records have no room: those of all records here, whatever their hash.
Test(cancel, keys_of_one_hash_are_not_put_in_order)
{
    static const hdst__key_field key = {offsetof(pair, key), HDST__U64};
    enum { KEYS = 1000 };
    for (int cancels = 1; cancels >= 0; cancels--) {
        job j;
        hdst__group g;
        open_job(&j, UINT64_C(1) << 30);
        j.reader.records = KEYS;
        j.cancel_at = cancels ? KEYS - 1 : KEYS;
        hdst__group_init(&g, j.engine, j.record, &key, 1);
        cr_assert_eq(hdst__group_start(&g, &j.reader, &j.error), HDST_OK);
        g.large = true;
        hdst__cancel_begin(&j.cancel);
        cr_assert_eq(hdst__group_list_large(&g, &j.reader, &j.error), cancels ? HDST_E_CANCELLED : HDST_OK, "%d: %s", cancels, j.error.message);
        hdst__cancel_end(&j.cancel);
        cr_assert_eq(g.run_count, KEYS);
        const pair *rows = (const pair *)(const void *)g.rows;
        for (uint64_t i = 0; i < KEYS; i++)
            cr_assert(cancels ? rows[i].key == i * UINT64_C(0x9e3779b97f4a7c15) >> 40 : i == 0 || rows[i - 1].key < rows[i].key, "%d: key %d", cancels, (int)i);
        hdst__group_release(&g);
        close_job(&j);
    }
}

typedef struct parts {
    hdst__repartition *parting;
    const hdst__record *number;
} parts;

// The numbers are read before and once more beside the records, whose last one cancels.
static hdst_status run_parting(job *j, void *object)
{
    parts *p = object;
    job quiet = *j;
    quiet.cancel_at = RECORDS;
    const hdst__reader numbers = {fill, &quiet, RECORDS, p->number, HDST__AOS, 0};
    return hdst__repartition_run(p->parting, &j->reader, &numbers, &j->error);
}

Test(cancel, records_in_parts)
{
    job j;
    const char *why;
    open_job(&j, UINT64_C(1) << 30);
    parts p = {hdst__repartition_create(j.engine, j.record, 16, &why), make_record(&j.arena, HDST__U32, 1)};
    expect_ends(&j, run_parting, &p);
    j.asked_after = 0;
    j.cancel_at = 0;
    hdst__cancel_begin(&j.cancel);
    cr_assert_eq(run_parting(&j, &p), HDST_E_CANCELLED);
    hdst__cancel_end(&j.cancel);
    cr_assert_eq(j.asked_after, 0, "%llu records were read after it", (unsigned long long)j.asked_after);
    hdst__repartition_destroy(p.parting);
    close_job(&j);
}

static hdst_status run_by_key(job *j, void *object)
{
    const hdst__aggregate_input input = {.reader = &j->reader};
    const void *rows;
    uint64_t count;
    hdst_status status = hdst__aggregate_run(object, &input, &rows, &count, &j->error);
    cr_assert(status != HDST_OK || count > RECORDS / 2);
    return status;
}

Test(cancel, reductions_by_key)
{
    static const uint32_t key = 0;
    static const hdst__accumulate_op sum = HDST__SUM;
    const hdst__container containers[] = {HDST__CONTAINER_TABLE, HDST__CONTAINER_PARTITIONS, HDST__CONTAINER_SORTED};
    for (size_t i = 0; i < 3; i++) {
        job j;
        open_job(&j, UINT64_C(1) << 30);
        hdst__aggregate *by_key = hdst__aggregate_create(j.engine, &(hdst__aggregate_spec){.record = j.record, .key_leaves = &key, .key_count = 1,
                                                                                           .laws = &sum, .container = containers[i]});
        expect_ends(&j, run_by_key, by_key);
        hdst__aggregate_destroy(by_key);
        close_job(&j);
    }
}
