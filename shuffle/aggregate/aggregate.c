// SPDX-License-Identifier: Apache-2.0
// Reductions by key in host memory (shuffle/aggregate/aggregate.h): threads and the order of steps.
#include "shuffle/aggregate/aggregate_run.h"

#include "record/key_hash.h"
#include "engine/stage/executor.h"
#include "engine/stage/reduction_levels.h"
#include "engine/threads.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_RECORDS = 1 << 15 /* for a thread of its own */ };

// --- The object ---

hdst__aggregate *hdst__aggregate_create(hdst__engine *engine, const hdst__aggregate_spec *spec)
{
    jmp_buf out_of_memory;
    hdst__aggregate *aggregate = hdst__alloc_zero(engine->allocator, sizeof *aggregate);
    if (!aggregate) return NULL;
    aggregate->engine = engine;
    aggregate->container = spec->container;
    hdst__arena_init(&aggregate->arena, engine->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__aggregate_destroy(aggregate);
        return NULL;
    }
    aggregate->unchecked = spec->unchecked;
    aggregate->layout = spec->rows ? hdst__aggregation_layout_make_rows(&aggregate->arena, spec->record, *spec->key_leaves, spec->laws, spec->rows, spec->row_count)
                               : hdst__aggregation_layout_make(&aggregate->arena, spec->record, spec->key_leaves, spec->key_count, spec->laws);
    aggregate->arena.out_of_memory = NULL;
    aggregate->on_device = hdst__aggregate_device_create(engine, aggregate->layout);
    if (aggregate->on_device) return aggregate;
    hdst__aggregate_destroy(aggregate);
    return NULL;
}

void hdst__aggregate_forget(hdst__aggregate *aggregate)
{
    pthread_mutex_lock(&aggregate->engine->mutex);
    hdst__aggregate_drop(aggregate);
    hdst__aggregate_free_kept(aggregate);
    pthread_mutex_unlock(&aggregate->engine->mutex);
}

void hdst__aggregate_destroy(hdst__aggregate *aggregate)
{
    if (!aggregate) return;
    pthread_mutex_lock(&aggregate->engine->mutex);
    hdst__aggregate_drop(aggregate);
    hdst__aggregate_free_kept(aggregate);
    hdst__aggregate_device_destroy(aggregate->on_device);
    pthread_mutex_unlock(&aggregate->engine->mutex);
    hdst__arena_destroy(&aggregate->arena);
    hdst__free(aggregate->engine->allocator, aggregate);
}

bool hdst__aggregate_stray(const hdst__aggregate *aggregate, uint64_t *record, uint64_t *key)
{
    *record = aggregate->stray;
    *key = aggregate->stray_key;
    return aggregate->stray != UINT64_MAX && !aggregate->engine->skip_failed;
}

const hdst__run_stats *hdst__aggregate_stats(const hdst__aggregate *aggregate) { return &aggregate->stats; }
hdst__dataset_cache *hdst__aggregate_resident(hdst__aggregate *aggregate) { return aggregate->device_did ? hdst__aggregate_device_rows(aggregate->on_device) : NULL; }

// --- Threads ---

typedef struct task {
    hdst__aggregation *run;
    hdst__aggregate_step step;
} task;

static void run_task(void *user, uint32_t i)
{
    const task *t = user;
    hdst__aggregation *run = t->run;
    run->worker[i].status = t->step(&run->worker[i]);
    if (run->worker[i].status == HDST_OK) return;
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->stop, true);
    pthread_cond_broadcast(&run->counted);
    pthread_mutex_unlock(&run->lock);
}

// The first error of all threads ends the run.
static hdst_status in_threads(hdst__aggregation *run, hdst__aggregate_step step, uint32_t count, hdst_error *error)
{
    task t = {run, step};
    hdst__in_threads(count, run_task, &t);
    for (uint32_t i = 0; i < count; i++) {
        if (run->worker[i].status == HDST_OK) continue;
        if (error) *error = run->worker[i].error;
        return run->worker[i].status;
    }
    return HDST_OK;
}

enum { LEAST_SHARE = 2 << 20 };         // of the budget, for a thread that is worth it

static uint32_t thread_count(uint64_t records)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t wanted = records / LEAST_RECORDS + 1, most = cores < 1 ? 1 : cores > HDST__MOST_THREADS ? HDST__MOST_THREADS : (uint64_t)cores;
    return (uint32_t)(wanted < most ? wanted : most);
}

uint32_t hdst__aggregate_threads(const hdst__aggregation *run)
{
    const uint32_t wanted = thread_count(run->records);
    const uint64_t fit = run->room / LEAST_SHARE;
    return fit >= wanted ? wanted : fit ? (uint32_t)fit : 1;
}

