// SPDX-License-Identifier: Apache-2.0
// Which function of a fused chain failed is found by running the record through longer and longer beginnings of the chain, in the interpreter. Saved
// is what that function was called with: the record as the functions before it left it.
#include "plan/replay_save.h"

#include "base/files.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/fuse.h"
#include "codegen/pass/passes.h"
#include "plan/kernel_module.h"
#include "plan/replay_texts.h"
#include "plan/stage_node.h"
#include "engine/memory/text_room.h"
#include "io/replay_file.h"
#include "record/schema.h"
#include "codegen/ir/accum_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct saver {
    hdst__arena arena;
    const hdst__node *node;
    const hdst__stage_node *stage;      // the node's
    uint64_t record;
    ir_func **functions;        // of the chain, one by one
    const void *input;          // the record as a C struct
    const char *pair;           // of a reduce: the two records that it could not combine; else NULL
    bool failed;                // the last run of the interpreter
    hdst__text_room texts;      // of `input`, where a reader makes them
} saver;

static const hdst__allocator *allocator_of(const saver *s) { return HDST__ALLOCATOR(s->node->dataset); }

// --- The record ---

static hdst_status read_record(saver *s, hdst_error *error)
{
    const hdst__reader *reader = &s->node->inputs[0]->reader;
    const hdst__storage *from = hdst__storage_make(&s->arena, reader->record, reader->layout, reader->block, 1);
    const hdst__storage *to = hdst__storage_make(&s->arena, reader->record, HDST__AOS, 0, 1);
    void **buffers = HDST__NEW_ARRAY(&s->arena, void *, from->buffers);
    for (uint32_t i = 0; i < from->buffers; i++) buffers[i] = hdst__arena_alloc(&s->arena, from->buffer_bytes[i] + 64);
    void *row = hdst__arena_alloc(&s->arena, reader->record->size + 64);
    hdst_status status = hdst__text_room_open(&s->texts, hdst__engine_runtime(s->node->dataset->object.context->engine), HDST__OWNER_SEGMENTS, reader, &from,
                                              error);
    if (status == HDST_OK) status = reader->fill(reader->user, s->record, 1, from, buffers, 0, error);
    if (status == HDST_OK) hdst__storage_copy(to, &row, 0, from, (const void *const *)buffers, 0, 1);
    s->input = row;
    return status;
}

// --- Beginnings of the chain ---

// A parameter of the fused function is known by the pointer of its `bind` text.
static hdst__plan_param bound_to(const saver *s, const ir_param *param)
{
    for (size_t i = 0; i < s->stage->item_count; i++)
        for (size_t p = 0; p < s->functions[i]->param_count; p++)
            if (s->functions[i]->params[p].bind == param->bind) 
                return hdst__plan_param_in(s->functions[i], &s->functions[i]->params[p], s->stage->items[i], s->stage->lookups[i]);
    return (hdst__plan_param){.rows = 1};
}

// Runs the record through the first `count` functions. What comes out is written to *output, which has room for a struct of their last record, or is NULL.
static hdst_status run_chain(saver *s, size_t count, void *output, hdst_error *error)
{
    ir_func *func = hdst__fuse(&s->arena, s->functions, count);
    const char *wrong = hdst__passes_scalar(func);
    if (wrong) return hdst__error_set(error, HDST_E_INTERNAL, "%s", wrong);
    hdst__interp_table *tables = HDST__NEW_ARRAY(&s->arena, hdst__interp_table, func->param_count + 1);
    uint64_t *rows = HDST__NEW_ARRAY(&s->arena, uint64_t, func->param_count + 1);
    for (size_t i = 0; i < func->param_count; i++) {
        const hdst__plan_param bound = bound_to(s, &func->params[i]);
        hdst_status status = hdst__plan_param_rows(&bound, &tables[i].data, &rows[i], error);
        tables[i].rows = rows[i];
        if (status != HDST_OK) return status;
    }
    const hdst__tables *accums = hdst__ir_accum_tables(&s->arena, func, NULL);
    hdst__interp_run run = {
        .func = func, .allocator = allocator_of(s), .input = {hdst__storage_make(&s->arena, s->node->inputs[0]->reader.record, HDST__AOS, 0, 1)},
        .input_buffers = {&s->input}, .first = s->record, .count = 1, .broadcast = tables, .accum_rows = rows,
        .tables = accums->accum_count ? accums : NULL, .output = output, .output_room = output ? 1 : 0,
    };
    const hdst_status status = hdst__interpret(&run, error);
    s->failed = run.failed_record != UINT64_MAX;
    return status;
}

