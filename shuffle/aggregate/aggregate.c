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

hdst__by_key *hdst__by_key_create(hdst__engine *engine, const hdst__by_key_spec *spec)
{
    jmp_buf out_of_memory;
    hdst__by_key *by_key = hdst__alloc_zero(engine->allocator, sizeof *by_key);
    if (!by_key) return NULL;
    by_key->engine = engine;
    by_key->container = spec->container;
    hdst__arena_init(&by_key->arena, engine->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__by_key_destroy(by_key);
        return NULL;
    }
    by_key->unchecked = spec->unchecked;
    by_key->keyed = spec->rows ? hdst__keyed_make_rows(&by_key->arena, spec->record, *spec->key_leaves, spec->laws, spec->rows, spec->row_count)
                               : hdst__keyed_make(&by_key->arena, spec->record, spec->key_leaves, spec->key_count, spec->laws);
    by_key->arena.out_of_memory = NULL;
    by_key->on_device = hdst__by_key_device_create(engine, by_key->keyed);
    if (by_key->on_device) return by_key;
    hdst__by_key_destroy(by_key);
    return NULL;
}

void hdst__by_key_forget(hdst__by_key *by_key)
{
    pthread_mutex_lock(&by_key->engine->mutex);
    hdst__by_key_drop(by_key);
    hdst__by_key_free_kept(by_key);
    pthread_mutex_unlock(&by_key->engine->mutex);
}

void hdst__by_key_destroy(hdst__by_key *by_key)
{
    if (!by_key) return;
    pthread_mutex_lock(&by_key->engine->mutex);
    hdst__by_key_drop(by_key);
    hdst__by_key_free_kept(by_key);
    hdst__by_key_device_destroy(by_key->on_device);
    pthread_mutex_unlock(&by_key->engine->mutex);
    hdst__arena_destroy(&by_key->arena);
    hdst__free(by_key->engine->allocator, by_key);
}

bool hdst__by_key_stray(const hdst__by_key *by_key, uint64_t *record, uint64_t *key)
{
    *record = by_key->stray;
    *key = by_key->stray_key;
    return by_key->stray != UINT64_MAX && !by_key->engine->skip_failed;
}

const hdst__run_stats *hdst__by_key_stats(const hdst__by_key *by_key) { return &by_key->stats; }
hdst__dataset_cache *hdst__by_key_resident(hdst__by_key *by_key) { return by_key->device_did ? hdst__by_key_device_rows(by_key->on_device) : NULL; }

// --- Threads ---

typedef struct task {
    hdst__by_key_pass *run;
    hdst__by_key_step step;
} task;

static void run_task(void *user, uint32_t i)
{
    const task *t = user;
    hdst__by_key_pass *run = t->run;
    run->worker[i].status = t->step(&run->worker[i]);
    if (run->worker[i].status == HDST_OK) return;
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->stop, true);
    pthread_cond_broadcast(&run->counted);
    pthread_mutex_unlock(&run->lock);
}

// The first error of all threads ends the run.
static hdst_status in_threads(hdst__by_key_pass *run, hdst__by_key_step step, uint32_t count, hdst_error *error)
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

uint32_t hdst__by_key_threads(const hdst__by_key_pass *run)
{
    const uint32_t wanted = thread_count(run->records);
    const uint64_t fit = run->room / LEAST_SHARE;
    return fit >= wanted ? wanted : fit ? (uint32_t)fit : 1;
}

uint64_t hdst__by_key_share(const hdst__by_key_pass *run) { return run->room / hdst__by_key_threads(run); }

// --- Steps ---

enum { CHUNK_SHARE = 8 };               // of a thread's memory: a chunk of each part, of raw records and of rows

static hdst_status make_worker(hdst__by_key_pass *run, hdst__by_key_worker *worker, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    const hdst__keyed *keyed = run->keyed;
    const hdst__by_key_choice *choice = &run->choice;
    worker->run = run;
    worker->allocator = *allocator;
    worker->blocks = choice->blocks;
    worker->stray = UINT64_MAX;
    worker->raw.allocator = worker->rows.allocator = allocator;
    const uint64_t chunk = hdst__by_key_share(run) / CHUNK_SHARE >> choice->part_bits;
    bool made = hdst__key_batch_create(&worker->batch, allocator, keyed);
    made = made && hdst__key_parts_create(&worker->raw, allocator, choice->part_bits, keyed->raw_bytes, hdst__by_key_more, worker);
    made = made && hdst__key_parts_create(&worker->rows, allocator, choice->part_bits, keyed->row_words * 8, hdst__by_key_more, worker);
    hdst__key_parts_limit(&worker->raw, chunk);
    hdst__key_parts_limit(&worker->rows, chunk);
    made = made && (!choice->blocks || hdst__key_table_create(&worker->block, allocator, keyed->row_words, keyed->key_words, choice->block_bits, 0));
    worker->combines = !choice->sorted && choice->tier_count[HDST__TIER_WIDE] == 0 && run->engine->hpr != HDST__HPR_NONE && worker->raw.chunk_room == worker->rows.chunk_room;
    made = hdst__by_key_piece_memory(run, &worker->piece) && made;
    made = hdst__by_key_make_bounds(worker) && made;
    if (!made) return hdst__error_memory(error, "a reduce by key");
    if (hdst__by_key_buffer(worker) && hdst__by_key_first_slab(worker)) return HDST_OK;
    *error = worker->error;
    return error->code;
}

