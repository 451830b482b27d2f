// SPDX-License-Identifier: Apache-2.0
// Joins: a function of the user makes one record of each pair of records with equal keys. The pairs are a dataset of their own, which both inputs go to
// (join_node.h); the function is a map over these, and so fuses with what comes behind it.
#include "plan/join_node.h"
#include "plan/map_spec.h"
#include "plan/user_function.h"

const hdst__operator hdst__op_join_pairs = {
    .name = "pairs of hdst_join", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__join_own), .may_stay_on_host = true,
    .describe = hdst__join_node_describe, .build = hdst__join_node_build, .run = hdst__join_node_run, .known = hdst__node_has_run,
    .explain = hdst__join_node_explain, .stands_in = hdst__join_stands_in, .drop = hdst__join_node_drop, .release = hdst__join_node_release,
    .end = hdst__join_node_end,
};

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> join %s", dataset->spec->function->name); }

const hdst__operator hdst__op_join = {.name = "hdst_join", .gives = HDST__GIVES_EACH, .describe = describe, .lower = hdst__plan_lower_function};

// --- Pairs ---

static bool takes(const ast_decl *param, const hdst__record *has)
{
    const hdst__type *type = param->type;
    return type->kind == HDST__RECORD ? hdst__same_records(type->record, has) : has->is_scalar && has->leaves[0].kind == type->kind;
}

static hdst_status check_records(const char *call, const ast_function *f, hdst_dataset *const inputs[2], hdst_error *error)
{
    static const char *const sides[] = {"left", "right"};
    if (f->kind != AST_JOIN) {
        hdst__error_set(error, HDST_E_USAGE, "%s was given '%s', which is no join", call, f->name);
        hdst__error_hint(error, "join %s(A a, B b) -> T { ... }; `optional` before a side that may be missing", f->name);
        return HDST_E_USAGE;
    }
    for (int i = 0; i < 2; i++) {
        const hdst__type *type = f->params[i]->type;
        if (takes(f->params[i], inputs[i]->record)) continue;
        return hdst__error_set(error, HDST_E_USAGE, "'%s' takes records of '%s' as '%s'; the %s dataset has '%s'", f->name,
                               type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), f->params[i]->name, sides[i],
                               inputs[i]->record->name);
    }
    return HDST_OK;
}

static hdst_status take_function(hdst_dataset *pairs, const char *call, const hdst_map_spec *spec, hdst_error *error)
{
    hdst__join_own *own = pairs->own;
    hdst_status status = hdst__object_status(&spec->object, error);
    if (status == HDST_OK) status = check_records(call, spec->function, pairs->inputs, error);
    if (status != HDST_OK) return status;
    for (int i = 0; i < 2; i++) own->optional[i] = spec->function->params[i]->qualifier == AST_OPTIONAL;
    pairs->record = spec->function->pair->type->record;
    pairs->module = spec->module;
    hdst__object_retain(&pairs->module->object);
    return HDST_OK;
}

static hdst_dataset *add_pairs(const hdst__join_call *call, const hdst_map_spec *spec)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *pairs = hdst__join_dataset(call->name, call->op, call->side[0], call->side[1]);
    if (!pairs->object.context || pairs->object.error) return pairs;
    hdst_status status = take_function(pairs, call->name, spec, &error);
    if (status == HDST_OK) status = call->check(pairs, call, &error);
    return status == HDST_OK ? pairs : hdst__dataset_fail(pairs, &error);
}

// --- The datasets ---

// Pairs were made for the function.
static hdst_status fits(hdst_dataset *dataset, const ast_function *function, hdst_error *error)
{
    (void)dataset, (void)function, (void)error;
    return HDST_OK;
}

static const hdst__user_function function_of_pairs = {&hdst__op_join, AST_JOIN, fits};

hdst_dataset *hdst__join_by_spec(const hdst__join_call *call, const hdst_map_spec *spec)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = call->side[0]->object.context;
    hdst__lock(context);
    const bool given = hdst__check_object(context, call->name, "spec", spec, &error) == HDST_OK;
    hdst_dataset *pairs = given ? add_pairs(call, spec) : hdst__dataset_fail(hdst__dataset_new(context, call->op, call->side[0]), &error);
    hdst__unlock(context);
    return !given || !pairs->object.context ? pairs : hdst__user_function_by_spec(call->name, pairs, &function_of_pairs, spec);
}

hdst_dataset *hdst__join_by_name(const hdst__join_call *call, hdst_module *module, const char *function)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = call->side[0]->object.context;
    hdst__lock(context);
    hdst_status status = hdst__check_object(context, call->name, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(call->name, "function", function, &error);
    hdst_map_spec *spec = status == HDST_OK ? hdst__map_spec_make(module, function) : NULL;
    hdst_dataset *pairs = spec ? add_pairs(call, spec) : hdst__dataset_fail(hdst__dataset_new(context, call->op, call->side[0]), &error);
    hdst__unlock(context);
    if (!spec || !pairs->object.context) return pairs;
    hdst_dataset *dataset = hdst__user_function_by_name(call->name, pairs, &function_of_pairs, module, function);
    hdst__object_destroy(&spec->object);
    return dataset;
}

static hdst_status check_keys(hdst_dataset *pairs, const hdst__join_call *call, hdst_error *error)
{
    return hdst__join_keys(call->name, pairs, call->key[0], call->key[1], error);
}

hdst_dataset *hdst_join_by(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return hdst__join_by_spec(&(hdst__join_call){__func__, &hdst__op_join_pairs, {left, right}, {left_key, right_key}, check_keys}, spec);
}

hdst_dataset *hdst_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return hdst__join_by_name(&(hdst__join_call){__func__, &hdst__op_join_pairs, {left, right}, {left_key, right_key}, check_keys}, module, function);
}
