// SPDX-License-Identifier: Apache-2.0
// Operators that call a function of the user: maps, filters, flat_maps, reduces.
#include "plan/dataset.h"

#include <stdio.h>
#include <string.h>

static const char *operator_name(hdst__operator op)
{
    switch (op) {
    case HDST__OP_MAP: return "hdst_map";
    case HDST__OP_FILTER: return "hdst_filter";
    case HDST__OP_FLAT_MAP: return "hdst_flat_map";
    case HDST__OP_REDUCE: return "hdst_reduce";
    default: return "hdst_reduce_dense";
    }
}

static bool kind_fits(hdst__operator op, ast_function_kind kind)
{
    switch (op) {
    case HDST__OP_MAP: return kind == AST_MAP;
    case HDST__OP_FILTER: return kind == AST_FILTER;
    case HDST__OP_FLAT_MAP: return kind == AST_FLAT_MAP;
    default: return kind == AST_REDUCE;
    }
}

static const char *kind_word(ast_function_kind kind)
{
    static const char *const words[] = {"a helper function", "a map", "a filter", "a flat_map", "a reduce", "a group", "a join"};
    return words[kind];
}

// The record a function takes as its first parameter must have the dataset's fields.
static hdst_status check_input(const hdst_dataset *parent, const ast_function *function, hdst_error *error)
{
    const hdst__type *type = function->params[0]->type;
    if (type->kind == HDST__RECORD ? hdst__same_records(type->record, parent->record) : parent->record->is_scalar && parent->record->leaves[0].kind == type->kind)
        return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' takes records of '%s', the dataset has '%s'", function->name,
                           type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), parent->record->name);
}

// The record around a function's result. A scalar result is a record of one field.
static const hdst__record *result_record(const ast_function *function, hdst_module *module, hdst_error *error)
{
    if (function->result->kind == HDST__RECORD) return function->result->record;
    return hdst__module_find_record(module, hdst__scalar_c_name(function->result->kind), error);
}

// --- Keys of dense reduces ---

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

static hdst_status check_keyed(hdst_dataset *dataset, const hdst_dataset *parent, const ast_function *reduce, hdst_error *error)
{
    const hdst__record *keyed = parent->record;
    const hdst__type *type = reduce->params[0]->type;
    uint32_t key = find_key(keyed);
    if (key == keyed->leaf_count) {
        hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_dense needs records with a key; '%s' has none", keyed->name);
        hdst__error_hint(error, "let a map give '-> (key uint32_t k, ...)', or call a field 'key'");
        return HDST_E_USAGE;
    }
    if (!hdst__kind_is_integer(keyed->leaves[key].kind) || keyed->leaves[key].elements != 1)
        return hdst__error_set(error, HDST_E_USAGE, "key '%s' of '%s' is no integer, so it names no row of a dense result", keyed->leaves[key].path, keyed->name);
    if (!values_fit(keyed, key, type)) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' reduces '%s'; '%s' has other fields beside its key '%s'", reduce->name,
                        type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), keyed->name, keyed->leaves[key].path);
        hdst__error_hint(error, "the fields beside the key are those of the reduce's record, in order");
        return HDST_E_USAGE;
    }
    dataset->key = key;
    if (reduce->reduce_class == AST_FIELD_WISE) return HDST_OK;
    if (reduce->identity) return hdst__dataset_group_dense(dataset, key, error);
    hdst__error_set(error, HDST_E_USAGE, "hdst_reduce_dense with '%s' needs its identity, for records whose key does not occur", reduce->name);
    if (reduce->class_reason) hdst__error_cause(error, "%s", reduce->class_reason);
    hdst__error_hint(error, "declare it: reduce %s(T a, T b) identity { ... } { ... }", reduce->name);
    return HDST_E_USAGE;
}

// --- Making the datasets ---

