// SPDX-License-Identifier: Apache-2.0
// Operators that bring records with equal keys together, however many keys there are: reductions, counts, distinct records.
#include "plan/keyed_records.h"

#include "shuffle/aggregate/aggregation_layout.h"

#include <string.h>

// Whether the leaves of the key, or all, can be hashed.
static hdst_status check_leaves(hdst__arena *arena, const hdst__record *record, const char *what, bool all, hdst_error *error)
{
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, record->leaf_count), count = (uint32_t)record->leaf_count;
    for (uint32_t i = 0; i < count; i++) leaves[i] = i;
    if (!all) count = hdst__key_leaves(record, leaves);
    if (count == 0) {
        hdst__error_set(error, HDST_E_USAGE, "%s needs records with a key; '%s' has none", what, record->name);
        hdst__error_hint(error, "let a map give '-> (key uint32_t k, ...)', or call a field 'key'");
        return HDST_E_USAGE;
    }
    uint32_t leaf;
    const char *why = hdst__aggregation_layout_why_not(record, leaves, count, &leaf);
    if (!why) return HDST_OK;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "%s cannot tell records of '%s' apart by '%s': %s", what, record->name, record->leaves[leaf].path, why);
}

static hdst_status check_key(const hdst_dataset *parent, const char *what, bool all, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, HDST__ALLOCATOR(parent), &out_of_memory);
    const hdst_status status = setjmp(out_of_memory) ? hdst__error_memory(error, "an operator") : check_leaves(&arena, parent->record, what, all, error);
    hdst__arena_destroy(&arena);
    return status;
}

static void take_rows_as_they_are(hdst_dataset *dataset)
{
    dataset->layout = HDST__AOS;
    dataset->block = 0;
}

// --- Reduce ---

static hdst_status fill_reduce(hdst_dataset *dataset, hdst_error *error)
{
    const hdst_dataset *parent = dataset->parent;
    hdst_status status = hdst__object_status(&dataset->spec->object, error);
    if (status != HDST_OK) return status;
    const ast_function *function = dataset->spec->function;
    if (function->kind != AST_REDUCE) return hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_by_key was given '%s', which is no reduce", function->name);
    status = hdst__dataset_has_records(parent, "hdst_reduce_by_key", error);
    if (status == HDST_OK) status = check_key(parent, "hdst_reduce_by_key", false, error);
    if (status == HDST_OK) status = hdst__keyed_values_fit(parent->record, function, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(dataset->spec, error);
    if (status == HDST_OK && function->reduce_class != AST_FIELD_WISE) status = hdst__dataset_group_by_key(dataset, error);
    take_rows_as_they_are(dataset);
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
    hdst_dataset *dataset = hdst__dataset_new(context, HDST__OP_REDUCE_BY_KEY, from);
    if (!dataset->object.context) hdst__object_drop(spec ? &spec->object : NULL);
    else dataset->spec = spec;
    if (status == HDST_OK && !dataset->object.error) status = fill_reduce(dataset, &error);
    if (status != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(context);
    return dataset;
}

// --- Count ---

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
        hdst__error_set(error, HDST_E_USAGE, "field %u of '%s' is to hold the key's %s, it is %s", (unsigned)at, to->name, hdst__leaf_text(leaf, wanted), have ? hdst__leaf_text(have, is) : "not there");
        hdst__error_hint(error, "the record has the fields of the key, then a uint64_t for their number");
        return HDST_E_USAGE;
    }
    const hdst__leaf *last = &to->leaves[to->leaf_count - 1];
    if (at + 1 == to->leaf_count && last->kind == HDST__U64 && last->elements == 1) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "record '%s' does not hold a count: its last field is %s, and %u belong to the key", to->name, hdst__leaf_text(last, is), (unsigned)at);
    hdst__error_hint(error, "the record has the fields of the key, then a uint64_t for their number");
    return HDST_E_USAGE;
}

