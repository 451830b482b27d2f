// SPDX-License-Identifier: Apache-2.0
// A stage's node: its operators as one function, what its parameters are bound to, its accumulators as rows.
#include "plan/plan.h"

#include "codegen/lower/operator_functions.h"
#include "plan/keyed_records.h"
#include "plan/replay_save.h"
#include "accum/reduce.h"
#include "accum/first_level.h"

#include <inttypes.h>
#include <string.h>

// --- One operator ---

static ir_func *lower_function(hdst__arena *arena, const hdst_dataset *item, hdst_error *error)
{
    hdst_module *module = item->spec->module;
    if (!item->spec->function->body) return hdst__lower_signature(arena, module->tree, item->spec->function);
    ir_func *func = hdst__lower(arena, module->tree, item->spec->function);
    if (func) return func;      // else it is too large with its helpers in place, which lowering has reported
    if (hdst__diags_to_error(&module->diags, HDST_E_KERNEL, error) == HDST_OK)
        hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' cannot be run yet", item->spec->function->name);
    return NULL;
}

// A parameter is recognised after fusion by the very pointer of its `bind` text, so every one gets a text of its own.
ir_func *hdst__plan_lower(hdst__arena *arena, const hdst_dataset *item, hdst_error *error)
{
    ir_func *func;
    switch (item->op) {
    case HDST__OP_SAMPLE: func = hdst__operator_sample(arena, item->record); break;
    case HDST__OP_ONES: func = hdst__operator_ones(arena, item->parent->record, item->record, hdst__is_key_leaf); break;
    case HDST__OP_ZIP: func = hdst__operator_zip(arena, item->parent->record, item->record); break;
    case HDST__OP_COUNT: func = hdst__operator_count(arena, item->parent->record); break;
    case HDST__OP_SIEVE: func = hdst__operator_sieve(arena, item->record, item->place.leaf, item->place.element); break;
    case HDST__OP_REDUCE_DENSE:
        func = lower_function(arena, item, error);
        if (func)
            func = hdst__operator_dense(arena, func, item->parent->record, item->key, item->spec->function->span, item->spec->module->tree->diags);
        break;
    default: func = lower_function(arena, item, error);
    }
    if (func && item->object.context->unchecked) hdst__pass_unchecked(func);
    for (size_t i = 0; func && i < func->param_count; i++) func->params[i].bind = hdst__arena_printf(arena, "%s.%s", func->name, func->params[i].name);
    return func;
}

hdst_status hdst__plan_passes(ir_func *func, hdst_error *error)
{
    const char *wrong = hdst__passes_scalar(func);
    return wrong ? hdst__error_set(error, HDST_E_INTERNAL, "the compiler made a function that does not verify: %s", wrong) : HDST_OK;
}

// --- Parameters ---

static void bind_user(hdst__plan_param *result, const hdst_dataset *item)
{
    for (size_t b = 0; b < item->spec->binding_count; b++) {
        const hdst__binding *binding = &item->spec->bindings[b];
        if (strcmp(binding->parameter, result->name)) continue;
        result->value = binding->value;
        if (!binding->value) result->rows = binding->rows;
    }
}

hdst__plan_param hdst__plan_param_of(const ir_func *func, const ir_param *param, const hdst_dataset *item)
{
    hdst__plan_param result = {.function = func->name, .name = param->name, .rows = 1};
    if (item->op == HDST__OP_SAMPLE) result.data = strcmp(param->name, "seed") ? &item->limit : &item->seed;
    else if (item->op == HDST__OP_REDUCE_DENSE) result.rows = item->count;
    else if (item->spec) bind_user(&result, item);
    return result;
}

static void match_params(const hdst_dataset *item, hdst__node *node)
{
    const ir_func *from = item->mark.func, *fused = node->func;
    for (size_t i = 0; i < from->param_count; i++)
        for (size_t j = 0; j < fused->param_count; j++)
            if (fused->params[j].bind == from->params[i].bind) node->params[j] = hdst__plan_param_of(from, &from->params[i], item);
}

