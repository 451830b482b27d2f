// SPDX-License-Identifier: Apache-2.0
// What a group function failed on is all records of a key. Of a reduce by key that is no accumulation it is two records; which ones, a run through
// the interpreter tells.
#include "plan/replay_save.h"

#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "shuffle/group/group.h"
#include "plan/kernel_module.h"
#include "plan/group_node.h"
#include "plan/replay_texts.h"

#include <string.h>

enum { RUN, RECORDS };              // parameters of a group's function

typedef struct saver {
    hdst__arena arena;
    const hdst__node *node;
    const char *rows;
    uint64_t count;
} saver;

static const hdst_dataset *dataset_of(const saver *s) { return s->node->dataset; }

// --- Groups ---

static hdst_status add_bound(const hdst__plan_param *bound, const ir_param *param, hdst__replay_table *table, hdst_error *error)
{
    const void *rows;
    *table = (hdst__replay_table){.parameter = param->name};
    const hdst_status status = hdst__plan_param_rows(bound, &rows, &table->rows, error);
    table->bytes = table->rows * param->record->size;
    table->data = table->rows ? rows : "";
    return status;
}

static void add_keys(saver *s, hdst__replay *replay)
{
    const hdst__group_own *own = dataset_of(s)->own;
    hdst__replay_key *keys = HDST__NEW_ARRAY(&s->arena, hdst__replay_key, own->key.count);
    for (size_t i = 0; i < own->key.count; i++) keys[i] = (hdst__replay_key){own->key.place[i].leaf, own->key.place[i].element};
    replay->keys = keys;
    replay->key_count = own->key.count;
}

static hdst_status describe_group(saver *s, hdst__replay *replay, hdst_error *error)
{
    const ir_func *func = s->node->call->func;
    hdst__run *run = HDST__NEW(&s->arena, hdst__run);
    hdst__replay_table *tables = HDST__NEW_ARRAY(&s->arena, hdst__replay_table, func->param_count);
    *run = (hdst__run){0, s->count};
    replay->input = run;
    replay->input_bytes = sizeof *run;
    replay->tables = tables;
    add_keys(s, replay);
    hdst_status status = HDST_OK;
    for (size_t i = RECORDS; i < func->param_count && status == HDST_OK; i++) {
        const ir_param *param = &func->params[i];
        if (param->kind != IR_BROADCAST_TABLE) continue;
        hdst__replay_table *table = &tables[replay->table_count++];
        if (i == RECORDS) *table = (hdst__replay_table){param->name, s->count, s->rows, s->count * param->record->size};
        else status = add_bound(&s->node->call->params[i], param, table, error);
        if (table->data && table->rows) table->data = hdst__replay_take_texts(&s->arena, param->record, table->data, table->rows, replay);
    }
    return status;
}

// --- Reduces ---

// The fields of the reduce's record, out of records that have the key too.
static char *take_values(saver *s, const hdst__record *values)
{
    const hdst__record *keyed = dataset_of(s)->parent->record;
    const uint32_t *value = ((const hdst__group_node *)s->node->own)->value;
    char *rows = hdst__arena_alloc(&s->arena, s->count * values->size + 64);
    memset(rows, 0, s->count * values->size);
    for (uint64_t i = 0; i < s->count; i++)
        for (uint32_t l = 0; l < values->leaf_count; l++)
            for (uint64_t e = 0; e < values->leaves[l].elements; e++)
                memcpy(rows + i * values->size + hdst__leaf_offset(&values->leaves[l], e),
                       s->rows + i * keyed->size + hdst__leaf_offset(&keyed->leaves[value[l]], e), hdst__scalar_size(values->leaves[l].kind));
    return rows;
}

static hdst_status describe_reduce(saver *s, hdst__replay *replay, hdst_error *error)
{
    const hdst_map_spec *spec = dataset_of(s)->spec;
    ir_func *func = hdst__lower(&s->arena, spec->module->tree, spec->function);
    const char *wrong = func ? hdst__passes_scalar(func) : "it cannot be lowered";
    if (wrong) return hdst__error_set(error, HDST_E_INTERNAL, "%s", wrong);
    const hdst__record *values = func->params[0].record;
    const void *rows = take_values(s, values);
    char *pair = hdst__arena_alloc(&s->arena, 2 * values->size + 64), *result = hdst__arena_alloc(&s->arena, values->size + 64);
    hdst__interp_run run = {
        .func = func, .allocator = HDST__ALLOCATOR(dataset_of(s)), .input = {hdst__storage_make(&s->arena, values, HDST__AOS, 0, s->count)},
        .input_buffers = {&rows},
        .count = s->count, .output = result, .failed_pair = pair,
    };
    const hdst_status status = hdst__interpret_fold_ordered(&run, error);
    if (status != HDST_OK) return status;
    if (run.failed_record == UINT64_MAX) return hdst__error_set(error, HDST_E_INTERNAL, "the interpreter finds nothing wrong with its records");
    replay->input = pair;
    replay->next = pair + values->size;
    replay->input_bytes = replay->next_bytes = values->size;
    return HDST_OK;
}

// --- Both ---

static hdst_status save(saver *s, hdst_error *why, hdst_error *error)
{
    const hdst_map_spec *spec = dataset_of(s)->spec;
    const char *folder = hdst__replay_folder(&s->arena, spec->object.context);
    if (!folder) return HDST_OK;
    hdst__replay replay = {.function = spec->function->name, .record = why->record};
    hdst__replay_add_module(&s->arena, spec->module, &replay);
    const hdst_status status = (spec->function->kind == AST_GROUP ? describe_group : describe_reduce)(s, &replay, error);
    return status == HDST_OK ? hdst__replay_store(&s->arena, folder, &replay, why, error) : status;
}

static hdst_status save_guarded(saver *s, hdst_error *why, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&s->arena, HDST__ALLOCATOR(dataset_of(s)), &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "records to be replayed");
    return save(s, why, error);
}

void hdst__replay_save_group(const hdst__node *node, const char *rows, uint64_t count, hdst_error *error)
{
    saver s = {.node = node, .rows = rows, .count = count};
    hdst_error own = HDST_ERROR_INIT;
    if (save_guarded(&s, error, &own) != HDST_OK)
        hdst__log_write(&node->dataset->object.context->log, HDST__LOG_WARN, "the records of a key cannot be saved for `hdst replay`: %s", own.message);
    hdst__arena_destroy(&s.arena);
}