static hdst_status fill_operator(hdst_dataset *dataset, hdst_dataset *parent, hdst_map_spec *spec, hdst_error *error)
{
    if (hdst__object_status(&parent->object, error) != HDST_OK || hdst__object_status(&spec->object, error) != HDST_OK) return error->code;
    const ast_function *function = spec->function;
    if (!kind_fits(dataset->op, function->kind))
        return hdst__error_set(error, HDST_E_USAGE, "%s was given '%s', which is %s", operator_name(dataset->op), function->name, kind_word(function->kind));
    char what[128];
    snprintf(what, sizeof what, "'%.100s'", function->name);
    hdst_status status = hdst__dataset_has_records(parent, what, error);
    if (status == HDST_OK) status = dataset->op == HDST__OP_REDUCE_DENSE ? check_keyed(dataset, parent, function, error) : check_input(parent, function, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(spec, error);
    if (status != HDST_OK) return status;
    dataset->layout = HDST__AOS;        // computed records are C structs
    dataset->block = 0;
    if (dataset->op == HDST__OP_FILTER) return HDST_OK;
    dataset->record = NULL;
    if (function->result->kind == HDST__VOID) return HDST_OK;
    dataset->record = result_record(function, spec->module, error);
    return dataset->record ? HDST_OK : error->code;
}

// Takes over `spec`.
static hdst_dataset *add_operator(hdst_dataset *parent, hdst__operator op, hdst_map_spec *spec)
{
    hdst_dataset *dataset = hdst__dataset_new(parent->object.context, op, parent);
    if (!dataset->object.context) {
        hdst__object_drop(&spec->object);
        return dataset;
    }
    dataset->spec = spec;
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_operator(dataset, parent, spec, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    return dataset;
}

// An operator that was given something else than it needs.
static hdst_dataset *misused(hdst_dataset *parent, hdst__operator op, const hdst_error *error)
{
    return hdst__dataset_fail(hdst__dataset_new(parent->object.context, op, parent), error);
}

static hdst_dataset *with_spec(const char *call, hdst_dataset *parent, hdst__operator op, const hdst_map_spec *spec)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    const bool fits = hdst__check_object(parent->object.context, call, "spec", spec, &error) == HDST_OK;
    hdst_dataset *dataset = fits ? add_operator(parent, op, hdst__map_spec_copy(spec)) : misused(parent, op, &error);
    hdst__unlock(parent->object.context);
    return dataset;
}

static hdst_dataset *with_function(const char *call, hdst_dataset *parent, hdst__operator op, hdst_module *module, const char *function, uint64_t rows)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    hdst_status status = hdst__check_object(parent->object.context, call, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(call, "function", function, &error);
    hdst_dataset *dataset = status == HDST_OK ? add_operator(parent, op, hdst__map_spec_make(module, function)) : misused(parent, op, &error);
    if (dataset->object.context) dataset->count = rows;
    hdst__unlock(parent->object.context);
    return dataset;
}

#define SPEC(op) HDST__NEEDS(hdst_dataset, dataset, "dataset"); return with_spec(__func__, dataset, op, spec)
#define FUNCTION(op, rows) HDST__NEEDS(hdst_dataset, dataset, "dataset"); return with_function(__func__, dataset, op, module, function, rows)

hdst_dataset *hdst_map(hdst_dataset *dataset, const hdst_map_spec *spec) { SPEC(HDST__OP_MAP); }
hdst_dataset *hdst_filter(hdst_dataset *dataset, const hdst_map_spec *spec) { SPEC(HDST__OP_FILTER); }
hdst_dataset *hdst_flat_map(hdst_dataset *dataset, const hdst_map_spec *spec) { SPEC(HDST__OP_FLAT_MAP); }
hdst_dataset *hdst_map_function(hdst_dataset *dataset, hdst_module *module, const char *function) { FUNCTION(HDST__OP_MAP, 0); }
hdst_dataset *hdst_filter_function(hdst_dataset *dataset, hdst_module *module, const char *function) { FUNCTION(HDST__OP_FILTER, 0); }
hdst_dataset *hdst_flat_map_function(hdst_dataset *dataset, hdst_module *module, const char *function) { FUNCTION(HDST__OP_FLAT_MAP, 0); }
hdst_dataset *hdst_reduce(hdst_dataset *dataset, hdst_module *module, const char *function) { FUNCTION(HDST__OP_REDUCE, 0); }

hdst_dataset *hdst_reduce_dense(hdst_dataset *dataset, hdst_module *module, const char *function, uint64_t rows)
{
    FUNCTION(HDST__OP_REDUCE_DENSE, rows);
}