// Its own parameter, "begin".
static void match_range(const ir_func *range, hdst__node *node)
{
    for (size_t j = 0; j < node->func->param_count; j++)
        if (node->func->params[j].bind == range->params[1].bind)
            node->params[j] = (hdst__plan_param){.function = range->name, .name = range->params[1].name, .data = &node->range_begin, .rows = 1};
}

// Its rows may have changed since it was bound.
static hdst_status check_value(const hdst__plan_param *param, bool is_table, hdst_error *error)
{
    const hdst_value *value = param->value;
    const hdst_status status = hdst__object_status(&value->object, error);
    if (status != HDST_OK || is_table || value->rows == 1) return status;
    hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' is one row, the value has %" PRIu64 " now", param->name, param->function, value->rows);
    hdst__error_hint(error, "hdst_value_set with one row, or declare the parameter as a table: '%s[]'", param->name);
    return HDST_E_USAGE;
}

hdst_status hdst__stage_node_values(const hdst__node *node, hdst_error *error)
{
    for (size_t i = 0; node->params && i < node->func->param_count; i++) {
        const hdst__plan_param *param = &node->params[i];
        const hdst_status status = param->value ? check_value(param, node->func->params[i].is_table, error) : HDST_OK;
        if (status != HDST_OK) return status;
        ((const void **)node->values->broadcast)[i] = param->value ? param->value->data : param->data;
        ((hdst__value_rows **)node->values->resident)[i] = param->value && param->value->on_device ? param->value->resident : NULL;
        ((uint64_t *)node->values->rows)[i] = param->value ? param->value->rows : param->rows;
        ((uint64_t *)node->values->version)[i] = param->value ? param->value->version : param->version;
    }
    return HDST_OK;
}

// --- Making ---

// The functions of the items, behind `range` unless that is NULL.
static hdst_status fuse(hdst__arena *arena, hdst__node *node, ir_func *range, hdst_error *error)
{
    ir_func **functions = HDST__NEW_ARRAY(arena, ir_func *, node->item_count + 1);
    const size_t before = range ? 1 : 0;
    functions[0] = range;
    for (size_t i = 0; i < node->item_count; i++) functions[before + i] = node->items[i]->mark.func;
    node->func = hdst__fuse(arena, functions, before + node->item_count);
    if (node->func) {
        ((ir_func *)node->func)->emits_few = node->dataset->op == HDST__OP_SIEVE;
        return HDST_OK;
    }
    hdst__error_set(error, HDST_E_KERNEL, "the chain up to '%s' has more than %d statements, for what follows a flat_map stands at each of its emits",
                    node->items[node->item_count - 1]->mark.func->name, HDST__FUSE_LIMIT);
    hdst__error_hint(error, "emit at one place, in a loop");
    return HDST_E_KERNEL;
}

static void list_tables(hdst__arena *arena, hdst__node *node)
{
    const ir_func *func = node->func;
    node->tables = HDST__NEW_ARRAY(arena, hdst__plan_table, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (param->kind != IR_ACCUM_TABLE) continue;
        node->tables[node->table_count++] = (hdst__plan_table){
            .function = node->params[i].function, .name = node->params[i].name, .record = param->record, .param = (uint32_t)i};
    }
    // The reduce comes last, and so do its accumulators.
    hdst__operator last = node->dataset->op;
    if (last == HDST__OP_REDUCE || last == HDST__OP_REDUCE_DENSE) node->records_table = &node->tables[node->table_count - 1];
}

// The spec of a map whose code was given apart; such a map is alone in its node.
static const hdst_map_spec *own_code(const hdst__node *node)
{
    const hdst_map_spec *spec = node->dataset->spec;
    return node->kind == HDST__NODE_STAGE && spec && spec->separate ? spec : NULL;
}

