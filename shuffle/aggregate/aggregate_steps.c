// SPDX-License-Identifier: Apache-2.0
// The steps of a run, on all its threads: workers are made, records added, partitions reduced, what was counted is noted.
#include "shuffle/aggregate/aggregate_steps.h"

#include "engine/stage/executor.h"
#include "engine/common/run_stats.h"
#include "record/key_hash.h"
#include "shuffle/aggregate/aggregate_block.h"
#include "shuffle/aggregate/aggregate_choose.h"
#include "shuffle/aggregate/aggregate_chunks.h"
#include "shuffle/aggregate/aggregate_combine.h"
#include "shuffle/aggregate/aggregate_input.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_partition.h"
#include "shuffle/aggregate/aggregate_result.h"
#include "shuffle/aggregate/aggregate_spill.h"
#include "shuffle/aggregate/aggregate_texts.h"
#include "base/clock.h"
#include "base/costs_host.h"

#include <string.h>

typedef hdst_status (*step)(hdst__aggregate_worker *worker);

typedef struct task {
    hdst__aggregation *run;
    step what;
} task;

static void run_task(void *user, uint64_t i)
{
    const task *t = user;
    hdst__aggregation *run = t->run;
    run->worker[i].status = t->what(&run->worker[i]);
    if (run->worker[i].status == HDST_OK) return;
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->stop, true);
    pthread_cond_broadcast(&run->counted);
    pthread_mutex_unlock(&run->lock);
}

// The first error of all threads ends the run.
static hdst_status in_threads(hdst__aggregation *run, step what, uint32_t count, hdst_error *error)
{
    task t = {run, what};
    hdst__thread_pool_run(hdst__engine_threads(run->engine), count, run_task, &t);
    for (uint32_t i = 0; i < count; i++) {
        if (run->worker[i].status == HDST_OK) continue;
        if (error) *error = run->worker[i].error;
        return run->worker[i].status;
    }
    return HDST_OK;
}

// --- Steps ---

static hdst_status make_worker(hdst__aggregation *run, hdst__aggregate_worker *worker, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    const hdst__aggregation_layout *layout = run->layout;
    const hdst__aggregate_choice *choice = &run->choice;
    worker->run = run;
    worker->allocator = *allocator;
    hdst__overflow_rows_init(&worker->overflow, layout, run->seed, &worker->allocator);
    worker->blocks = choice->blocks;
    worker->stray = UINT64_MAX;
    worker->raw.allocator = worker->rows.allocator = allocator;
    const uint64_t chunk = hdst__aggregate_share(run) / HDST__HOST_CHUNK_SHARE >> choice->partition_bits;
    bool made = hdst__key_batch_create(&worker->batch, allocator, layout);
    made = made && hdst__radix_partitions_create(&worker->raw, allocator, choice->partition_bits, layout->raw_bytes, hdst__aggregate_more, worker);
    made = made && hdst__radix_partitions_create(&worker->rows, allocator, choice->partition_bits, layout->row_words * 8, hdst__aggregate_more, worker);
    hdst__radix_partitions_limit(&worker->raw, chunk);
    hdst__radix_partitions_limit(&worker->rows, chunk);
    made = made && (!choice->blocks || hdst__key_table_create(&worker->block, allocator, layout->row_words, layout->key_words, choice->block_bits, 0));
    worker->combines = !choice->sorted && choice->class_count[HDST__CLASS_SUPERACCUMULATOR] == 0 &&
        hdst__engine_settings(run->engine)->hpr != HDST__HPR_NONE && worker->raw.chunk_room == worker->rows.chunk_room;
    made = hdst__aggregate_make_copy(run, &worker->copy) && made;
    made = hdst__partition_piece_create(&worker->piece, allocator, choice->partition_bits, layout->key_words) && made;
    hdst__aggregate_make_keeper(worker);
    if (!made) return hdst__error_memory(error, "a reduce by key");
    if (hdst__aggregate_buffer(worker) && hdst__aggregate_first_slab(worker)) return HDST_OK;
    *error = worker->error;
    return error->code;
}