static hdst_status fill_ones(hdst_dataset *dataset, hdst_module *module, const char *name, hdst_error *error)
{
    hdst_status status = hdst__check_object(dataset->object.context, "hdst_count_by_key", "module", module, error);
    if (status == HDST_OK) status = hdst__check_pointer("hdst_count_by_key", "record", name, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(dataset->parent, "hdst_count_by_key", error);
    if (status == HDST_OK) status = check_key(dataset->parent, "hdst_count_by_key", false, error);
    if (status != HDST_OK) return status;
    const hdst__record *to = hdst__module_find_record(module, name, error);
    if (!to) return error->code;
    status = check_count(dataset->parent->record, to, error);
    dataset->record = to;
    dataset->module = module;
    hdst__object_retain(&module->object);
    take_rows_as_they_are(dataset);
    return status;
}

hdst_dataset *hdst_count_by_key(hdst_dataset *from, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *ones = hdst__dataset_new(context, HDST__OP_ONES, from);
    if (!ones->object.error && fill_ones(ones, module, record, &error) != HDST_OK) hdst__dataset_fail(ones, &error);
    hdst_dataset *dataset = ones->object.context ? hdst__dataset_new(context, HDST__OP_COUNT_BY_KEY, ones) : ones;
    hdst__unlock(context);
    return dataset;
}

// --- Distinct ---

hdst_dataset *hdst_distinct(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, HDST__OP_DISTINCT, from);
    if (!dataset->object.error && (hdst__dataset_has_records(from, "hdst_distinct", &error) != HDST_OK || check_key(from, "hdst_distinct", true, &error) != HDST_OK))
        hdst__dataset_fail(dataset, &error);
    if (dataset->object.context) take_rows_as_they_are(dataset);
    hdst__unlock(context);
    return dataset;
}

// --- Containers ---

static const char *const container_names[] = {"auto", "dense", "table", "parts", "sorted"};

static hdst_status no_container(const hdst_dataset *from, hdst_container container, const char *why, const char *hint, hdst_error *error)
{
    const char *name = from->spec ? from->spec->function->name : from->op == HDST__OP_DISTINCT ? "hdst_distinct" : from->op == HDST__OP_COUNT_BY_KEY ? "hdst_count_by_key" : "the dataset";
    hdst__error_set(error, HDST_E_USAGE, "container '%s' is not for '%s': %s", container_names[container], name, why);
    hdst__error_hint(error, "%s", hint);
    return HDST_E_USAGE;
}

static hdst_status check_container(const hdst_dataset *from, hdst_container container, hdst_error *error)
{
    if ((unsigned)container > HDST_CONTAINER_SORTED) return hdst__error_set(error, HDST_E_USAGE, "container %d; HDST_CONTAINER_AUTO to HDST_CONTAINER_SORTED exist", (int)container);
    switch (from->op) {
    case HDST__OP_REDUCE_BY_KEY: case HDST__OP_COUNT_BY_KEY: case HDST__OP_DISTINCT:
        if (container != HDST_CONTAINER_DENSE) return HDST_OK;
        return no_container(from, container, "it has no declared range of keys", "hdst_reduce_dense takes keys from 0 to n - 1", error);
    case HDST__OP_REDUCE_DENSE:
        if (container == HDST_CONTAINER_AUTO || container == HDST_CONTAINER_DENSE) return HDST_OK;
        return no_container(from, container, "a dense reduce has a row for each number", "hdst_reduce_by_key has the others", error);
    case HDST__OP_GROUP:
        if (container == HDST_CONTAINER_AUTO || container == HDST_CONTAINER_SORTED) return HDST_OK;
        return no_container(from, container, "it needs all records of a key together, which sorted runs give", "HDST_CONTAINER_SORTED, or a reduce that is field-wise", error);
    default: return no_container(from, container, "it is no reduction by key", "give it what hdst_reduce_by_key, hdst_count_by_key or hdst_distinct made", error);
    }
}

// The operator again, over the same input.
static hdst_dataset *copy_in(const hdst_dataset *from, hdst_container container)
{
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, from->op, from->parent);
    if (!dataset->object.context) return dataset;
    dataset->record = from->record;
    dataset->spec = from->spec;
    dataset->container = (hdst__container)container;
    if (from->spec) hdst__object_retain(&from->spec->object);
    take_rows_as_they_are(dataset);
    return dataset;
}

hdst_dataset *hdst_with_container(hdst_dataset *from, hdst_container container)
{
    HDST__NEEDS(hdst_dataset, from, "reduction");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *dataset = from;
    if (!from->object.error && check_container(from, container, &error) != HDST_OK) dataset = hdst__dataset_fail(hdst__dataset_new(context, from->op, from->parent), &error);
    else if (!from->object.error && from->op >= HDST__OP_REDUCE_BY_KEY) dataset = copy_in(from, container);
    hdst__unlock(context);
    return dataset;
}