hdst_status hdst__stage_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_map_spec *own = own_code(node);
    const bool declared = own && !own->function->body;
    ir_func *range = own ? NULL : hdst__range_node_make(arena, node);
    if (declared) node->func = node->dataset->mark.func;
    hdst_status status = declared ? HDST_OK : fuse(arena, node, range, error);
    if (status != HDST_OK) return status;
    size_t count = node->func->param_count;
    node->params = HDST__NEW_ARRAY(arena, hdst__plan_param, count);
    if (range) match_range(range, node);
    for (size_t i = 0; i < node->item_count; i++) match_params(node->items[i], node);
    hdst__stage_values *values = HDST__NEW(arena, hdst__stage_values);
    *values = (hdst__stage_values){HDST__NEW_ARRAY(arena, const void *, count), HDST__NEW_ARRAY(arena, uint64_t, count), HDST__NEW_ARRAY(arena, uint64_t, count),
                                   HDST__NEW_ARRAY(arena, hdst__value_rows *, count)};
    node->values = values;
    list_tables(arena, node);
    return declared ? HDST_OK : hdst__plan_passes((ir_func *)node->func, error);
}

// --- Running ---

static hdst__stage_kind stage_kind(const hdst__node *node)
{
    if (node->kind == HDST__NODE_STAGE) return HDST__STAGE_MAP;
    const hdst_map_spec *spec = node->dataset->spec;       // none: an operator's own, which is associative
    return spec && spec->function->reduce_class == AST_ORDERED ? HDST__STAGE_FOLD_ORDERED : HDST__STAGE_FOLD;
}

// Code of the program's own finds C structs, whatever the layout elsewhere.
static hdst_status read_structs(const hdst__node *node, hdst__stage_spec *spec, hdst_error *error)
{
    if (spec->reader.layout != HDST__AOS && spec->cache) {
        hdst__error_set(error, HDST_E_UNSUPPORTED, "the code given for '%s' reads C structs; the cached records before it lie in another layout", node->func->name);
        hdst__error_hint(error, "put hdst_with_layout(records, HDST_AOS) in front of it");
        return HDST_E_UNSUPPORTED;
    }
    spec->reader.layout = HDST__AOS;
    spec->reader.block = 0;
    return HDST_OK;
}

// Whether the records had better wait on the device for who would take them slice by slice. Nobody knows how many a flat_map gives.
static bool stays_whole(const hdst__node *node, uint64_t records, hdst_error *error)
{
    for (size_t i = 0; i < node->item_count; i++)
        if (node->items[i]->op == HDST__OP_FLAT_MAP) return false;
    return node->taker && !own_code(node) && hdst__by_key_node_wants_whole(node->taker, records, error);
}

hdst_status hdst__stage_node_input(hdst__node *node, hdst_error *error)
{
    const hdst__node *input = node->inputs[0];
    hdst__stage_spec spec = {.kind = stage_kind(node), .func = node->func, .reader = input->reader, .cache = input->resident, .identity = node->identity,
                             .keep_output = node->keeps, .may_spill = node->kind == HDST__NODE_STAGE, .enough = node->enough, .takes_rows = true, .built_in = !node->dataset->spec};
    if (node->nothing) {
        spec.reader = hdst__range_node_reader(node);
        spec.cache = NULL;
    }
    const hdst_map_spec *own = own_code(node);
    if (own) {
        hdst_status status = read_structs(node, &spec, error);
        if (status != HDST_OK) return status;
        spec.separate = own->code;
        spec.only_declared = !own->function->body;
    }
    if (node->stage) return hdst__stage_set_input(node->stage, &spec.reader, spec.cache, error);
    if (stays_whole(node, spec.reader.records, error)) {
        node->taker = NULL;
        spec.keep_output = node->keeps = true;
    }
    if (node->taker) spec.sink = hdst__by_key_node_sink(node->taker, error);
    if (node->taker && !spec.sink) return HDST_E_MEMORY;
    node->stage = hdst__stage_create(node->dataset->object.context->engine, &spec);
    return node->stage ? HDST_OK : hdst__error_memory(error, "a stage");
}

static void free_rows(hdst__node *node, hdst__plan_table *table)
{
    hdst__free(HDST__ALLOCATOR(node->dataset), table->rows);
    table->rows = NULL;
    table->row_count = table->bytes = 0;
}

