// SPDX-License-Identifier: Apache-2.0
// Reduces without accumulators. An associative one is folded on a tree that depends on the input alone: 64 records to one, the results again 64 to one, and so
// on; slices are cut at multiples of 64, so no choice of theirs changes the tree. One that is not associative is folded record by record.
#include "engine/stage/stage.h"

#include "base/costs_host.h"
#include "codegen/interp/interp.h"
#include "codegen/ir/fold_tree.h"

#include <string.h>

static hdst_status give_one(hdst__stage *stage, const void *record, hdst_error *error)
{
    hdst__output_reset(&stage->output);
    hdst_status status = hdst__output_reserve(&stage->output, 1, error);
    if (status != HDST_OK) return status;
    memset(stage->output.records, 0, stage->output.record_bytes);      // longer ones where records are skipped
    memcpy(stage->output.records, record, stage->spec.func->params[0].record->size);
    stage->output.count = 1;
    return HDST_OK;
}

static hdst_status give_none(hdst__stage *stage)
{
    hdst__output_reset(&stage->output);
    return HDST_OK;
}

static hdst_status empty_input(hdst__stage *stage, hdst_error *error)
{
    if (stage->spec.identity) return give_one(stage, stage->spec.identity, error);
    const bool users = !stage->spec.built_in;
    hdst__error_set(error, HDST_E_USAGE, "%s'%s' of an empty dataset has no result", users ? "reduce " : "", stage->spec.func->name);
    if (users) hdst__error_hint(error, "give the function an identity { ... }");
    return HDST_E_USAGE;
}

// --- Associative ---

static hdst_status fill_from_array(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    (void)error;
    const hdst__output *rows = user;
    // Only ever read as AoS: the reader below says so.
    memcpy((char *)buffers[0] + to_first * storage->record->size, rows->records + first * rows->record_bytes, count * rows->record_bytes);
    return HDST_OK;
}

static hdst_status prepare_level(hdst__stage *stage, size_t level, hdst_error *error)
{
    const ir_func *func = stage->skip_upper ? stage->skip_upper : stage->spec.func;
    hdst__reader reader = {.fill = fill_from_array, .user = &stage->partial, .records = stage->partial.count, .record = func->params[0].record,
        .layout = HDST__AOS};
    hdst__launch_plan_request request = {.device = stage->device, .func = func, .reader = &reader, .fold = true};
    if (stage->level[level]) return HDST_OK;    // the number of records of a level never changes
    return hdst__launch_plan_create(&request, &stage->level[level], error);
}

// Room for the records of a failure; without memory for it they are not known.
static void *make_pair(hdst__stage *stage)
{
    if (!stage->pair) stage->pair = hdst__alloc_zero(stage->runtime->allocator, 2 * stage->spec.func->params[0].record->size);
    return stage->pair;
}

// Of the user's input, by all workers that share it: 64 times as much as all levels above together, which one of them has done soon.
static hdst_status run_leaves(hdst__stage *stage, hdst_error *error)
{
    uint64_t failure;
    hdst__output_reset(&stage->output);
    hdst_status status = hdst__stage_run_plans(stage, NULL, &failure, error);
    if (status != HDST_OK || failure == UINT64_MAX) return status;
    return hdst__launch_plan_record_error(stage->plan, NULL, failure, (hdst__covered){1, stage->spec.before}, make_pair(stage), error);
}

static hdst_status run_level(hdst__stage *stage, hdst__launch_plan *plan, uint64_t covered, hdst_error *error)
{
    const uint64_t records = stage->stats.device[0].records;       // of the user's
    uint64_t failure;
    hdst__output_reset(&stage->output);
    hdst_status status = hdst__launch_plan_run(plan, NULL, NULL, hdst__engine_ring(stage->engine), &stage->output, NULL, &stage->stats, &failure, error);
    stage->stats.device[0].records = records;
    if (status != HDST_OK || failure == UINT64_MAX) return status;
    return hdst__launch_plan_record_error(plan, NULL, failure, (hdst__covered){covered, 0}, make_pair(stage), error);
}

hdst_status hdst__stage_fold(hdst__stage *stage, hdst_error *error)
{
    if (stage->reader.records == 0) return stage->spec.first_level ? give_none(stage) : empty_input(stage, error);
    uint64_t covered = 1;
    hdst_status status = run_leaves(stage, error);
    if (stage->spec.first_level) return status;
    for (size_t level = 1; status == HDST_OK && stage->output.count > 1; level++) {
        hdst__output swap = stage->partial;
        stage->partial = stage->output;
        stage->output = swap;
        covered *= HDST__FOLD_RECORDS;
        status = prepare_level(stage, level, error);
        if (status == HDST_OK) status = run_level(stage, stage->level[level], covered, error);
    }
    return status;
}

