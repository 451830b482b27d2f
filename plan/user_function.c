// SPDX-License-Identifier: Apache-2.0
// Datasets of operators that call a function of the user (plan/user_function.h).
#include "plan/user_function.h"

#include "plan/bound_lookup.h"

#include <stdio.h>

static const char *kind_word(ast_function_kind kind)
{
    static const char *const words[] = {"a helper function", "a map", "a filter", "a flat_map", "a reduce", "a group", "a join"};
    return words[kind];
}

// The record a function takes as its first parameter must have the dataset's fields.
hdst_status hdst__user_function_takes(const hdst_dataset *parent, const ast_function *function, hdst_error *error)
{
    const hdst__type *type = function->params[0]->type;
    const hdst__record *has = parent->record;
    if (type->kind == HDST__RECORD ? hdst__same_records(type->record, has) : has->is_scalar && has->leaves[0].kind == type->kind) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' takes records of '%s', the dataset has '%s'", function->name,
                           type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), parent->record->name);
}

// The record around a function's result. A scalar result is a record of one field.
static const hdst__record *result_record(const ast_function *function, hdst_module *module, hdst_error *error)
{
    if (function->result->kind == HDST__RECORD) return function->result->record;
    return hdst__module_find_record(module, hdst__scalar_c_name(function->result->kind), error);
}

// --- Making the datasets ---

static hdst_status fill_operator(hdst_dataset *dataset, hdst_dataset *parent, hdst_map_spec *spec, const hdst__user_function *call, hdst_error *error)
{
    if (hdst__object_status(&parent->object, error) != HDST_OK || hdst__object_status(&spec->object, error) != HDST_OK) return error->code;
    const ast_function *function = spec->function;
    if (function->kind != call->kind)
        return hdst__error_set(error, HDST_E_USAGE, "%s was given '%s', which is %s", dataset->op->name, function->name, kind_word(function->kind));
    char what[128];
    snprintf(what, sizeof what, "'%.100s'", function->name);
    hdst_status status = hdst__dataset_has_records(parent, what, error);
    if (status == HDST_OK) status = call->check ? call->check(dataset, function, error) : hdst__user_function_takes(parent, function, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(spec, error);
    if (status != HDST_OK) return status;
    for (size_t i = 0; i < spec->binding_count; i++)
        if (spec->bindings[i].lookup && spec->bindings[i].lookup->records->nested > dataset->nested)
            dataset->nested = spec->bindings[i].lookup->records->nested;
    hdst__dataset_as_structs(dataset);
    if (function->kind == AST_FILTER) return HDST_OK;
    dataset->record = NULL;
    if (function->result->kind == HDST__VOID) return HDST_OK;
    dataset->record = result_record(function, spec->module, error);
    return dataset->record ? HDST_OK : error->code;
}

// Takes over `spec`.
static hdst_dataset *add_operator(hdst_dataset *parent, const hdst__user_function *call, hdst_map_spec *spec)
{
    hdst_dataset *dataset = hdst__dataset_new(parent->object.context, call->op, parent);
    if (!dataset->object.context) {
        hdst__object_drop(&spec->object);
        return dataset;
    }
    dataset->spec = spec;
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_operator(dataset, parent, spec, call, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    return dataset;
}

// An operator that was given something else than it needs.
static hdst_dataset *misused(hdst_dataset *parent, const hdst__operator *op, const hdst_error *error)
{
    return hdst__dataset_fail(hdst__dataset_new(parent->object.context, op, parent), error);
}

hdst_dataset *hdst__user_function_by_spec(const char *name, hdst_dataset *parent, const hdst__user_function *call, const hdst_map_spec *spec)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    const bool fits = hdst__check_object(parent->object.context, name, "spec", spec, &error) == HDST_OK;
    hdst_dataset *dataset = fits ? add_operator(parent, call, hdst__map_spec_copy(spec)) : misused(parent, call->op, &error);
    hdst__unlock(parent->object.context);
    return dataset;
}

hdst_dataset *hdst__user_function_by_name(const char *name, hdst_dataset *parent, const hdst__user_function *call, hdst_module *module,
                                          const char *function)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    hdst_status status = hdst__check_object(parent->object.context, name, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(name, "function", function, &error);
    hdst_dataset *dataset = status == HDST_OK ? add_operator(parent, call, hdst__map_spec_make(module, function)) : misused(parent, call->op, &error);
    hdst__unlock(parent->object.context);
    return dataset;
}