static void free_worker(hdst__by_key_pass *run, hdst__by_key_worker *worker)
{
    const hdst__allocator *allocator = run->engine->allocator;
    if (!worker->run) return;
    hdst__key_batch_destroy(&worker->batch, allocator);
    hdst__key_parts_destroy(&worker->raw);
    hdst__key_parts_destroy(&worker->rows);
    hdst__key_table_destroy(&worker->block);
    hdst__key_table_destroy(&worker->table);
    hdst__key_table_destroy(&worker->wide);
    hdst__row_table_destroy(&worker->row_table);
    hdst__by_key_free_piece(run, worker->piece);
    hdst__by_key_free_sorter(worker);
    hdst__by_key_free_combiner(worker);
    hdst__free(&worker->allocator, worker->sorted);
    hdst__free(allocator, worker->bounds);
    hdst__free(allocator, worker->buffer);
    hdst__by_key_keep_slabs(run, worker->slabs);
    hdst__by_key_keep_slabs(run, worker->spare);
}

static hdst_status make_workers(hdst__by_key_pass *run, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    run->workers = hdst__by_key_threads(run);
    run->worker = hdst__alloc_zero(allocator, run->workers * sizeof *run->worker);
    run->result = hdst__alloc_zero(allocator, (sizeof *run->result << run->choice.part_bits) + sizeof *run->result);
    if (!run->worker || !run->result) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < run->workers && status == HDST_OK; i++) status = make_worker(run, &run->worker[i], error);
    return status;
}

void hdst__by_key_init_pass(hdst__by_key_pass *run)
{
    if (run->engine->by_key_look_after) run->keyed->look_after = run->engine->by_key_look_after;
    if (run->engine->by_key_full) run->keyed->full = (int64_t)run->engine->by_key_full;
    const double now = hdst__now();
    memcpy(&run->seed, &now, sizeof run->seed);
    run->seed = hdst__key_mix64(run->seed ^ (uintptr_t)run);       // of the clock and of where memory lies: nobody can make keys for it
    run->room = hdst__budget_left(&run->engine->memory);
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->counted, NULL);
}

void hdst__by_key_end_pass(hdst__by_key_pass *run)
{
    const hdst__allocator *allocator = run->engine->allocator;
    for (uint32_t i = 0; run->worker && i < run->workers; i++) free_worker(run, &run->worker[i]);
    for (uint32_t p = 0; run->result && p < UINT32_C(1) << run->choice.part_bits; p++)
        hdst__by_key_give_part(run, &run->result[p]);
    hdst__by_key_forget_spilled(run);
    hdst__free(allocator, run->worker);
    hdst__free(allocator, run->result);
    pthread_cond_destroy(&run->counted);
    pthread_mutex_destroy(&run->lock);
}

static void note_stats(hdst__by_key_pass *run)
{
    hdst__by_key *by_key = run->by_key;
    uint64_t in = 0, to_parts = 0, out = 0, flushes = 0, strays = 0;
    memset(by_key->engine->by_key_moved, 0, sizeof by_key->engine->by_key_moved);
    by_key->combined_in = by_key->combined_out = by_key->crowded_parts = by_key->crowded_blocks = by_key->longest = by_key->pieces = by_key->range_count = 0;
    for (uint32_t i = 0; i < run->workers; i++) {
        in += run->worker[i].in;
        to_parts += run->worker[i].to_parts;
        out += run->worker[i].out;
        flushes += run->worker[i].flushes;
        by_key->combined_in += run->worker[i].combined_in;
        by_key->combined_out += run->worker[i].combined_out;
        strays += run->worker[i].strays;
        by_key->crowded_parts += run->worker[i].crowded_parts;
        by_key->crowded_blocks += run->worker[i].block_was_crowded;
        by_key->pieces += run->worker[i].pieces;
        by_key->range_count += run->worker[i].range_count;
        for (int from = 0; from < 3; from++) by_key->engine->by_key_moved[from] += run->worker[i].moved[from];
        if (run->worker[i].longest > by_key->longest) by_key->longest = run->worker[i].longest;
    }
    by_key->choice = run->choice;
    by_key->engine->by_key_longest = by_key->longest;
    by_key->ran = true;
    by_key->keys = out;
    by_key->flushes = flushes;
    by_key->spilled = run->spill.bytes;
    by_key->stats.records = in;
    hdst__levels_count(&by_key->stats, by_key->engine->hpr, in, to_parts, out);
    by_key->stats.skipped = strays;
}