// --- In order ---

typedef struct ordered {
    hdst__arena arena;
    uint64_t batch;                     // records read at a time
    const hdst__storage *storage;       // of so many, in the reader's layout
    const hdst__storage *structs;       // of one more, as C structs: the result so far stands before the batch
    void **buffers;
    char *rows, *result;
    hdst__text_room texts;
} ordered;

static uint64_t batch_records(const hdst__stage *stage)
{
    const uint64_t share = hdst__budget_left(&stage->runtime->memory) / HDST__HOST_ORDERED_SHARE, records = stage->reader.records;
    const uint64_t bytes = share < HDST__HOST_ORDERED_BYTES ? share : HDST__HOST_ORDERED_BYTES;
    const uint64_t fit = bytes / (2 * hdst__segment_record_bytes(stage->reader.record));
    const uint64_t most = records < HDST__HOST_ORDERED_RECORDS ? records : HDST__HOST_ORDERED_RECORDS;
    return fit > most ? most : fit ? fit : 1;
}

static bool make_ordered(ordered *o, const hdst__stage *stage)
{
    jmp_buf out_of_memory;
    const hdst__reader *reader = &stage->reader;
    const hdst__record *record = stage->spec.func->params[0].record;
    hdst__arena_init(&o->arena, stage->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return false;
    o->batch = batch_records(stage);
    o->storage = hdst__storage_make(&o->arena, reader->record, reader->layout, reader->block, o->batch);
    o->structs = hdst__storage_make(&o->arena, record, HDST__AOS, 0, o->batch + 1);
    o->buffers = HDST__NEW_ARRAY(&o->arena, void *, o->storage->buffers);
    for (uint32_t i = 0; i < o->storage->buffers; i++) o->buffers[i] = hdst__arena_alloc(&o->arena, o->storage->buffer_bytes[i]);
    o->rows = hdst__arena_alloc(&o->arena, (o->batch + 1) * record->size);
    o->result = hdst__arena_alloc(&o->arena, record->size);
    o->arena.out_of_memory = NULL;
    return true;
}

static hdst_status fold_batch(hdst__stage *stage, ordered *o, uint64_t first, uint64_t count, hdst_error *error)
{
    uint64_t carried = first > 0;
    void *to[] = {o->rows};
    const void *from[] = {o->rows};
    const hdst__storage *storage = o->storage;
    hdst_status status = hdst__text_room_open(&o->texts, stage->runtime, HDST__OWNER_SEGMENTS, &stage->reader, &storage, error);
    if (status == HDST_OK) status = stage->reader.fill(stage->reader.user, first, count, storage, o->buffers, 0, error);
    if (status != HDST_OK) return status;
    memcpy(o->rows, o->result, carried * stage->output.record_bytes);
    hdst__storage_copy(o->structs, to, carried, o->storage, (const void *const *)o->buffers, 0, count);
    hdst__interp_run run = {
        .func = stage->spec.func, .allocator = stage->runtime->allocator, .cancel = stage->runtime->cancel, .input = {o->structs}, .input_buffers = {from},
        .count = count + carried, .output = o->result, .skip_failed = hdst__engine_settings(stage->engine)->skip_failed,
        .failed_pair = make_pair(stage),
    };
    status = hdst__interpret_fold_ordered(&run, error);
    if (status != HDST_OK || run.failed_record == UINT64_MAX) return status;
    hdst_error failure = HDST_ERROR_INIT;
    hdst__check_to_error(stage->spec.func, run.failed_check, run.failed_index, run.failed_limit, run.failed_text, first + run.failed_record - carried,
                         &failure);
    stage->stats.skipped += run.skipped;
    if (run.skip_failed) {
        hdst__stage_tell_skipped(stage, &failure);
        return HDST_OK;
    }
    if (error) *error = failure;
    return HDST_E_RECORD;
}

hdst_status hdst__stage_fold_ordered(hdst__stage *stage, hdst_error *error)
{
    uint64_t records = stage->reader.records;
    if (records == 0) return empty_input(stage, error);
    ordered o = {0};
    hdst_status status = make_ordered(&o, stage) ? HDST_OK : hdst__error_memory(error, "a reduce");
    for (uint64_t first = 0; first < records && status == HDST_OK; first += o.batch) {
        const uint64_t count = records - first < o.batch ? records - first : o.batch;
        status = fold_batch(stage, &o, first, count, error);       // the interpreter looks at whether it was cancelled
        hdst__progress_add(stage->runtime->progress, stage->device->info, count);
        hdst__progress_look(stage->runtime->progress);
    }
    if (status == HDST_OK) status = give_one(stage, o.result, error);
    stage->stats.device[0].records = records;
    hdst__arena_destroy(&o.arena);
    hdst__text_room_close(&o.texts);
    return status;
}