// Functions that make one record of one record, or drop it.
static bool is_plain(const hdst_dataset *item) { return item->op->gives == HDST__GIVES_EACH || item->op->gives == HDST__GIVES_SOME; }

// The number of the failing function; item_count when it is none that can be saved.
static size_t find_failing(saver *s, hdst_error *error)
{
    const size_t none = s->stage->item_count;
    for (size_t i = 0; i < none; i++) {
        const hdst_dataset *item = s->stage->items[i];
        if ((!is_plain(item) && item->op->gives != HDST__GIVES_MANY) || run_chain(s, i + 1, NULL, error) != HDST_OK) return none;
        if (s->failed) return item->spec && item->spec->function->body ? i : none;
        if (!is_plain(item)) return none;       // it may be any of the records that come out
    }
    return none;
}

// What function number `at` is called with.
static const void *input_of(saver *s, size_t at, hdst_error *error)
{
    size_t maps = at;           // filters leave the record as it is
    while (maps && s->stage->items[maps - 1]->op->gives != HDST__GIVES_EACH) maps--;
    if (!maps) return s->input;
    void *output = hdst__arena_alloc(&s->arena, s->stage->items[maps - 1]->record->size + 64);
    return run_chain(s, maps, output, error) == HDST_OK ? output : NULL;
}

// --- The file ---