uint64_t hdst__aggregate_share(const hdst__aggregation *run) { return run->room / hdst__aggregate_threads(run); }

// --- Steps ---

enum { CHUNK_SHARE = 8 };               // of a thread's memory: a chunk of each partition, of raw records and of rows

static hdst_status make_worker(hdst__aggregation *run, hdst__aggregate_worker *worker, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    const hdst__aggregation_layout *layout = run->layout;
    const hdst__aggregate_choice *choice = &run->choice;
    worker->run = run;
    worker->allocator = *allocator;
    worker->blocks = choice->blocks;
    worker->stray = UINT64_MAX;
    worker->raw.allocator = worker->rows.allocator = allocator;
    const uint64_t chunk = hdst__aggregate_share(run) / CHUNK_SHARE >> choice->partition_bits;
    bool made = hdst__key_batch_create(&worker->batch, allocator, layout);
    made = made && hdst__radix_partitions_create(&worker->raw, allocator, choice->partition_bits, layout->raw_bytes, hdst__aggregate_more, worker);
    made = made && hdst__radix_partitions_create(&worker->rows, allocator, choice->partition_bits, layout->row_words * 8, hdst__aggregate_more, worker);
    hdst__radix_partitions_limit(&worker->raw, chunk);
    hdst__radix_partitions_limit(&worker->rows, chunk);
    made = made && (!choice->blocks || hdst__key_table_create(&worker->block, allocator, layout->row_words, layout->key_words, choice->block_bits, 0));
    worker->combines = !choice->sorted && choice->tier_count[HDST__TIER_WIDE] == 0 && run->engine->hpr != HDST__HPR_NONE && worker->raw.chunk_room == worker->rows.chunk_room;
    made = hdst__aggregate_piece_memory(run, &worker->piece) && made;
    made = hdst__aggregate_make_bounds(worker) && made;
    if (!made) return hdst__error_memory(error, "a reduce by key");
    if (hdst__aggregate_buffer(worker) && hdst__aggregate_first_slab(worker)) return HDST_OK;
    *error = worker->error;
    return error->code;
}

static void free_worker(hdst__aggregation *run, hdst__aggregate_worker *worker)
{
    const hdst__allocator *allocator = run->engine->allocator;
    if (!worker->run) return;
    hdst__key_batch_destroy(&worker->batch, allocator);
    hdst__radix_partitions_destroy(&worker->raw);
    hdst__radix_partitions_destroy(&worker->rows);
    hdst__key_table_destroy(&worker->block);
    hdst__key_table_destroy(&worker->table);
    hdst__key_table_destroy(&worker->wide);
    hdst__direct_table_destroy(&worker->direct_table);
    hdst__aggregate_free_piece(run, worker->piece);
    hdst__aggregate_free_sorter(worker);
    hdst__aggregate_free_combiner(worker);
    hdst__free(&worker->allocator, worker->sorted);
    hdst__free(allocator, worker->bounds);
    hdst__free(allocator, worker->buffer);
    hdst__aggregate_keep_slabs(run, worker->slabs);
    hdst__aggregate_keep_slabs(run, worker->spare);
}

static hdst_status make_workers(hdst__aggregation *run, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    run->workers = hdst__aggregate_threads(run);
    run->worker = hdst__alloc_zero(allocator, run->workers * sizeof *run->worker);
    run->result = hdst__alloc_zero(allocator, (sizeof *run->result << run->choice.partition_bits) + sizeof *run->result);
    if (!run->worker || !run->result) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < run->workers && status == HDST_OK; i++) status = make_worker(run, &run->worker[i], error);
    return status;
}

void hdst__aggregate_init_pass(hdst__aggregation *run)
{
    if (run->engine->by_key_look_after) run->layout->look_after = run->engine->by_key_look_after;
    if (run->engine->by_key_full) run->layout->full = (int64_t)run->engine->by_key_full;
    const double now = hdst__now();
    memcpy(&run->seed, &now, sizeof run->seed);
    run->seed = hdst__key_mix64(run->seed ^ (uintptr_t)run);       // of the clock and of where memory lies: nobody can make keys for it
    run->room = hdst__budget_left(&run->engine->memory);
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->counted, NULL);
}

