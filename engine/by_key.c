// SPDX-License-Identifier: Apache-2.0
// Reductions by key in host memory (engine/by_key.h): threads and the order of steps.
#include "engine/by_key_run.h"

#include "engine/executor.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SLAB_BYTES = 4 << 20, SMALL_SLAB_BYTES = 256 << 10, PIECE_BYTES = 256 << 10, LEAST_RECORDS = 1 << 15 /* for a thread of its own */ };

// --- The object ---

hdst__by_key *hdst__by_key_create(hdst__engine *engine, const hdst__by_key_spec *spec)
{
    jmp_buf out_of_memory;
    hdst__by_key *by_key = hdst__alloc_zero(engine->allocator, sizeof *by_key);
    if (!by_key) return NULL;
    by_key->engine = engine;
    by_key->spec = *spec;
    hdst__arena_init(&by_key->arena, engine->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__by_key_destroy(by_key);
        return NULL;
    }
    by_key->keyed = hdst__keyed_make(&by_key->arena, spec->record, spec->key_leaves, spec->key_count, spec->laws);
    by_key->arena.out_of_memory = NULL;
    return by_key;
}

void hdst__by_key_destroy(hdst__by_key *by_key)
{
    if (!by_key) return;
    hdst__arena_destroy(&by_key->arena);
    hdst__free(by_key->engine->allocator, by_key);
}

const hdst__run_stats *hdst__by_key_stats(const hdst__by_key *by_key) { return &by_key->stats; }

// --- Memory ---

void *hdst__by_key_take(hdst__by_key_pass *run, uint64_t bytes, const char *what, hdst_error *error)
{
    hdst__engine *engine = run->engine;
    if (!hdst__budget_reserve(&engine->memory, bytes)) {
        hdst__budget_error(&engine->memory, bytes, what, error);
        return NULL;
    }
    void *memory = hdst__alloc(engine->allocator, bytes ? bytes : 1);
    if (memory) return memory;
    hdst__budget_release(&engine->memory, bytes);
    hdst__error_memory(error, what);
    return NULL;
}

void hdst__by_key_give(hdst__by_key_pass *run, void *memory, uint64_t bytes)
{
    if (!memory) return;
    hdst__free(run->engine->allocator, memory);
    hdst__budget_release(&run->engine->memory, bytes);
}

static bool new_slab(hdst__by_key_worker *worker, uint64_t least)
{
    hdst__by_key_pass *run = worker->run;
    uint64_t bytes = run->choice.part_bits > 6 ? SLAB_BYTES : SMALL_SLAB_BYTES;
    if (bytes < least + 128) bytes = least + 128;
    hdst__by_key_slab *slab = hdst__by_key_take(run, bytes, "the pairs of a reduce by key", &worker->error);
    if (!slab) return false;
    slab->bytes = bytes;
    pthread_mutex_lock(&run->lock);
    slab->next = run->slabs;
    run->slabs = slab;
    pthread_mutex_unlock(&run->lock);
    worker->slab = (char *)slab + sizeof *slab;
    worker->slab += (64 - (uintptr_t)worker->slab % 64) % 64;
    worker->slab_end = (char *)slab + bytes;
    return true;
}

void *hdst__by_key_more(void *user, uint64_t bytes)
{
    hdst__by_key_worker *worker = user;
    if ((uint64_t)(worker->slab_end - worker->slab) < bytes && !new_slab(worker, bytes)) return NULL;
    char *memory = worker->slab;
    worker->slab += (bytes + 63) / 64 * 64;
    if (worker->slab > worker->slab_end) worker->slab = worker->slab_end;
    return memory;
}

// --- Threads ---

typedef hdst_status (*step_function)(hdst__by_key_worker *worker);

typedef struct task {
    hdst__by_key_worker *worker;
    step_function step;
} task;

static void *run_task(void *user)
{
    task *t = user;
    t->worker->status = t->step(t->worker);
    if (t->worker->status != HDST_OK) atomic_store(&t->worker->run->stop, true);
    return NULL;
}

// The first error of all threads ends the run.
static hdst_status in_threads(hdst__by_key_pass *run, step_function step, hdst_error *error)
{
    task tasks[HDST__BY_KEY_THREADS];
    pthread_t thread[HDST__BY_KEY_THREADS];
    bool started[HDST__BY_KEY_THREADS] = {false};
    for (uint32_t i = 0; i < run->workers; i++) {
        tasks[i] = (task){&run->worker[i], step};
        if (i > 0) started[i] = pthread_create(&thread[i], NULL, run_task, &tasks[i]) == 0;
    }
    for (uint32_t i = 0; i < run->workers; i++)
        if (!started[i]) run_task(&tasks[i]);
    for (uint32_t i = 1; i < run->workers; i++)
        if (started[i]) pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < run->workers; i++) {
        if (run->worker[i].status == HDST_OK) continue;
        if (error) *error = run->worker[i].error;
        return run->worker[i].status;
    }
    return HDST_OK;
}