void hdst__replay_add_module(hdst__arena *arena, const hdst_module *module, hdst__replay *replay)
{
    replay->module = module->diags.sources[0].name;
    replay->sources = module->diags.sources;
    replay->source_count = module->diags.source_count;
    replay->params = module->params;
    replay->param_count = module->param_count;
    hdst__buffer text;
    hdst__buffer_init(&text, HDST__ALLOCATOR(module));
    if (module->record_count) hdst__schema_write(module->records, module->record_count, &text);
    replay->records = hdst__arena_strdup(arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

static hdst_status add_tables(saver *s, const ir_func *func, hdst__replay *replay, hdst_error *error)
{
    hdst__replay_table *tables = HDST__NEW_ARRAY(&s->arena, hdst__replay_table, func->param_count + 1);
    replay->tables = tables;
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (param->kind != IR_BROADCAST_TABLE && param->kind != IR_ACCUM_TABLE) continue;
        const hdst__plan_param bound = bound_to(s, param);
        hdst__replay_table *table = &tables[replay->table_count++];
        const void *rows;
        *table = (hdst__replay_table){.parameter = param->name};
        hdst_status status = hdst__plan_param_rows(&bound, &rows, &table->rows, error);
        if (status != HDST_OK) return status;
        if (param->kind != IR_BROADCAST_TABLE) continue;
        table->bytes = table->rows * param->record->size;
        table->data = table->rows ? hdst__replay_take_texts(&s->arena, param->record, rows, table->rows, replay) : "";
    }
    return HDST_OK;
}

static hdst_status write_file(saver *s, size_t at, const char *folder, hdst_error *why, hdst_error *error)
{
    const hdst_dataset *item = s->stage->items[at];
    const ir_func *func = s->functions[at];
    const uint64_t bytes = func->params[0].record->size;
    const void *input = s->pair ? s->pair : input_of(s, at, error);
    if (!input) return error->code;
    hdst__replay replay = {.function = item->spec->function->name, .record = s->record, .input_bytes = bytes, .next = s->pair ? s->pair + bytes : NULL,
                           .next_bytes = s->pair ? bytes : 0};
    replay.input = hdst__replay_take_texts(&s->arena, func->params[0].record, input, 1, &replay);
    hdst__replay_add_module(&s->arena, item->spec->module, &replay);
    hdst_status status = add_tables(s, func, &replay, error);
    return status == HDST_OK ? hdst__replay_store(&s->arena, folder, &replay, why, error) : status;
}

// --- Where ---

const char *hdst__replay_folder(hdst__arena *arena, const hdst_context *context)
{
    const char *wanted = context->replay_dir;
    const char *named = getenv("HDST_REPLAY_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (wanted) return *wanted ? wanted : NULL;
    if (named) return *named ? named : NULL;
    if (state && *state == '/') return hdst__arena_printf(arena, "%s/hdst", state);
    return home && *home == '/' ? hdst__arena_printf(arena, "%s/.local/state/hdst", home) : NULL;
}

hdst_status hdst__replay_store(hdst__arena *arena, const char *folder, hdst__replay *replay, hdst_error *why, hdst_error *error)
{
    char reason[400];
    if (!hdst__make_folders(folder, reason, sizeof reason))
        return hdst__error_set(error, HDST_E_IO, "%s (let HDST_REPLAY_DIR name a folder of yours, or be empty: then none is saved)", reason);
    const char *path = hdst__arena_printf(arena, "%s/%s.replay", folder, replay->function);
    replay->message = hdst__arena_printf(arena, "%s:%u:%u: %s", why->file, why->line, why->column, why->message);
    hdst_status status = hdst__replay_write(replay, arena->allocator, path, error);
    if (status == HDST_OK)
        hdst__error_hint(why, "%s", hdst__arena_printf(arena, "%s%s`hdst replay %s` shows it step by step", why->hint, why->hint[0] ? "; " : "", path));
    return status;
}

static hdst_status save(saver *s, hdst_error *why, hdst_error *error)
{
    const char *folder = hdst__replay_folder(&s->arena, s->node->dataset->object.context);
    if (!folder) return HDST_OK;
    s->functions = HDST__NEW_ARRAY(&s->arena, ir_func *, s->stage->item_count + 1);
    for (size_t i = 0; i < s->stage->item_count; i++)
        if (!(s->functions[i] = hdst__plan_lower(&s->arena, s->stage->items[i], error))) return error->code;
    hdst_status status = s->pair ? HDST_OK : read_record(s, error);
    if (status != HDST_OK) return status;
    if (s->pair && s->functions[0]->params[0].record->has_text) return hdst__error_set(error, HDST_E_UNSUPPORTED, "its texts are gone");
    const size_t at = s->pair ? 0 : find_failing(s, error);     // a reduce is alone in its node
    if (at == s->stage->item_count) return error->code;
    return write_file(s, at, folder, why, error);
}

static hdst_status save_guarded(saver *s, hdst_error *why, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&s->arena, allocator_of(s), &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a record to be replayed");
    return save(s, why, error);
}

void hdst__replay_save(const hdst__node *node, const hdst__stage_node *stage, const void *pair, hdst_error *error)
{
    if (!error || error->code != HDST_E_RECORD) return;
    saver s = {.node = node, .stage = stage, .record = error->record, .pair = pair};
    if (stage->folds && !pair) return;
    hdst_error own = HDST_ERROR_INIT;
    if (save_guarded(&s, error, &own) != HDST_OK)
        hdst__log_write(&node->dataset->object.context->log, HDST__LOG_WARN, "the record cannot be saved for `hdst replay`: %s", own.message);
    hdst__text_room_close(&s.texts);
    hdst__arena_destroy(&s.arena);
}
