// SPDX-License-Identifier: Apache-2.0
// Reduces that are written as a function of two records: the interpreter's folds (codegen/interp/interp.h).
//
// A level folds its runs side by side: lane r of step j computes f(result so far of run r, record 64 r + j). Only the last run
// may be shorter, so the active lanes of a step are always the first ones. Records are moved as C structs, whatever the input's
// layout.
#include "codegen/ir/eval.h"
#include "codegen/interp/interp_state.h"
#include "codegen/interp/interp.h"
#include "codegen/ir/fold_tree.h"

#include <string.h>

typedef struct fold {
    hdst__interp_run run;           // f's own: a and b are arrays of C structs
    hdst__leaf_address *address[2]; // of the C structs a and b
    hdst__storage structs, next;    // a (and out); b, which may have fewer leaves (hdst__passes_skip_fold)
    const void *a_buffer[1], *b_buffer[1];
    char *a, *b, *out;              // one record per run; f must not write where it still reads, so `a` and `out` change places after a step
    uint64_t runs, run_length;
    interp_state state;
} fold;

static void close_fold(fold *f)
{
    const hdst__allocator *allocator = f->run.allocator;
    if (f->state.run) hdst__interp_close(&f->state);
    hdst__free(allocator, f->a);
    hdst__free(allocator, f->b);
    hdst__free(allocator, f->out);
    hdst__free(allocator, f->address[0]);
    hdst__free(allocator, f->address[1]);
}

static hdst__storage storage_of(const fold *f, const hdst__record *record, hdst__leaf_address *address)
{
    for (size_t i = 0; i < record->leaf_count; i++) address[i] = (hdst__leaf_address){.offset = record->leaves[i].offset, .stride = record->size};
    return (hdst__storage){.record = record, .layout = HDST__AOS, .capacity = f->runs, .leaf = address, .buffers = 1};
}

static void describe_structs(fold *f, const ir_func *func)
{
    f->structs = storage_of(f, func->params[0].record, f->address[0]);
    f->next = storage_of(f, func->params[1].record, f->address[1]);
    f->run.input[0] = &f->structs;
    f->run.input[1] = &f->next;
    f->run.input_buffers[0] = f->a_buffer;
    f->run.input_buffers[1] = f->b_buffer;
    f->run.input_skip[0] = f->run.input_skip[1] = 0;
    f->run.first = 0;               // so that a failure is reported by its lane
    f->run.failed_record = UINT64_MAX;
}

static hdst_status open_fold(fold *f, const hdst__interp_run *run, uint64_t run_length, hdst_error *error)
{
    const hdst__record *record = run->func->params[0].record, *next = run->func->params[1].record;
    *f = (fold){.run = *run, .runs = (run->count + run_length - 1) / run_length, .run_length = run_length};
    f->address[0] = hdst__alloc_zero(run->allocator, record->leaf_count * sizeof *f->address[0]);
    f->address[1] = hdst__alloc_zero(run->allocator, next->leaf_count * sizeof *f->address[1]);
    f->a = hdst__alloc_zero(run->allocator, f->runs * record->size);
    f->b = hdst__alloc_zero(run->allocator, f->runs * next->size);
    f->out = hdst__alloc_zero(run->allocator, f->runs * record->size);
    if (!f->address[0] || !f->address[1] || !f->a || !f->b || !f->out) {
        close_fold(f);
        return hdst__error_memory(error, "the records of a reduce");
    }
    describe_structs(f, run->func);
    const hdst_status status = hdst__interp_open(&f->state, &f->run, error);
    if (status == HDST_OK) return HDST_OK;
    f->state.run = NULL;            // it closed itself
    close_fold(f);
    return status;
}

// Reads record `index` of each of the first n runs of the input, as C structs.
static void gather(const fold *f, const hdst__interp_run *run, uint64_t index, uint64_t n, const hdst__storage *structs, char *to)
{
    void *buffers[1] = {to};
    for (uint64_t r = 0; r < n; r++)
        hdst__storage_copy(structs, buffers, r, run->input[0], run->input_buffers[0], run->input_skip[0] + r * f->run_length + index, 1);
}

static void note_pair(const fold *f, char *pair)
{
    const uint64_t size = f->structs.record->size, next = f->next.record->size;
    memcpy(pair, f->a + f->run.failed_record * size, size);
    memcpy(pair + size, f->b + f->run.failed_record * next, next);
}

static void note_failure(fold *f, hdst__interp_run *run, uint64_t j)
{
    const uint64_t record = run->first + f->run.failed_record * f->run_length + j;
    if (record < run->failed_record) {
        run->failed_record = record;
        run->failed_check = f->run.failed_check;
        run->failed_index = f->run.failed_index;
        run->failed_limit = f->run.failed_limit;
        memcpy(run->failed_text, f->run.failed_text, sizeof run->failed_text);
        if (run->failed_pair) note_pair(f, run->failed_pair);
    }
    f->run.failed_record = UINT64_MAX;
}