static uint32_t thread_count(const hdst__by_key_pass *run)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t wanted = run->reader->records / LEAST_RECORDS + 1, most = cores < 1 ? 1 : cores > HDST__BY_KEY_THREADS ? HDST__BY_KEY_THREADS : (uint64_t)cores;
    return (uint32_t)(wanted < most ? wanted : most);
}

// --- Steps ---

static hdst_status make_worker(hdst__by_key_pass *run, hdst__by_key_worker *worker, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    const hdst__keyed *keyed = run->keyed;
    const hdst__by_key_choice *choice = &run->choice;
    worker->run = run;
    worker->blocks = choice->blocks;
    worker->raw.allocator = worker->rows.allocator = allocator;
    bool made = hdst__key_batch_create(&worker->batch, allocator, keyed);
    made = made && hdst__key_parts_create(&worker->raw, allocator, choice->part_bits, keyed->raw_bytes, hdst__by_key_more, worker);
    made = made && hdst__key_parts_create(&worker->rows, allocator, choice->part_bits, keyed->row_words * 8, hdst__by_key_more, worker);
    made = made && (!choice->blocks || hdst__key_table_create(&worker->block, allocator, keyed->row_words, keyed->key_words, choice->block_bits, 0));
    worker->piece = hdst__alloc_zero(allocator, run->piece->buffers * sizeof *worker->piece);
    for (uint32_t b = 0; worker->piece && b < run->piece->buffers; b++) {
        worker->piece[b] = hdst__alloc(allocator, run->piece->buffer_bytes[b]);
        made = made && worker->piece[b];
    }
    return made && worker->piece ? HDST_OK : hdst__error_memory(error, "a reduce by key");
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
    for (uint32_t b = 0; worker->piece && b < run->piece->buffers; b++) hdst__free(allocator, worker->piece[b]);
    hdst__free(allocator, worker->piece);
    hdst__free(allocator, worker->sorted);
}

static hdst_status make_workers(hdst__by_key_pass *run, hdst_error *error)
{
    const hdst__allocator *allocator = run->engine->allocator;
    run->workers = thread_count(run);
    run->worker = hdst__alloc_zero(allocator, run->workers * sizeof *run->worker);
    run->result = hdst__alloc_zero(allocator, sizeof *run->result << run->choice.part_bits);
    if (!run->worker || !run->result) return hdst__error_memory(error, "a reduce by key");
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < run->workers && status == HDST_OK; i++) status = make_worker(run, &run->worker[i], error);
    return status;
}

// Copies parts to their place in the result.
static hdst_status join_parts(hdst__by_key_worker *worker)
{
    hdst__by_key_pass *run = worker->run;
    const uint32_t parts = UINT32_C(1) << run->choice.part_bits;
    const uint64_t size = run->keyed->record->size;
    uint64_t first = 0;
    for (uint32_t p = 0; p < parts; first += run->result[p++].count) {
        if (p % run->workers != (uint32_t)(worker - run->worker) || !run->result[p].count) continue;
        memcpy(run->rows + first * size, run->result[p].records, run->result[p].count * size);
        hdst__by_key_give(run, run->result[p].records, run->result[p].count * size);
        run->result[p].records = NULL;
    }
    return HDST_OK;
}

static hdst_status join(hdst__by_key_pass *run, hdst__rows *rows, hdst_error *error)
{
    const uint64_t size = run->keyed->record->size;
    uint64_t count = 0;
    for (uint32_t p = 0; p < UINT32_C(1) << run->choice.part_bits; p++) count += run->result[p].count;
    run->rows = hdst__by_key_take(run, count * size, "the result of a reduce by key", error);
    if (!run->rows) return error ? error->code : HDST_E_MEMORY;
    *rows = (hdst__rows){run->rows, count, count * size};
    return in_threads(run, join_parts, error);
}

static void end_run(hdst__by_key_pass *run)
{
    const hdst__allocator *allocator = run->engine->allocator;
    for (uint32_t i = 0; run->worker && i < run->workers; i++) free_worker(run, &run->worker[i]);
    for (uint32_t p = 0; run->result && p < UINT32_C(1) << run->choice.part_bits; p++)
        hdst__by_key_give(run, run->result[p].records, run->result[p].count * run->keyed->record->size);
    while (run->slabs) {
        hdst__by_key_slab *slab = run->slabs;
        run->slabs = slab->next;
        hdst__by_key_give(run, slab, slab->bytes);
    }
    hdst__free(allocator, run->worker);
    hdst__free(allocator, run->result);
    pthread_mutex_destroy(&run->lock);
}