static hdst_status make_rows(hdst__node *node, hdst__plan_table *table, uint64_t rows, hdst_error *error)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(rows, table->record->size, &bytes)) return hdst__error_memory(error, "a result");
    if (table->rows && table->bytes == bytes) {
        memset(table->rows, 0, (size_t)bytes);
    } else {
        free_rows(node, table);
        table->rows = hdst__alloc_zero(HDST__ALLOCATOR(node->dataset), (size_t)bytes);
        if (!table->rows) return hdst__error_memory(error, "a result");
    }
    table->bytes = bytes;
    table->row_count = rows;
    return HDST_OK;
}

static hdst_status finish_table(hdst__node *node, const hdst__stage_output *output, size_t i, hdst_error *error)
{
    const uint64_t *rows_of_param = node->values->rows;
    hdst__plan_table *table = &node->tables[i];
    table->resident = hdst__stage_finished(node->stage, i);
    if (table->resident && table->keeps) {
        free_rows(node, table);
        table->row_count = rows_of_param[table->param];
        return HDST_OK;
    }
    hdst_status status = make_rows(node, table, rows_of_param[table->param], error);
    if (status != HDST_OK) return status;
    if (table->resident) return hdst__stage_read_finished(node->stage, i, table->rows, error);
    if (output->tables->front) hdst__front_read_rows(output->tables, rows_of_param, &output->front, i, table->record, table->rows);
    else hdst__table_read_rows(output->tables, rows_of_param, output->table, i, table->record, 0, table->row_count, table->rows);
    return HDST_OK;
}

// Turns the node's table into rows of C structs, one array per accumulator, unless the device did.
static hdst_status finish_tables(hdst__node *node, const hdst__stage_output *output, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < node->table_count && status == HDST_OK; i++) status = finish_table(node, output, i, error);
    return status;
}

// The rows of a reduce are wanted on the device by the stage that reads them.
static void keep_rows(hdst__node *node)
{
    bool keeps = false;
    if (node->records_table && node->keeps) node->tables[node->records_table - node->tables].keeps = true;
    for (size_t i = 0; i < node->table_count; i++) keeps |= node->tables[i].keeps;
    if (keeps) hdst__stage_keep_rows(node->stage);
}

hdst_status hdst__stage_node_run(hdst__node *node, hdst_error *error)
{
    hdst__stage_output output = {0};
    node->ran = false;
    hdst_status status = hdst__stage_node_input(node, error);
    if (status == HDST_OK) status = hdst__stage_node_values(node, error);
    if (status != HDST_OK) return status;
    keep_rows(node);
    status = hdst__stage_run(node->stage, node->values, &output, error);
    if (status == HDST_E_RECORD) hdst__replay_save(node, error);
    if (status == HDST_OK) status = finish_tables(node, &output, error);
    node->ran = status == HDST_OK;
    if (status != HDST_OK || !node->dataset->record) return status;
    const hdst__plan_table *table = node->records_table;
    node->rows = table ? table->rows : output.records;
    node->row_count = table ? table->row_count : output.record_count;
    node->resident = !table ? output.resident : table->rows ? NULL : table->resident;
    node->reader = !node->resident ? hdst__reader_of_rows(node, node->dataset->record) : table ? *hdst__dataset_cache_own_reader(table->resident) : output.reader;
    return HDST_OK;
}

void hdst__stage_node_drop(hdst__node *node)
{
    if (node->stage) hdst__stage_forget(node->stage);
    if (node->table_count || node->kind != HDST__NODE_STAGE) return;
    node->rows = NULL;
    node->resident = NULL;
}

void hdst__stage_node_release(hdst__node *node)
{
    if (node->stage) hdst__stage_destroy(node->stage);
    node->stage = NULL;
    node->ran = false;
    for (size_t i = 0; i < node->table_count && !node->by_key_spec; i++) free_rows(node, &node->tables[i]);
    node->rows = NULL;
    node->resident = NULL;
    node->row_count = 0;
}