// Combines the results so far of the first n runs with record j of each.
static void fold_step(fold *f, hdst__interp_run *run, uint64_t j, uint64_t n)
{
    const uint64_t size = f->structs.record->size;
    gather(f, run, j, n, &f->next, f->b);
    f->a_buffer[0] = f->a;
    f->b_buffer[0] = f->b;
    f->run.output = f->out;
    for (uint64_t first = 0; first < n; first += f->state.width)
        hdst__interp_block(&f->state, first, n - first < f->state.width ? n - first : f->state.width);
    const bool failed = f->run.failed_record != UINT64_MAX;
    if (failed) note_failure(f, run, j);
    if (failed && run->skip_failed) {       // of one run only
        run->skipped++;
        return;
    }
    memcpy(f->out + n * size, f->a + n * size, (f->runs - n) * size);       // the last run has ended
    char *done = f->out;
    f->out = f->a;
    f->a = done;
}

// Makes all NaNs in `count` result records the canonical one, as a map does (docs/kernel-language.md).
static void make_canonical(const hdst__record *record, char *records, uint64_t count)
{
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        const uint64_t size = hdst__scalar_size(leaf->kind);
        if (!hdst__kind_is_float(leaf->kind)) continue;
        for (uint64_t i = 0; i < count * leaf->elements; i++) {
            char *at = records + i / leaf->elements * record->size + hdst__leaf_offset(leaf, i % leaf->elements);
            uint64_t bits = 0;
            memcpy(&bits, at, size);
            bits = hdst__eval_unary(IR_CANONICAL, leaf->kind, leaf->kind, bits);
            memcpy(at, &bits, size);
        }
    }
}

// Folds each run of run_length records into one record of `to`.
static hdst_status fold_runs(hdst__interp_run *run, uint64_t run_length, void *to, hdst_error *error)
{
    fold f;
    run->failed_record = UINT64_MAX;
    if (run->count == 0) return HDST_OK;
    const hdst_status status = open_fold(&f, run, run_length, error);
    if (status != HDST_OK) return status;
    const uint64_t last = run->count - (f.runs - 1) * run_length;           // length of the last run
    gather(&f, run, 0, f.runs, &f.structs, f.a);
    for (uint64_t j = 1; j < (f.runs > 1 ? run_length : last) && !f.state.cancelled; j++) fold_step(&f, run, j, j < last ? f.runs : f.runs - 1);
    memcpy(to, f.a, f.runs * f.structs.record->size);
    if (run->func->makes) make_canonical(f.structs.record, to, f.runs);
    const char *wrong = f.state.wrong;
    const bool cancelled = f.state.cancelled;
    close_fold(&f);
    if (cancelled) return hdst__cancel_error(0, 0, error);
    return wrong ? hdst__error_set(error, HDST_E_INTERNAL, "`%s`: %s", run->func->name, wrong) : HDST_OK;
}

hdst_status hdst__interpret_fold_level(hdst__interp_run *run, hdst_error *error)
{
    return fold_runs(run, HDST__FOLD_RECORDS, run->output, error);
}

hdst_status hdst__interpret_fold_ordered(hdst__interp_run *run, hdst_error *error)
{
    return run->count ? fold_runs(run, run->count, run->output, error) : fold_runs(run, 1, run->output, error);
}

// Folds a level above the first: its input is what the level below wrote, C structs.
static hdst_status fold_structs(const hdst__interp_run *run, char *records, uint64_t count, hdst__interp_run *level, hdst_error *error)
{
    const hdst__record *record = run->func->params[0].record;
    hdst__leaf_address *address = hdst__alloc(run->allocator, record->leaf_count * sizeof *address);
    if (!address) return hdst__error_memory(error, "the records of a reduce");
    for (size_t i = 0; i < record->leaf_count; i++) address[i] = (hdst__leaf_address){.offset = record->leaves[i].offset, .stride = record->size};
    const hdst__storage structs = {.record = record, .layout = HDST__AOS, .capacity = count, .leaf = address, .buffers = 1};
    const void *buffers[1] = {records};
    *level = *run;
    level->input[0] = &structs;
    level->input_buffers[0] = buffers;
    level->input_skip[0] = level->first = 0;
    level->count = count;
    const hdst_status status = fold_runs(level, HDST__FOLD_RECORDS, records, error);      // written after all was read
    hdst__free(run->allocator, address);
    return status;
}

hdst_status hdst__interpret_fold(hdst__interp_run *run, hdst_error *error)
{
    const uint64_t size = run->func->params[0].record->size;
    uint64_t count = (run->count + HDST__FOLD_RECORDS - 1) / HDST__FOLD_RECORDS, covered = HDST__FOLD_RECORDS;
    char *records = hdst__alloc(run->allocator, count * size);
    if (!records) return hdst__error_memory(error, "the records of a reduce");
    hdst_status status = fold_runs(run, HDST__FOLD_RECORDS, records, error);
    while (status == HDST_OK && run->failed_record == UINT64_MAX && count > 1) {
        hdst__interp_run level;
        status = fold_structs(run, records, count, &level, error);
        if (status == HDST_OK && level.failed_record != UINT64_MAX) {
            run->failed_record = run->first + level.failed_record * covered;
            run->failed_check = level.failed_check;
            run->failed_index = level.failed_index;
            run->failed_limit = level.failed_limit;
            memcpy(run->failed_text, level.failed_text, sizeof run->failed_text);
        }
        count = (count + HDST__FOLD_RECORDS - 1) / HDST__FOLD_RECORDS;
        covered *= HDST__FOLD_RECORDS;
    }
    if (status == HDST_OK && count == 1) memcpy(run->output, records, size);
    hdst__free(run->allocator, records);
    return status;
}
