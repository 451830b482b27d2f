// SPDX-License-Identifier: Apache-2.0
// A function in IR that a node runs (plan/stage_call.h).
#include "plan/stage_call.h"

#include "plan/lookup_tables.h"
#include "plan/map_spec.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <inttypes.h>
#include <string.h>

// --- Functions ---

ir_func *hdst__plan_lower_function(hdst__arena *arena, const hdst_dataset *item, hdst_error *error)
{
    hdst_module *module = item->spec->module;
    if (!item->spec->function->body) return hdst__lower_signature(arena, module->tree, item->spec->function);
    ir_func *func = hdst__lower(arena, module->tree, item->spec->function);
    if (func) return func;      // else it is too large with its helpers in place, which lowering has reported
    if (hdst__diags_to_error(&module->diags, HDST_E_KERNEL, error) == HDST_OK)
        hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' cannot be run yet", item->spec->function->name);
    return NULL;
}

ir_func *hdst__plan_name_params(hdst__arena *arena, const hdst_dataset *item, ir_func *func)
{
    if (func && item->object.context->unchecked) hdst__pass_unchecked(func);
    for (size_t i = 0; func && i < func->param_count; i++) func->params[i].bind = hdst__arena_printf(arena, "%s.%s", func->name, func->params[i].name);
    return func;
}

ir_func *hdst__plan_lower(hdst__arena *arena, const hdst_dataset *item, hdst_error *error)
{
    return hdst__plan_name_params(arena, item, item->op->lower(arena, item, error));
}

hdst_status hdst__plan_passes(ir_func *func, hdst_error *error)
{
    const char *wrong = hdst__passes_scalar(func);
    return wrong ? hdst__error_set(error, HDST_E_INTERNAL, "the compiler made a function that does not verify: %s", wrong) : HDST_OK;
}

static bool see_index(ir_expr **slot, void *user)
{
    bool *seen = user;
    *seen |= (*slot)->op == IR_RECORD_INDEX;
    return !*seen;
}

bool hdst__reads_index(ir_func *func)
{
    bool seen = false;
    hdst__ir_visit_exprs(&func->body, see_index, &seen);
    return seen;
}

bool hdst__accumulates(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE) return true;
    return false;
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

static void bind_lookup(hdst__plan_param *result, const hdst_dataset *item, hdst__node *const *lookups)
{
    for (size_t b = 0; b < item->spec->binding_count && !result->held; b++)
        if (lookups[b]) result->held = hdst__lookup_table_rows(lookups[b], result->name);
}

hdst__plan_param hdst__plan_param_in(const ir_func *func, const ir_param *param, const hdst_dataset *item, hdst__node *const *lookups)
{
    if (item->op->bind) return item->op->bind(func, param, item);
    hdst__plan_param result = {.function = func->name, .name = param->name, .rows = 1};
    if (item->spec) bind_user(&result, item);
    if (lookups) bind_lookup(&result, item, lookups);
    return result;
}

hdst__plan_param hdst__plan_param_of(const ir_func *func, const ir_param *param, const hdst_dataset *item)
{
    return hdst__plan_param_in(func, param, item, item->mark.lookups);
}

hdst_status hdst__plan_param_rows(const hdst__plan_param *param, const void **rows, uint64_t *count, hdst_error *error)
{
    *rows = param->held ? param->held->data : param->data;
    *count = param->value ? param->value->rows : param->held ? param->held->rows : param->rows;
    return param->value ? hdst__value_on_host(param->value, rows, error) : HDST_OK;
}

void hdst__stage_call_bind(hdst__arena *arena, hdst__stage_call *call, size_t input)
{
    const size_t count = call->func->param_count;
    bool *in_place = HDST__NEW_ARRAY(arena, bool, count), *is_input = HDST__NEW_ARRAY(arena, bool, count);
    if (input) in_place[input] = is_input[input] = true;
    call->params = HDST__NEW_ARRAY(arena, hdst__plan_param, count);
    hdst__stage_values *values = HDST__NEW(arena, hdst__stage_values);
    *values = (hdst__stage_values){HDST__NEW_ARRAY(arena, const void *, count), HDST__NEW_ARRAY(arena, uint64_t, count),
                                   HDST__NEW_ARRAY(arena, uint64_t, count),
                                   HDST__NEW_ARRAY(arena, hdst__value_rows *, count), in_place, is_input};
    call->values = values;
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

hdst_status hdst__stage_call_values(const hdst__stage_call *call, hdst_error *error)
{
    for (size_t i = 0; call->params && i < call->func->param_count; i++) {
        const hdst__plan_param *param = &call->params[i];
        const hdst_status status = param->value ? check_value(param, call->func->params[i].is_table, error) : HDST_OK;
        if (status != HDST_OK) return status;
        const hdst__plan_rows own = param->held ? *param->held : (hdst__plan_rows){param->data, param->rows, param->version};
        ((const void **)call->values->broadcast)[i] = param->value ? param->value->data : own.data;
        ((hdst__value_rows **)call->values->resident)[i] = param->value && param->value->on_device ? param->value->resident : param->there;
        ((uint64_t *)call->values->rows)[i] = param->value ? param->value->rows : own.rows;
        ((uint64_t *)call->values->version)[i] = param->value ? param->value->version : own.version;
        ((bool *)call->values->in_place)[i] |= param->held != NULL;         // what a node holds stays until the run ends
    }
    return HDST_OK;
}

void hdst__stage_call_end(hdst__stage_call *call)
{
    if (call->stage) hdst__stage_destroy(call->stage);
    call->stage = NULL;
}
