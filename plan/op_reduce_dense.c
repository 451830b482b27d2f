// SPDX-License-Identifier: Apache-2.0
// Reduces by a key that is the number of a record of the result, of which each is there. They are accumulators of a stage, or where there are very
// many records a reduction by key. Functions in front give it their records slice by slice then, and make the check of the key.
#include "codegen/interp/interp.h"
#include "codegen/lower/operator_functions.h"
#include "engine/stage/table_room.h"
#include "plan/aggregate_node.h"
#include "plan/map_spec.h"
#include "plan/op_group.h"
#include "plan/user_function.h"

#include <inttypes.h>
#include <string.h>

typedef struct dense_own {
    hdst__group_own group;          // first: a reduce that is no accumulation becomes a group. Its `rows` are the result's of all
    uint32_t key;                   // its leaf in the parent's record
    const hdst_map_spec *spec;      // of the reduce: for the function in front, whose dataset has none
    bool by_rows;                   // a stage had no room for the table, as it turned out
} dense_own;

enum { RESULT = 1 };                // the parameter of the function that is the table

static const dense_own *own_of(const hdst_dataset *dataset) { return dataset->own; }

// --- The key ---

// The leaf that was declared `key`, else the one that is called so; the number of leaves: none.
static uint32_t find_key(const hdst__record *record)
{
    for (uint32_t i = 0; i < record->field_count; i++) {
        if (!record->fields[i].is_key) continue;
        for (uint32_t l = 0; l < record->leaf_count; l++)
            if (!strcmp(record->leaves[l].path, record->fields[i].name)) return l;
    }
    for (uint32_t l = 0; l < record->leaf_count; l++)
        if (!strcmp(record->leaves[l].path, "key")) return l;
    return (uint32_t)record->leaf_count;
}

// Leaf `path` of the keyed record is leaf `name` of the reduce's record, itself or inside a nested one.
static bool ends_with(const char *path, const char *name)
{
    size_t length = strlen(path), end = strlen(name);
    return length >= end && !strcmp(path + length - end, name) && (length == end || path[length - end - 1] == '.');
}

static bool values_fit(const hdst__record *keyed, uint32_t key, const hdst__type *type)
{
    if (type->kind != HDST__RECORD)
        return keyed->leaf_count == 2 && keyed->leaves[!key].kind == type->kind && keyed->leaves[!key].elements == 1;
    const hdst__record *values = type->record;
    if (keyed->leaf_count != values->leaf_count + 1) return false;
    for (uint32_t i = 0; i < values->leaf_count; i++) {
        const hdst__leaf *from = &keyed->leaves[i < key ? i : i + 1], *to = &values->leaves[i];
        if (from->kind != to->kind || from->elements != to->elements || !ends_with(from->path, to->path)) return false;
    }
    return true;
}

static hdst_status check_keyed(hdst_dataset *dataset, const ast_function *reduce, hdst_error *error)
{
    const hdst__record *keyed = dataset->parent->record;
    const hdst__type *type = reduce->params[0]->type;
    uint32_t key = find_key(keyed);
    if (key == keyed->leaf_count) {
        hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_dense needs records with a key; '%s' has none", keyed->name);
        hdst__error_hint(error, "let a map give '-> (key uint32_t k, ...)', or call a field 'key'");
        return HDST_E_USAGE;
    }
    if (!hdst__kind_is_integer(keyed->leaves[key].kind) || keyed->leaves[key].elements != 1)
        return hdst__error_set(error, HDST_E_USAGE, "key '%s' of '%s' is no integer, so it names no row of a dense result",
                               keyed->leaves[key].path, keyed->name);
    if (!values_fit(keyed, key, type)) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' reduces '%s'; '%s' has other fields beside its key '%s'", reduce->name,
                        type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), keyed->name, keyed->leaves[key].path);
        hdst__error_hint(error, "the fields beside the key are those of the reduce's record, in order");
        return HDST_E_USAGE;
    }
    ((dense_own *)dataset->own)->key = key;
    if (reduce->reduce_class == AST_FIELD_WISE) return HDST_OK;
    if (reduce->identity) return hdst__dataset_group_dense(dataset, key, error);
    hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_dense with '%s' needs its identity, for records whose key does not occur", reduce->name);
    if (reduce->class_reason) hdst__error_cause(error, "%s", reduce->class_reason);
    hdst__error_hint(error, "declare it: reduce %s(T a, T b) identity { ... } { ... }", reduce->name);
    return HDST_E_USAGE;
}

