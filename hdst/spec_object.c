// SPDX-License-Identifier: Apache-2.0
// Map specs of the public interface: a function of a module, and what its broadcast and accum parameters are bound to.
#include "plan/bound_lookup.h"
#include "plan/dataset.h"

#include <string.h>

hdst_map_spec *hdst_map_spec_create(hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_map_spec, module, "module");
    hdst_context *context = module->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_map_spec *spec;
    if (hdst__check_pointer(__func__, "function", function, &error) == HDST_OK) spec = hdst__map_spec_make(module, function);
    else spec = hdst__map_spec_fail(context, &error);
    hdst__unlock(context);
    return spec;
}

static const char *qualifier_word(ast_qualifier qualifier)
{
    switch (qualifier) {
    case AST_BROADCAST: return "a broadcast";
    case AST_ACCUM: return "an accumulator";
    case AST_LOOKUP: return "a lookup";
    default: return "a record";
    }
}

static const ast_decl *find_parameter(const hdst_map_spec *spec, const char *name, ast_qualifier wanted, hdst_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; i < spec->function->param_count; i++) {
        const ast_decl *param = spec->function->params[i];
        if (!strcmp(param->name, name)) {
            const bool reads = param->qualifier == AST_BROADCAST || param->qualifier == AST_LOOKUP;
            if (param->qualifier == wanted || (reads && wanted == AST_BROADCAST)) return param;
            hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' is %s, not %s", name, spec->function->name,
                            qualifier_word(param->qualifier), qualifier_word(wanted));
            hdst__error_hint(error, param->qualifier == AST_ACCUM ? "bind it with hdst_bind_accum"
                             : param->key ? "bind it with hdst_bind_lookup"
                             : reads ? "bind it with hdst_bind_value" : "records come from the dataset and are not bound");
            return NULL;
        }
        if (n < MOST) names[n++] = param->name;
    }
    hdst__error_set(error, HDST_E_USAGE, "'%s' has no parameter '%s'", spec->function->name, name);
    hdst__error_suggest(error, "its parameters are", name, names, n);
    return NULL;
}

// The entry for a parameter: the one that is there, or a new one.
static hdst__binding *entry(hdst_map_spec *spec, const char *parameter)
{
    for (size_t i = 0; i < spec->binding_count; i++)
        if (!strcmp(spec->bindings[i].parameter, parameter)) return &spec->bindings[i];
    hdst__binding *binding = &spec->bindings[spec->binding_count++];
    binding->parameter = parameter;
    return binding;
}

static hdst_status check_value(const hdst_map_spec *spec, const ast_decl *param, const hdst_value *value, hdst_error *error)
{
    if (param->type->kind == HDST__RECORD) {
        if (hdst__same_struct(param->type->record, value->record)) return HDST_OK;
        return hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' takes rows of '%s'; the value has rows of '%s'", param->name,
                               spec->function->name, param->type->record->name, value->record->name);
    }
    if (value->record->leaf_count == 1 && value->record->leaves[0].kind == param->type->kind && value->record->elements == 1) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' takes %s; the value has rows of '%s'", param->name, spec->function->name,
                           hdst__kind_is_scalar(param->type->kind) ? hdst__scalar_c_name(param->type->kind) : "an array", value->record->name);
}

static hdst_status bind_value(hdst_map_spec *spec, const char *name, hdst_value *value, hdst_error *error)
{
    if (hdst__check_object(spec->object.context, "hdst_bind_value", "value", value, error) != HDST_OK) return error->code;
    if (hdst__check_pointer("hdst_bind_value", "parameter", name, error) != HDST_OK) return error->code;
    const ast_decl *param = find_parameter(spec, name, AST_BROADCAST, error);
    if (!param) return error->code;
    if (param->key) {
        hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' goes by key, a value has rows by number", name, spec->function->name);
        hdst__error_hint(error, "hdst_bind_lookup(spec, \"%s\", hdst_read_value(value), \"KEY\")", name);
        return HDST_E_USAGE;
    }
    if (check_value(spec, param, value, error) != HDST_OK) return error->code;
    if (!param->is_table && value->rows != 1)
        return hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' is one row, the value has %llu", name, spec->function->name,
                               (unsigned long long)value->rows);
    hdst__binding *binding = entry(spec, param->name);
    hdst__object_retain(&value->object);
    if (binding->value) hdst__object_drop(&binding->value->object);
    binding->value = value;
    return HDST_OK;
}

hdst_status hdst_bind_value(hdst_map_spec *spec, const char *parameter, hdst_value *value)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    if (before != HDST_OK) return before;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(spec->object.context);
    hdst_status status = bind_value(spec, parameter, value, &error);
    if (status != HDST_OK) hdst__object_fail(&spec->object, &error);
    hdst__unlock(spec->object.context);
    return status;
}

static hdst_status bind_accum(hdst_map_spec *spec, const char *name, uint64_t rows, hdst_error *error)
{
    if (hdst__check_pointer("hdst_bind_accum", "parameter", name, error) != HDST_OK) return error->code;
    const ast_decl *param = find_parameter(spec, name, AST_ACCUM, error);
    if (!param) return error->code;
    if (!param->is_table && rows != 1)
        return hdst__error_set(error, HDST_E_USAGE, "accumulator '%s' of '%s' is one row, not %llu", name, spec->function->name, (unsigned long long)rows);
    entry(spec, param->name)->rows = rows;
    return HDST_OK;
}

hdst_status hdst_bind_accum(hdst_map_spec *spec, const char *parameter, uint64_t rows)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    if (before != HDST_OK) return before;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(spec->object.context);
    hdst_status status = bind_accum(spec, parameter, rows, &error);
    if (status != HDST_OK) hdst__object_fail(&spec->object, &error);
    hdst__unlock(spec->object.context);
    return status;
}

static hdst_status bind_lookup(hdst_map_spec *spec, const char *name, hdst_dataset *records, const char *key, hdst_error *error)
{
    if (hdst__check_object(spec->object.context, "hdst_bind_lookup", "records", records, error) != HDST_OK) return error->code;
    if (hdst__check_pointer("hdst_bind_lookup", "parameter", name, error) != HDST_OK) return error->code;
    const ast_decl *param = find_parameter(spec, name, AST_LOOKUP, error);
    if (!param) return error->code;
    if (!param->key) {
        hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' goes by number, not by key", name, spec->function->name);
        hdst__error_hint(error, "bind it with hdst_bind_value, or declare it with the type of its key: lookup ... %s[uint32_t]", name);
        return HDST_E_USAGE;
    }
    hdst__bound_lookup *lookup = hdst__bound_lookup_make(spec, param, records, key, error);
    if (!lookup) return error->code;
    hdst__binding *binding = entry(spec, param->name);
    hdst__bound_lookup_free(HDST__ALLOCATOR(spec), binding->lookup);
    binding->lookup = lookup;
    return HDST_OK;
}

hdst_status hdst_bind_lookup(hdst_map_spec *spec, const char *parameter, hdst_dataset *records, const char *key)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    if (before != HDST_OK) return before;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(spec->object.context);
    const hdst_status status = bind_lookup(spec, parameter, records, key, &error);
    if (status != HDST_OK) hdst__object_fail(&spec->object, &error);
    hdst__unlock(spec->object.context);
    return status;
}

hdst_status hdst_map_spec_status(const hdst_map_spec *spec, hdst_error *error) { return hdst__check_alive(__func__, "spec", spec, error); }

void hdst_map_spec_destroy(hdst_map_spec *spec)
{
    if (spec) hdst__object_destroy(&spec->object);
}