static void note_stray(hdst__by_key_pass *run)
{
    hdst__by_key *by_key = run->by_key;
    for (uint32_t i = 0; i < run->workers; i++) {
        const hdst__by_key_worker *worker = &run->worker[i];
        if (worker->stray >= by_key->stray) continue;
        by_key->stray = worker->stray;
        by_key->stray_key = worker->stray_key;
    }
}

hdst_status hdst__by_key_begin(hdst__by_key_pass *run, hdst_error *error)
{
    run->room = hdst__budget_left(&run->engine->memory);
    hdst_status status = hdst__by_key_choose(run, error);
    if (status == HDST_OK && run->keyed->rows) status = hdst__by_key_take_rows(run, error);
    else if (status == HDST_OK) hdst__by_key_expect_rows(run);
    return status == HDST_OK ? make_workers(run, error) : status;
}

hdst_status hdst__by_key_add(hdst__by_key_pass *run, hdst_error *error)
{
    const uint32_t threads = thread_count(run->end - run->next_record);
    const hdst_status status = in_threads(run, hdst__by_key_blocks, threads < run->workers ? threads : run->workers, error);
    note_stray(run);
    return status;
}

hdst_status hdst__by_key_finish(hdst__by_key_pass *run, hdst_error *error)
{
    const bool rows = run->keyed->rows;
    const uint32_t parts = UINT32_C(1) << run->choice.part_bits, threads = rows || parts > run->workers ? run->workers : parts;
    hdst_status status = in_threads(run, hdst__by_key_flush, run->workers, error);
    if (status == HDST_OK) status = hdst__by_key_spill_rest(run, error);
    if (status == HDST_OK && !rows) hdst__by_key_share_memory(run, threads);
    if (status == HDST_OK) status = in_threads(run, rows ? hdst__by_key_row_part : hdst__by_key_part, threads, error);
    if (status == HDST_OK && !rows) status = hdst__by_key_join(run, error);
    if (status == HDST_OK) note_stats(run);
    return status;
}

static hdst_status run_steps(hdst__by_key_pass *run, hdst_error *error)
{
    jmp_buf out_of_memory;
    run->arena->out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = hdst__by_key_open_input(run, error);
    if (status == HDST_OK) status = hdst__by_key_begin(run, error);
    if (status == HDST_OK) status = hdst__by_key_add(run, error);
    return status == HDST_OK ? hdst__by_key_finish(run, error) : status;
}

// What was taken is given back however the steps end.
static hdst_status run_in(hdst__by_key *by_key, const hdst__by_key_input *input, hdst_error *error)
{
    hdst__arena arena;
    hdst__arena_init(&arena, by_key->engine->allocator, NULL);
    hdst__by_key_pass run = {.by_key = by_key, .engine = by_key->engine, .input = input, .arena = &arena, .keyed = by_key->keyed};
    hdst__by_key_init_pass(&run);
    const hdst_status status = run_steps(&run, error);
    hdst__by_key_end_pass(&run);
    const hdst_status closed = hdst__by_key_close_input(&run, status == HDST_OK ? error : NULL);
    hdst__arena_destroy(&arena);
    return status == HDST_OK ? closed : status;
}

static bool may_on_device(const hdst__by_key *by_key)
{
    return !by_key->keyed->rows && by_key->container == HDST__CONTAINER_AUTO && by_key->engine->hpr >= HDST__HPR_DEVICE;
}

bool hdst__by_key_wants_whole(hdst__by_key *by_key, uint64_t records)
{
    if (!may_on_device(by_key)) return false;
    pthread_mutex_lock(&by_key->engine->mutex);
    const bool suits = hdst__by_key_device_suits(by_key->on_device, records);
    pthread_mutex_unlock(&by_key->engine->mutex);
    return suits;
}