// --- A function of a stage ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    hdst__buffer_printf(out, " -> reduce %s by key to %" PRIu64 " records", dataset->spec->function->name, own_of(dataset)->group.rows);
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    ir_func *func = hdst__plan_lower_function(arena, dataset, error);
    const ast_function *reduce = dataset->spec->function;
    return func ? hdst__operator_dense(arena, func, dataset->parent->record, own_of(dataset)->key, reduce->span, dataset->spec->module->tree->diags) : NULL;
}

static hdst__plan_param bind(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    return (hdst__plan_param){.function = func->name, .name = param->name, .rows = own_of(dataset)->group.rows};
}

static const hdst__plan_rows *row_starts(const hdst_dataset *dataset, uint64_t rows)
{
    const hdst_dataset *input = hdst__fused_input(dataset);
    return input->op->key_starts ? input->op->key_starts(input, rows) : NULL;
}

// Rows that kernels write as they are complete (engine/stage/launch_fixed_point.h) need no table; should it come to one that has no room, they are made by
// parts of the rows after all.
static bool may_need_no_table(const hdst_dataset *dataset)
{
    const hdst_dataset *input = hdst__fused_input(dataset);
    hdst__engine *engine = dataset->object.context->engine;
    return hdst__engine_runs_kernels(engine) && hdst__engine_workers(engine) == 1 && input && input->op->key_starts;
}

// Sums of many rows are made by parts of the rows (shuffle/aggregate/aggregate.h), unless they are wanted unfinished, or the records of a row come together.
static const hdst__operator *runs_as(hdst__arena *arena, const hdst__plan *plan, const hdst_dataset *dataset)
{
    hdst__engine *engine = dataset->object.context->engine;
    const uint64_t rows = own_of(dataset)->group.rows;
    if (plan->keeps_partials) return NULL;
    const hdst__accumulate_op *laws = dataset->mark.func->params[RESULT].leaf_op;
    const bool fused = hdst__dataset_fuses(dataset), together = fused && hdst__input_arranged_by(dataset);
    const bool suits = own_of(dataset)->by_rows || (!together && hdst__aggregate_suits_rows(engine, dataset->record, laws, rows, fused)) ||
        (hdst__aggregate_takes_rows(rows) && !(together && may_need_no_table(dataset)) && !hdst__stage_table_fits(engine, arena, dataset->mark.func, rows));
    return suits ? &hdst__op_reduce_to_rows : NULL;
}

// Sums that do not fit words in fixed point need more than was thought.
static bool runs_otherwise(hdst_dataset *dataset, hdst_status status)
{
    dense_own *own = dataset->own;
    if (status != HDST_E_MEMORY || own->by_rows || own->group.dense || !hdst__aggregate_takes_rows(own->group.rows)) return false;
    return own->by_rows = true;
}

static hdst_dataset *in_front(hdst__arena *arena, const hdst_dataset *dataset)
{
    hdst_dataset *front = HDST__NEW(arena, hdst_dataset);
    *front = *dataset->parent;
    front->op = &hdst__op_key_in_range;
    front->parent = dataset->parent;
    front->inputs = NULL;
    front->input_count = 0;
    front->spec = NULL;
    front->own = dataset->own;
    hdst__dataset_as_structs(front);
    return front;
}

static const hdst__container_rule containers = {
    .allowed = 1u << HDST_CONTAINER_AUTO | 1u << HDST_CONTAINER_DENSE, .why = "a dense reduce has a row for each number",
    .hint = "hdst_reduce_by_key has the others",
};

const hdst__operator hdst__op_reduce_dense = {
    .name = "hdst_reduce_dense", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(dense_own), .containers = &containers, .describe = describe,
    .lower = lower, .bind = bind, .runs_as = runs_as, .runs_otherwise = runs_otherwise,
    .in_front = in_front, .row_starts = row_starts,
};

