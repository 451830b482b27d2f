// SPDX-License-Identifier: Apache-2.0
// Reduces of the records of each key, however many keys there are. A function that is no accumulation runs over all records of a key together (op_group.c).
#include "plan/aggregate_node.h"
#include "plan/keyed_records.h"
#include "plan/map_spec.h"
#include "plan/op_group.h"
#include "plan/op_reduce_arranged.h"
#include "plan/stage_call.h"

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> reduce %s by key", dataset->spec->function->name); }

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, dataset->record->leaf_count);
    const uint32_t count = hdst__key_leaves(dataset->record, leaves);
    const ir_func *reduce = hdst__plan_name_params(arena, dataset, hdst__plan_lower_function(arena, dataset, error));
    if (!reduce) return error->code;
    hdst__aggregate_node_make(arena, node, &(hdst__aggregate_spec){.record = dataset->record, .key_leaves = leaves, .key_count = count,
                                                                   .laws = reduce->params[1].leaf_op,
        .container = ((const hdst__aggregate_own *)dataset->own)->container}, true);
    return HDST_OK;
}

const hdst__operator hdst__op_reduce_by_key = {
    HDST__AGGREGATE_OPERATOR, .name = "hdst_reduce_by_key", .describe = describe, .build = build, .stands_in = hdst__reduce_arranged_stands_in,
};

// --- The dataset ---

static hdst_status fill_reduce(hdst_dataset *dataset, hdst_error *error)
{
    const hdst_dataset *parent = dataset->parent;
    hdst_status status = hdst__object_status(&dataset->spec->object, error);
    if (status != HDST_OK) return status;
    const ast_function *function = dataset->spec->function;
    if (function->kind != AST_REDUCE) return hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_by_key was given '%s', which is no reduce", function->name);
    status = hdst__dataset_has_records(parent, "hdst_reduce_by_key", error);
    if (status == HDST_OK) status = hdst__aggregate_check_key(parent, "hdst_reduce_by_key", false, error);
    if (status == HDST_OK) status = hdst__keyed_values_fit(parent->record, function, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(dataset->spec, error);
    if (status == HDST_OK && function->reduce_class != AST_FIELD_WISE) status = hdst__dataset_group_by_key(dataset, error);
    hdst__dataset_as_structs(dataset);
    return status;
}

hdst_dataset *hdst_reduce_by_key(hdst_dataset *from, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_status status = hdst__check_object(context, __func__, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "function", function, &error);
    hdst_map_spec *spec = status == HDST_OK ? hdst__map_spec_make(module, function) : NULL;
    hdst_dataset *dataset = hdst__dataset_new(context, &hdst__op_reduce_by_key, from);
    if (!dataset->object.context) hdst__object_drop(spec ? &spec->object : NULL);
    else dataset->spec = spec;
    if (status == HDST_OK && !dataset->object.error) status = fill_reduce(dataset, &error);
    if (status != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(context);
    return dataset;
}