hdst_status hdst__by_key_run(hdst__by_key *by_key, const hdst__by_key_input *input, const void **rows, uint64_t *count, hdst_error *error)
{
    const double start = hdst__now();
    hdst_error own;
    by_key->stats = (hdst__run_stats){0};
    by_key->ran = false;
    by_key->stray = UINT64_MAX;
    pthread_mutex_lock(&by_key->engine->mutex);
    hdst__by_key_drop(by_key);
    by_key->device_did = false;
    hdst_status status = may_on_device(by_key) ? hdst__by_key_device_run(by_key->on_device, input, &by_key->stats, &by_key->device_did, error ? error : &own) : HDST_OK;
    if (status == HDST_OK && !by_key->device_did) status = run_in(by_key, input, error ? error : &own);
    pthread_mutex_unlock(&by_key->engine->mutex);
    by_key->stats.run_seconds = by_key->stats.total_seconds = hdst__now() - start;
    *rows = status == HDST_OK && !by_key->device_did ? by_key->rows : NULL;
    *count = status != HDST_OK ? 0 : by_key->device_did ? hdst__dataset_cache_own_reader(hdst__by_key_resident(by_key))->records : by_key->row_count;
    return status;
}

// --- Explain ---

static void explain_levels(const hdst__by_key *by_key, hdst__buffer *out)
{
    for (uint32_t i = 0; i < by_key->stats.level_count; i++)
        hdst__buffer_printf(out, "    %s: %" PRIu64 " in, %" PRIu64 " out\n", by_key->stats.level[i].name, by_key->stats.level[i].in, by_key->stats.level[i].out);
}

void hdst__by_key_explain(const hdst__by_key *by_key, hdst__buffer *out)
{
    const hdst__by_key_choice *c = &by_key->choice;
    if (by_key->engine->hpr < HDST__HPR_DEVICE)
        hdst__buffer_printf(out, "    hpr %s: %s; what reduces the parts counts as the node's step\n", hdst__hpr_name(by_key->engine->hpr),
                            by_key->engine->hpr == HDST__HPR_NONE ? "pairs pass unreduced to the node's step" : "only threads combine before the node's step");
    const char *why_not = hdst__by_key_device_why_not(by_key->on_device);
    if (by_key->device_did) {
        hdst__by_key_device_explain(by_key->on_device, out);
        explain_levels(by_key, out);
        return;
    }
    if (*why_not && !by_key->keyed->rows) hdst__buffer_printf(out, "    not on the device: %s\n", why_not);
    if (!by_key->ran && by_key->keyed->rows) {
        hdst__buffer_puts(out, "    container: in host memory, parts by number of row; the first records of a run choose the rest\n");
        return;
    }
    if (!by_key->ran) {
        hdst__buffer_puts(out, "    container: in host memory, chosen by the next run from its first records\n");
        return;
    }
    hdst__buffer_printf(out, "    container: %s\n", c->why);
    if (by_key->keyed->rows) hdst__buffer_printf(out, "    rows: %" PRIu64 "\n", by_key->keyed->row_count);
    else hdst__buffer_printf(out, "    keys: %" PRIu64 " (about %.0f expected from %" PRIu64 " records)\n", by_key->keys, c->distinct, c->sampled);
    explain_levels(by_key, out);
    if (by_key->flushes) hdst__buffer_printf(out, "    full tables emptied to the next level: %" PRIu64 "\n", by_key->flushes);
    if (by_key->crowded_blocks) hdst__buffer_printf(out, "    tables of threads given up, as keys crowd in few of their places: %" PRIu64 "\n", by_key->crowded_blocks);
    if (by_key->crowded_parts) hdst__buffer_printf(out, "    parts in sorted runs, as keys crowd in few places of their tables: %" PRIu64 "\n", by_key->crowded_parts);
    if (by_key->pieces)
        hdst__buffer_printf(out, "    pieces of parts that the memory budget has no room for: %" PRIu64 ", %" PRIu64 " of them ranges of the keys of one hash\n", by_key->pieces, by_key->range_count);
    if (by_key->combined_in)
        hdst__buffer_printf(out, "    combined where they piled up: %" PRIu64 " pairs and rows to %" PRIu64 "\n", by_key->combined_in, by_key->combined_out);
    char bytes[24];
    if (by_key->spilled) hdst__buffer_printf(out, "    over the memory budget, through a temporary file: %s\n", hdst__bytes_text(by_key->spilled, bytes));
    if (by_key->mapped) hdst__buffer_printf(out, "    result: over the memory budget, in a temporary file: %s\n", hdst__bytes_text(by_key->file.bytes, bytes));
    static const char *const held[] = {NULL, "one fixed-point word", "two fixed-point words", "wide cells"};
    for (int t = HDST__TIER_ONE; t <= HDST__TIER_WIDE; t++)
        if (c->tier_count[t]) hdst__buffer_printf(out, "    sums of floats in %s: %u\n", held[t], (unsigned)c->tier_count[t]);
}