// --- The check of the key, as a function ---

static void describe_check(const hdst_dataset *dataset, hdst__buffer *out)
{
    hdst__buffer_printf(out, " -> keys below %" PRIu64, own_of(dataset)->group.rows);
}

static ir_func *lower_check(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    const hdst_map_spec *spec = own_of(dataset)->spec;
    return hdst__operator_key_in_range(arena, dataset->record, own_of(dataset)->key, spec->function->span, spec->module->tree->diags);
}

static hdst__plan_param bind_check(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    return (hdst__plan_param){.function = func->name, .name = param->name, .rows = 1, .data = &own_of(dataset)->group.rows};
}

const hdst__operator hdst__op_key_in_range = {
    .name = "keys in range", .gives = HDST__GIVES_EACH, .describe = describe_check, .lower = lower_check, .bind = bind_check,
};

// --- A reduction by key, whose keys are the numbers of rows ---

typedef struct rows_table {
    hdst__plan_table table;         // first: it is the node's
    const ir_func *func;            // for messages
} rows_table;

// The result is also what the accumulator of a stage would be, under its name.
static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    hdst_dataset *dataset = node->dataset;
    const ir_func *func = dataset->mark.func;
    const ir_param *result = &func->params[RESULT];
    rows_table *own = HDST__NEW(arena, rows_table);
    own->func = func;
    node->tables = &own->table;
    node->tables[node->table_count++] = (hdst__plan_table){.function = func->name, .name = result->name, .record = dataset->record, .param = RESULT};
    hdst__aggregate_node_make(arena, node, &(hdst__aggregate_spec){.record = dataset->parent->record, .key_leaves = &own_of(dataset)->key,
                                                                   .key_count = 1, .laws = result->leaf_op,
        .rows = dataset->record, .row_count = own_of(dataset)->group.rows, .unchecked = dataset->object.context->unchecked}, false);
    return HDST_OK;
}

// Its rows, or none, as an accumulator's.
static void show_rows(hdst__node *node)
{
    hdst__plan_table *table = node->tables;
    table->rows = (void *)node->rows;
    table->row_count = node->row_count;
    table->bytes = node->row_count * table->record->size;
}

// As a stage would say it, of the check of the key's range, which is the function's only one.
static void explain_error(const hdst__node *node, hdst_error *error)
{
    const hdst__aggregate *aggregate = hdst__aggregate_node_of(node);
    uint64_t record, key;
    if (!aggregate || error->code != HDST_E_RECORD || !hdst__aggregate_stray(aggregate, &record, &key)) return;
    hdst__check_to_error(((const rows_table *)node->tables)->func, 0, key, own_of(node->dataset)->group.rows, NULL, record, error);
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    const hdst_status status = hdst__aggregate_node_run(plan, node, error);
    if (status != HDST_OK) explain_error(node, error);
    show_rows(node);
    return status;
}

static void release(hdst__node *node)
{
    hdst__aggregate_node_release(node);
    show_rows(node);
}

const hdst__operator hdst__op_reduce_to_rows = {
    .name = "a dense reduce by key", .gives = HDST__GIVES_OTHERS, .may_stay_on_host = true, .build = build, .run = run, .known = hdst__node_has_run,
    .explain = hdst__aggregate_node_explain, .drop = hdst__aggregate_node_drop, .release = release, .consumer = hdst__aggregate_node_consumer,
    .wants_whole = hdst__aggregate_node_wants_whole,
};

// --- The dataset ---

hdst_dataset *hdst_reduce_dense(hdst_dataset *from, hdst_module *module, const char *function, uint64_t rows)
{
    static const hdst__user_function call = {&hdst__op_reduce_dense, AST_REDUCE, check_keyed};
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_dataset *dataset = hdst__user_function_by_name(__func__, from, &call, module, function);
    dense_own *own = dataset->own;
    if (dataset->object.context) own->group.rows = rows, own->spec = dataset->spec;        // nobody else has it yet
    return dataset;
}