void hdst__aggregate_end_pass(hdst__aggregation *run)
{
    const hdst__allocator *allocator = run->engine->allocator;
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
    memset(aggregate->engine->by_key_moved, 0, sizeof aggregate->engine->by_key_moved);
    aggregate->combined_in = aggregate->combined_out = aggregate->crowded_partitions = aggregate->crowded_blocks = aggregate->longest = aggregate->pieces = aggregate->range_count = 0;
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
        aggregate->pieces += run->worker[i].pieces;
        aggregate->range_count += run->worker[i].range_count;
        for (int from = 0; from < 3; from++) aggregate->engine->by_key_moved[from] += run->worker[i].moved[from];
        if (run->worker[i].longest > aggregate->longest) aggregate->longest = run->worker[i].longest;
    }
    aggregate->choice = run->choice;
    aggregate->engine->by_key_longest = aggregate->longest;
    aggregate->ran = true;
    aggregate->keys = out;
    aggregate->flushes = flushes;
    aggregate->spilled = run->spill.bytes;
    aggregate->stats.records = in;
    hdst__levels_count(&aggregate->stats, aggregate->engine->hpr, in, to_partitions, out);
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
    run->room = hdst__budget_left(&run->engine->memory);
    hdst_status status = hdst__aggregate_choose(run, error);
    if (status == HDST_OK && run->layout->rows) status = hdst__aggregate_take_rows(run, error);
    else if (status == HDST_OK) hdst__aggregate_expect_rows(run);
    return status == HDST_OK ? make_workers(run, error) : status;
}

hdst_status hdst__aggregate_add(hdst__aggregation *run, hdst_error *error)
{
    const uint32_t threads = thread_count(run->end - run->next_record);
    const hdst_status status = in_threads(run, hdst__aggregate_blocks, threads < run->workers ? threads : run->workers, error);
    note_stray(run);
    return status;
}

hdst_status hdst__aggregate_finish(hdst__aggregation *run, hdst_error *error)
{
    const bool rows = run->layout->rows;
    const uint32_t partitions = UINT32_C(1) << run->choice.partition_bits, threads = rows || partitions > run->workers ? run->workers : partitions;
    hdst_status status = in_threads(run, hdst__aggregate_flush, run->workers, error);
    if (status == HDST_OK) status = hdst__aggregate_spill_rest(run, error);
    if (status == HDST_OK && !rows) hdst__aggregate_share_memory(run, threads);
    if (status == HDST_OK) status = in_threads(run, rows ? hdst__aggregate_reduce_direct : hdst__aggregate_reduce_partitions, threads, error);
    if (status == HDST_OK && !rows) status = hdst__aggregate_join(run, error);
    if (status == HDST_OK) note_stats(run);
    return status;
}

static hdst_status run_steps(hdst__aggregation *run, hdst_error *error)
{
    jmp_buf out_of_memory;
    run->arena->out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = hdst__aggregate_open_input(run, error);
    if (status == HDST_OK) status = hdst__aggregate_begin(run, error);
    if (status == HDST_OK) status = hdst__aggregate_add(run, error);
    return status == HDST_OK ? hdst__aggregate_finish(run, error) : status;
}

// What was taken is given back however the steps end.
static hdst_status run_in(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    hdst__arena arena;
    hdst__arena_init(&arena, aggregate->engine->allocator, NULL);
    hdst__aggregation run = {.aggregate = aggregate, .engine = aggregate->engine, .input = input, .arena = &arena, .layout = aggregate->layout};
    hdst__aggregate_init_pass(&run);
    const hdst_status status = run_steps(&run, error);
    hdst__aggregate_end_pass(&run);
    const hdst_status closed = hdst__aggregate_close_input(&run, status == HDST_OK ? error : NULL);
    hdst__arena_destroy(&arena);
    return status == HDST_OK ? closed : status;
}

static bool may_on_device(const hdst__aggregate *aggregate)
{
    return !aggregate->layout->rows && aggregate->container == HDST__CONTAINER_AUTO && aggregate->engine->hpr >= HDST__HPR_DEVICE;
}

bool hdst__aggregate_wants_whole(hdst__aggregate *aggregate, uint64_t records)
{
    if (!may_on_device(aggregate)) return false;
    pthread_mutex_lock(&aggregate->engine->mutex);
    const bool suits = hdst__aggregate_device_suits(aggregate->on_device, records);
    pthread_mutex_unlock(&aggregate->engine->mutex);
    return suits;
}