static void free_worker(hdst__aggregation *run, hdst__aggregate_worker *worker)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    if (!worker->run) return;
    hdst__key_batch_destroy(&worker->batch, allocator);
    hdst__radix_partitions_destroy(&worker->raw);
    hdst__radix_partitions_destroy(&worker->rows);
    hdst__key_table_destroy(&worker->block);
    hdst__key_table_destroy(&worker->table);
    hdst__overflow_rows_clear(&worker->overflow);
    hdst__direct_table_destroy(&worker->direct_table);
    hdst__free(allocator, worker->direct_rows);
    hdst__aggregate_free_copy(run, worker->copy);
    hdst__row_sorter_destroy(worker->sorter);
    hdst__aggregate_free_combiner(worker);
    hdst__free(&worker->allocator, worker->sorted);
    hdst__partition_piece_destroy(&worker->piece, allocator);
    hdst__free(allocator, worker->buffer);
    hdst__aggregate_keep_slabs(run, worker->slabs);
    hdst__aggregate_keep_slabs(run, worker->spare);
}

static hdst_status make_workers(hdst__aggregation *run, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    run->workers = hdst__aggregate_threads(run);
    run->worker = hdst__alloc_zero(allocator, run->workers * sizeof *run->worker);
    run->result = hdst__alloc_zero(allocator, (sizeof *run->result << run->choice.partition_bits) + sizeof *run->result);
    if (!run->worker || !run->result) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < run->workers && status == HDST_OK; i++) status = make_worker(run, &run->worker[i], error);
    return status;
}

void hdst__aggregate_begin_run(hdst__aggregation *run)
{
    if (hdst__engine_limits(run->engine)->by_key_look_after) run->layout->look_after = hdst__engine_limits(run->engine)->by_key_look_after;
    if (hdst__engine_limits(run->engine)->by_key_full) run->layout->full = (int64_t)hdst__engine_limits(run->engine)->by_key_full;
    const double now = hdst__now();
    memcpy(&run->seed, &now, sizeof run->seed);
    run->seed = hdst__key_mix64(run->seed ^ (uintptr_t)run);       // of the clock and of where memory lies: nobody can make keys for it
    run->room = hdst__budget_left(hdst__engine_memory(run->engine));
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->counted, NULL);
}

void hdst__aggregate_end_run(hdst__aggregation *run)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    for (uint32_t i = 0; run->worker && i < run->workers; i++) free_worker(run, &run->worker[i]);
    for (uint32_t p = 0; run->result && p < UINT32_C(1) << run->choice.partition_bits; p++)
        hdst__aggregate_give_partition(run, &run->result[p]);
    hdst__aggregate_forget_spilled(run);
    hdst__free(allocator, run->worker);
    hdst__free(allocator, run->result);
    pthread_cond_destroy(&run->counted);
    pthread_mutex_destroy(&run->lock);
}

static void note_stats(hdst__aggregation *run)
{
    hdst__aggregate *aggregate = run->aggregate;
    uint64_t in = 0, to_partitions = 0, out = 0, flushes = 0, strays = 0;
    memset(hdst__engine_limits(aggregate->engine)->by_key_moved, 0, sizeof hdst__engine_limits(aggregate->engine)->by_key_moved);
    aggregate->combined_in = aggregate->combined_out = aggregate->crowded_partitions = aggregate->crowded_blocks = 0;
    aggregate->longest = aggregate->pieces = aggregate->range_count = 0;
    for (uint32_t i = 0; i < run->workers; i++) {
        in += run->worker[i].in;
        to_partitions += run->worker[i].to_partitions;
        out += run->worker[i].out;
        flushes += run->worker[i].flushes;
        aggregate->combined_in += run->worker[i].combined_in;
        aggregate->combined_out += run->worker[i].combined_out;
        strays += run->worker[i].strays;
        aggregate->crowded_partitions += run->worker[i].crowded_partitions;
        aggregate->crowded_blocks += run->worker[i].block_was_crowded;
        aggregate->pieces += run->worker[i].piece.pieces;
        aggregate->range_count += run->worker[i].piece.range_count;
        for (int from = 0; from < 2; from++) hdst__engine_limits(aggregate->engine)->by_key_moved[from] += run->worker[i].moved[from];
        hdst__engine_limits(aggregate->engine)->by_key_moved[2] += run->worker[i].overflow.moved;
        if (run->worker[i].longest > aggregate->longest) aggregate->longest = run->worker[i].longest;
    }
    aggregate->choice = run->choice;
    hdst__engine_limits(aggregate->engine)->by_key_longest = aggregate->longest;
    aggregate->ran = true;
    aggregate->keys = out;
    aggregate->flushes = flushes;
    aggregate->spilled = run->spill.bytes;
    aggregate->stats.records = in;
    hdst__levels_count(&aggregate->stats, hdst__engine_settings(aggregate->engine)->hpr, in, to_partitions, out);
    aggregate->stats.skipped = strays;
}