static void note_stats(hdst__by_key_pass *run)
{
    hdst__by_key *by_key = run->by_key;
    uint64_t in = 0, to_parts = 0, out = 0, flushes = 0;
    for (uint32_t i = 0; i < run->workers; i++) {
        in += run->worker[i].in;
        to_parts += run->worker[i].to_parts;
        out += run->worker[i].out;
        flushes += run->worker[i].flushes;
    }
    by_key->choice = run->choice;
    by_key->ran = true;
    by_key->keys = out;
    by_key->flushes = flushes;
    by_key->stats.records = in;
    by_key->stats.level_count = 3;
    by_key->stats.level[0] = (hdst__level){"block", in, to_parts};
    by_key->stats.level[1] = (hdst__level){"device", to_parts, to_parts};
    by_key->stats.level[2] = (hdst__level){"node", to_parts, out};
}

static hdst_status run_steps(hdst__by_key_pass *run, hdst__rows *rows, hdst_error *error)
{
    hdst_status status = hdst__by_key_choose(run, error);
    if (status == HDST_OK) status = make_workers(run, error);
    if (status == HDST_OK) status = in_threads(run, hdst__by_key_blocks, error);
    if (status == HDST_OK) status = in_threads(run, hdst__by_key_part, error);
    if (status == HDST_OK) status = join(run, rows, error);
    if (status == HDST_OK) note_stats(run);
    return status;
}

static hdst_status run_in(hdst__by_key *by_key, hdst__arena *arena, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    hdst__by_key_pass run = {.by_key = by_key, .engine = by_key->engine, .reader = reader, .keyed = by_key->keyed};
    const hdst__layout layout = reader->layout == HDST__AOS ? HDST__AOS : HDST__SOA;       // what the reader gives without much moving about
    const uint64_t fit = PIECE_BYTES / reader->record->size, batch = HDST__KEY_BATCH;
    run.piece = hdst__storage_make(arena, reader->record, layout, 0, fit < batch ? batch : fit / batch * batch);
    if (!run.piece) return hdst__error_memory(error, "a reduce by key");
    pthread_mutex_init(&run.lock, NULL);
    hdst_status status = run_steps(&run, rows, error);
    end_run(&run);
    if (status != HDST_OK) hdst__engine_free_rows(by_key->engine, rows);
    return status;
}

static hdst_status run_guarded(hdst__by_key *by_key, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, by_key->engine->allocator, &out_of_memory);
    const hdst_status status = setjmp(out_of_memory) ? hdst__error_memory(error, "a reduce by key") : run_in(by_key, &arena, reader, rows, error);
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst__by_key_run(hdst__by_key *by_key, const hdst__reader *reader, hdst__rows *rows, hdst_error *error)
{
    const double start = hdst__now();
    hdst_error own;
    by_key->stats = (hdst__run_stats){0};
    *rows = (hdst__rows){0};
    pthread_mutex_lock(&by_key->engine->mutex);
    const hdst_status status = run_guarded(by_key, reader, rows, error ? error : &own);
    pthread_mutex_unlock(&by_key->engine->mutex);
    by_key->stats.run_seconds = by_key->stats.total_seconds = hdst__now() - start;
    return status;
}

// --- Explain ---

void hdst__by_key_explain(const hdst__by_key *by_key, hdst__buffer *out)
{
    const hdst__by_key_choice *c = &by_key->choice;
    if (!by_key->ran) {
        hdst__buffer_puts(out, "    container: in host memory; the first records of a run choose it\n");
        return;
    }
    hdst__buffer_printf(out, "    container: %s\n", c->why);
    hdst__buffer_printf(out, "    keys: %" PRIu64 " (about %.0f expected from %" PRIu64 " records)\n", by_key->keys, c->distinct, c->sampled);
    for (uint32_t i = 0; i < by_key->stats.level_count; i++)
        hdst__buffer_printf(out, "    %s: %" PRIu64 " in, %" PRIu64 " out\n", by_key->stats.level[i].name, by_key->stats.level[i].in, by_key->stats.level[i].out);
    if (by_key->flushes) hdst__buffer_printf(out, "    full tables emptied to the next level: %" PRIu64 "\n", by_key->flushes);
    static const char *const held[] = {NULL, "one fixed-point word", "two fixed-point words", "wide cells"};
    for (int t = HDST__TIER_ONE; t <= HDST__TIER_WIDE; t++)
        if (c->tier_count[t]) hdst__buffer_printf(out, "    sums of floats in %s: %u\n", held[t], (unsigned)c->tier_count[t]);
}
