// SPDX-License-Identifier: Apache-2.0
// How many records each key has: the sums of a 1 for each.
#include "codegen/lower/operator_functions.h"
#include "plan/aggregate_node.h"
#include "plan/keyed_records.h"
#include "plan/op_reduce_arranged.h"

// --- The key and a 1, a function ---

static void describe_ones(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> a 1 for each key");
}

static ir_func *lower_ones(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_ones(arena, dataset->parent->record, dataset->record, hdst__is_key_leaf);
}

const hdst__operator hdst__op_ones = {.name = "ones", .gives = HDST__GIVES_EACH, .describe = describe_ones, .lower = lower_ones};

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> counts by key");
}

// The key is all but the last field.
static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    static const hdst__accumulate_op sum = HDST__SUM;
    const hdst_dataset *dataset = node->dataset;
    const uint32_t count = (uint32_t)dataset->record->leaf_count - 1;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) leaves[i] = i;
    hdst__aggregate_node_make(arena, node, &(hdst__aggregate_spec){.record = dataset->record, .key_leaves = leaves, .key_count = count,
                                                                   .laws = &sum, .container = ((const hdst__aggregate_own *)dataset->own)->container}, true);
    return HDST_OK;
}

const hdst__operator hdst__op_count_by_key = {
    HDST__AGGREGATE_OPERATOR, .name = "hdst_count_by_key", .describe = describe, .build = build, .stands_in = hdst__count_arranged_stands_in,
};

// --- The dataset ---

// The record of counts has the key's fields, then a uint64_t.
static hdst_status check_count(const hdst__record *from, const hdst__record *to, hdst_error *error)
{
    uint32_t at = 0;
    char wanted[160], is[160];
    for (uint32_t i = 0; i < from->leaf_count; i++) {
        const hdst__leaf *leaf = &from->leaves[i], *have = at + 1 < to->leaf_count ? &to->leaves[at] : NULL;
        if (!hdst__is_key_leaf(from, i)) continue;
        at++;
        if (have && have->kind == leaf->kind && have->elements == leaf->elements) continue;
        hdst__error_set(error, HDST_E_USAGE, "field %u of '%s' is to hold the key's %s, it is %s", (unsigned)at, to->name,
                        hdst__leaf_text(leaf, wanted), have ? hdst__leaf_text(have, is) : "not there");
        hdst__error_hint(error, "the record has the fields of the key, then a uint64_t for their number");
        return HDST_E_USAGE;
    }
    const hdst__leaf *last = &to->leaves[to->leaf_count - 1];
    if (at + 1 == to->leaf_count && last->kind == HDST__U64 && last->elements == 1) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold a count: its last field is %s, and %u belong to the key", to->name,
                    hdst__leaf_text(last, is), (unsigned)at);
    hdst__error_hint(error, "the record has the fields of the key, then a uint64_t for their number");
    return HDST_E_USAGE;
}

static hdst_status fill_ones(hdst_dataset *dataset, hdst_module *module, const char *name, hdst_error *error)
{
    hdst_status status = hdst__check_object(dataset->object.context, "hdst_count_by_key", "module", module, error);
    if (status == HDST_OK) status = hdst__check_pointer("hdst_count_by_key", "record", name, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(dataset->parent, "hdst_count_by_key", error);
    if (status == HDST_OK) status = hdst__aggregate_check_key(dataset->parent, "hdst_count_by_key", false, error);
    if (status != HDST_OK) return status;
    const hdst__record *to = hdst__module_find_record(module, name, error);
    if (!to) return error->code;
    status = check_count(dataset->parent->record, to, error);
    dataset->record = to;
    dataset->module = module;
    hdst__object_retain(&module->object);
    hdst__dataset_as_structs(dataset);
    return status;
}

hdst_dataset *hdst_count_by_key(hdst_dataset *from, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *ones = hdst__dataset_new(context, &hdst__op_ones, from);
    if (!ones->object.error && fill_ones(ones, module, record, &error) != HDST_OK) hdst__dataset_fail(ones, &error);
    hdst_dataset *dataset = ones->object.context ? hdst__dataset_new(context, &hdst__op_count_by_key, ones) : ones;
    hdst__unlock(context);
    return dataset;
}