static void note_stray(hdst__aggregation *run)
{
    hdst__aggregate *aggregate = run->aggregate;
    for (uint32_t i = 0; i < run->workers; i++) {
        const hdst__aggregate_worker *worker = &run->worker[i];
        if (worker->stray >= aggregate->stray) continue;
        aggregate->stray = worker->stray;
        aggregate->stray_key = worker->stray_key;
    }
}

hdst_status hdst__aggregate_begin(hdst__aggregation *run, hdst_error *error)
{
    run->room = hdst__budget_left(hdst__engine_memory(run->engine));
    hdst_status status = hdst__aggregate_take_texts(run, error);
    if (status == HDST_OK) status = hdst__aggregate_choose(run, error);
    if (status == HDST_OK && run->layout->rows) status = hdst__aggregate_take_rows(run, error);
    else if (status == HDST_OK) hdst__aggregate_expect_rows(run);
    return status == HDST_OK ? make_workers(run, error) : status;
}

hdst_status hdst__aggregate_add(hdst__aggregation *run, hdst_error *error)
{
    const uint32_t threads = hdst__aggregate_threads_for(run, run->end - run->next_record);
    const hdst_status status = in_threads(run, hdst__aggregate_blocks, threads < run->workers ? threads : run->workers, error);
    note_stray(run);
    return status;
}

// Tables of texts may have grown to far more keys than the first records let expect. Their rows come to partitions in the order of the hash, in which a table
// that is too small is crowded before it is full.
static void expect_keys_of_blocks(hdst__aggregation *run)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->workers; i++)
        if (run->worker[i].block.count > most) most = run->worker[i].block.count;
    if (run->layout->texts) hdst__aggregate_expect_keys(run, most);
}

hdst_status hdst__aggregate_finish(hdst__aggregation *run, hdst_error *error)
{
    const bool rows = run->layout->rows;
    const uint32_t partitions = UINT32_C(1) << run->choice.partition_bits, threads = rows || partitions > run->workers ? run->workers : partitions;
    expect_keys_of_blocks(run);
    hdst_status status = in_threads(run, hdst__aggregate_flush, run->workers, error);
    if (status == HDST_OK) status = hdst__aggregate_spill_rest(run, error);
    for (uint32_t i = 0; i < run->workers && status == HDST_OK && !rows; i++) {
        hdst__aggregate_free_combiner(&run->worker[i]);         // its memory is for partitions too
        hdst__key_table_destroy(&run->worker[i].table);
    }
    if (status == HDST_OK && !rows) hdst__aggregate_share_memory(run, threads);
    if (rows) hdst__aggregate_plan_direct(run);
    if (status == HDST_OK) status = in_threads(run, rows ? hdst__aggregate_reduce_direct : hdst__aggregate_reduce_partitions, threads, error);
    if (status == HDST_OK) status = rows ? hdst__aggregate_end_rows(run, error) : hdst__aggregate_join(run, error);
    if (status == HDST_OK) note_stats(run);
    return status;
}