hdst_status hdst__aggregate_run(hdst__aggregate *aggregate, const hdst__aggregate_input *input, const void **rows, uint64_t *count, hdst_error *error)
{
    const double start = hdst__now();
    hdst_error own;
    aggregate->stats = (hdst__run_stats){0};
    aggregate->ran = false;
    aggregate->stray = UINT64_MAX;
    pthread_mutex_lock(&aggregate->engine->mutex);
    hdst__aggregate_drop(aggregate);
    aggregate->device_did = false;
    hdst_status status = may_on_device(aggregate) ? hdst__aggregate_device_run(aggregate->on_device, input, &aggregate->stats, &aggregate->device_did, error ? error : &own) : HDST_OK;
    if (status == HDST_OK && !aggregate->device_did) status = run_in(aggregate, input, error ? error : &own);
    pthread_mutex_unlock(&aggregate->engine->mutex);
    aggregate->stats.run_seconds = aggregate->stats.total_seconds = hdst__now() - start;
    *rows = status == HDST_OK && !aggregate->device_did ? aggregate->rows : NULL;
    *count = status != HDST_OK ? 0 : aggregate->device_did ? hdst__dataset_cache_own_reader(hdst__aggregate_resident(aggregate))->records : aggregate->row_count;
    return status;
}

// --- Explain ---

static void explain_levels(const hdst__aggregate *aggregate, hdst__buffer *out)
{
    for (uint32_t i = 0; i < aggregate->stats.level_count; i++)
        hdst__buffer_printf(out, "    %s: %" PRIu64 " in, %" PRIu64 " out\n", aggregate->stats.level[i].name, aggregate->stats.level[i].in, aggregate->stats.level[i].out);
}

void hdst__aggregate_explain(const hdst__aggregate *aggregate, hdst__buffer *out)
{
    const hdst__aggregate_choice *c = &aggregate->choice;
    if (aggregate->engine->hpr < HDST__HPR_DEVICE)
        hdst__buffer_printf(out, "    hpr %s: %s; what reduces the parts counts as the node's step\n", hdst__hpr_name(aggregate->engine->hpr),
                            aggregate->engine->hpr == HDST__HPR_NONE ? "pairs pass unreduced to the node's step" : "only threads combine before the node's step");
    const char *why_not = hdst__aggregate_device_why_not(aggregate->on_device);
    if (aggregate->device_did) {
        hdst__aggregate_device_explain(aggregate->on_device, out);
        explain_levels(aggregate, out);
        return;
    }
    if (*why_not && !aggregate->layout->rows) hdst__buffer_printf(out, "    not on the device: %s\n", why_not);
    if (!aggregate->ran && aggregate->layout->rows) {
        hdst__buffer_puts(out, "    container: in host memory, parts by number of row; the first records of a run choose the rest\n");
        return;
    }
    if (!aggregate->ran) {
        hdst__buffer_puts(out, "    container: in host memory, chosen by the next run from its first records\n");
        return;
    }
    hdst__buffer_printf(out, "    container: %s\n", c->why);
    if (aggregate->layout->rows) hdst__buffer_printf(out, "    rows: %" PRIu64 "\n", aggregate->layout->row_count);
    else hdst__buffer_printf(out, "    keys: %" PRIu64 " (about %.0f expected from %" PRIu64 " records)\n", aggregate->keys, c->distinct, c->sampled);
    explain_levels(aggregate, out);
    if (aggregate->flushes) hdst__buffer_printf(out, "    full tables emptied to the next level: %" PRIu64 "\n", aggregate->flushes);
    if (aggregate->crowded_blocks) hdst__buffer_printf(out, "    tables of threads given up, as keys crowd in few of their places: %" PRIu64 "\n", aggregate->crowded_blocks);
    if (aggregate->crowded_partitions) hdst__buffer_printf(out, "    parts in sorted runs, as keys crowd in few places of their tables: %" PRIu64 "\n", aggregate->crowded_partitions);
    if (aggregate->pieces)
        hdst__buffer_printf(out, "    pieces of parts that the memory budget has no room for: %" PRIu64 ", %" PRIu64 " of them ranges of the keys of one hash\n", aggregate->pieces, aggregate->range_count);
    if (aggregate->combined_in)
        hdst__buffer_printf(out, "    combined where they piled up: %" PRIu64 " pairs and rows to %" PRIu64 "\n", aggregate->combined_in, aggregate->combined_out);
    char bytes[24];
    if (aggregate->spilled) hdst__buffer_printf(out, "    over the memory budget, through a temporary file: %s\n", hdst__bytes_text(aggregate->spilled, bytes));
    if (aggregate->mapped) hdst__buffer_printf(out, "    result: over the memory budget, in a temporary file: %s\n", hdst__bytes_text(aggregate->file.bytes, bytes));
    static const char *const held[] = {NULL, "one fixed-point word", "two fixed-point words", "wide cells"};
    for (int t = HDST__TIER_ONE; t <= HDST__TIER_WIDE; t++)
        if (c->tier_count[t]) hdst__buffer_printf(out, "    sums of floats in %s: %u\n", held[t], (unsigned)c->tier_count[t]);
}
