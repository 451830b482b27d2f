// SPDX-License-Identifier: Apache-2.0
// From a checked function to IR: parameters, results, helpers. Helpers are inlined here. Their array and record parameters are
// bound to the place of the argument, numbers to a variable (so that no fma is placed across a call).
#include "codegen/lower/lower_state.h"

#include <string.h>

// --- Bindings ---

void hdst__lower_bind(lowerer *l, const ast_decl *decl, lower_place place, bool is_table)
{
    lower_binding binding = {decl, place, is_table};
    HDST__PUSH(l->arena, l->bindings, l->binding_count, l->binding_capacity, binding);
}

const lower_binding *hdst__lower_find(const lowerer *l, const ast_decl *decl)
{
    for (size_t i = l->binding_count; i-- > 0;)
        if (l->bindings[i].decl == decl) return &l->bindings[i];
    return NULL;
}

// Ends the scope of a helper: what it declared is forgotten; constants of the file stay.
static void unbind(lowerer *l, size_t count)
{
    size_t kept = count;
    for (size_t i = count; i < l->binding_count; i++)
        if (l->bindings[i].decl->kind == AST_CONST) l->bindings[kept++] = l->bindings[i];
    l->binding_count = kept;
}

// --- Bodies ---

static size_t count_returns(const ast_stmt *s)
{
    if (!s) return 0;
    size_t count = s->kind == AST_RETURN;
    for (size_t i = 0; i < s->body_count; i++) count += count_returns(s->body[i]);
    return count + count_returns(s->then) + count_returns(s->otherwise);
}

// The only return of a body, if it is the last statement; else NULL.
static const ast_stmt *tail_return(const ast_stmt *body)
{
    const ast_stmt *last = body->body_count ? body->body[body->body_count - 1] : NULL;
    return last && last->kind == AST_RETURN && count_returns(body) == 1 ? last : NULL;
}

static void bind_argument(lowerer *l, const ast_decl *param, const ast_expr *arg)
{
    if (arg->kind == AST_NAME && hdst__lower_find(l, arg->decl) && hdst__lower_find(l, arg->decl)->is_table) {
        const lower_binding *table = hdst__lower_find(l, arg->decl);
        hdst__lower_bind(l, param, table->place, true);
    } else if (hdst__kind_is_scalar(param->type->kind)) {
        ir_expr *value = hdst__lower_value(l, arg);
        lower_place place = hdst__lower_new_local(l, param->name, param->type);
        hdst__lower_store(l, &place, value);
        hdst__lower_bind(l, param, place, false);
    } else {
        hdst__lower_bind(l, param, hdst__lower_evaluate_indices(l, hdst__lower_place(l, arg)), false);
    }
}

static bool is_search(const ast_function *callee)
{
    static const char *const names[] = {"find", "starts_with", "ends_with", "text_equal"};
    for (size_t i = 0; callee->of_hdst && i < sizeof names / sizeof *names; i++)
        if (!strcmp(callee->name, names[i])) return true;
    return false;
}

// Its arguments are texts, so each is in a variable.
static void note_search(lowerer *l, const ast_function *callee, const lower_place *result)
{
    const uint32_t text = hdst__lower_find(l, callee->params[0])->place.first, what = hdst__lower_find(l, callee->params[1])->place.first;
    const ir_search search = {text, what, result->first, callee->result->kind != HDST__BOOL};
    HDST__PUSH(l->arena, l->func->searches, l->func->search_count, l->func->search_capacity, search);
}

lower_place hdst__lower_call(lowerer *l, const ast_expr *call)
{
    const ast_function *callee = call->callee;
    const size_t bound = l->binding_count;
    for (size_t i = 0; i < call->arg_count; i++) bind_argument(l, callee->params[i], call->args[i]);
    lower_place result = {0};
    const bool is_void = callee->result->kind == HDST__VOID;
    if (!is_void) result = hdst__lower_new_local(l, callee->name, callee->result);

    const lowerer outer = *l;
    ir_block body = {0};
    l->block = &body;
    l->result = is_void ? NULL : &result;
    if (callee->of_hdst) l->called = call;
    l->tail = tail_return(callee->body);
    l->is_filter = false;
    l->switch_continue = IR_NO_VAR;
    hdst__lower_stmt(l, callee->body);
    hdst__ir_structure_exits(l->func, &body, IR_RETURN);
    l->block = outer.block;
    l->result = outer.result;
    l->tail = outer.tail;
    l->called = outer.called;
    l->is_filter = outer.is_filter;
    l->switch_continue = outer.switch_continue;
    for (size_t i = 0; i < body.count; i++) hdst__lower_push(l, body.items[i]);
    if (is_search(callee)) note_search(l, callee, &result);
    unbind(l, bound);
    return result;
}

// --- Parameters ---

const hdst__record *hdst__lower_row_record(hdst__arena *arena, const hdst__type *type)
{
    if (type->kind == HDST__RECORD) return type->record;
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *field = HDST__NEW(arena, hdst__field);
    *field = (hdst__field){.name = "value", .type = type};
    *record = (hdst__record){.name = hdst__type_name(arena, type), .fields = field, .field_count = 1, .is_scalar = true};
    const char *why = NULL;
    hdst__record_finish(arena, record, &why);       // one number: cannot fail
    return record;
}

static bool becomes(ast_qualifier qualifier, ir_param_kind kind)
{
    switch (qualifier) {
    case AST_PLAIN: return kind == IR_INPUT;
    case AST_BROADCAST: case AST_LOOKUP: return kind == IR_BROADCAST_TABLE;
    case AST_ACCUM: return kind == IR_ACCUM_TABLE;
    default: return false;
    }
}

static void add_params(lowerer *l, const ast_function *function, ir_param_kind kind)
{
    static const lower_base bases[] = {PLACE_INPUT, PLACE_BROADCAST, PLACE_ACCUM, PLACE_OUTPUT};
    for (size_t i = 0; i < function->param_count; i++) {
        const ast_decl *decl = function->params[i];
        if (!becomes(decl->qualifier, kind)) continue;
        if (decl->key) {
            hdst__lower_bind(l, decl, decl->has_stretches ? hdst__lower_key_rows_params(l, decl) : hdst__lower_lookup_params(l, decl), true);
            continue;
        }
        ir_param param = {.kind = kind, .name = decl->name, .bind = decl->name, .is_table = decl->is_table, .is_lookup = decl->qualifier == AST_LOOKUP};
        param.record = hdst__lower_row_record(l->arena, decl->type);
        lower_place place = {.base = bases[kind], .type = decl->type, .name = decl->name};
        place.first = hdst__ir_add_param(l->func, param);
        hdst__lower_bind(l, decl, place, decl->is_table);
    }
}

// A join is a map over pairs, whose record the checker made (codegen/front/check_join.c): its parameters are fields of that.
static void add_pair(lowerer *l, const ast_function *function)
{
    const hdst__record *record = function->pair->type->record;
    lower_place place = {.base = PLACE_INPUT, .type = function->pair->type, .name = "pair"};
    place.first = hdst__ir_add_param(l->func, (ir_param){.kind = IR_INPUT, .name = "pair", .bind = "pair", .record = record});
    hdst__lower_bind(l, function->pair, place, false);
    for (size_t i = 0; i < 2; i++) {
        lower_place side = hdst__lower_field(&place, &record->fields[i]);
        side.name = function->params[i]->name;
        hdst__lower_bind(l, function->params[i], side, false);
    }
}

static lower_place add_output(lowerer *l, const hdst__type *type, uint64_t buffer_bytes)
{
    lower_place place = {.base = PLACE_OUTPUT, .type = type, .name = "result"};
    ir_param output = {.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = hdst__lower_row_record(l->arena, type)};
    if (buffer_bytes) {
        output.given = output.record;
        output.record = hdst__lower_built_record(l->arena, output.given, buffer_bytes);
    }
    place.first = hdst__ir_add_param(l->func, output);
    return place;
}

// --- Functions ---

void hdst__lower_emit(lowerer *l, ir_expr *cond, hdst__span span)
{
    ir_stmt *emit = hdst__ir_stmt(l->func, IR_EMIT, span);
    emit->cond = cond;
    emit->check = hdst__ir_add_check(l->func, (ir_check){.kind = IR_CHECK_EMIT, .span = span, .what = l->func->name, .diags = l->func->diags});
    hdst__lower_push(l, emit);
}

// Lowers the parameters behind the input, and the body; the input is there already.
static void lower_function(lowerer *l, const ast_function *function)
{
    add_params(l, function, IR_BROADCAST_TABLE);
    add_params(l, function, IR_ACCUM_TABLE);
    l->is_filter = function->kind == AST_FILTER;
    l->func->emits = l->is_filter || function->emits;
    const bool has_output = !l->is_filter && function->result && function->result->kind != HDST__VOID;
    lower_place output = {0}, held = {0};
    l->func->makes = has_output;
    if (has_output) output = add_output(l, function->result, function->buffer_bytes);

    l->tail = tail_return(function->body);
    if (has_output && (l->tail || function->emits || function->buffer_bytes)) {
        l->result = &output;
    } else if (has_output || (l->is_filter && !l->tail)) {      // several ways out: the result is held until the end
        held = hdst__lower_new_local(l, "result", l->is_filter ? hdst__type_scalar(HDST__BOOL) : function->result);
        l->result = &held;
    }
    hdst__lower_stmt(l, function->body);
    hdst__ir_structure_exits(l->func, &l->func->body, IR_RETURN);
    if (l->result == &held && has_output) hdst__lower_copy(l, &output, &held);
    if (l->is_filter && !l->tail) hdst__lower_emit(l, hdst__lower_load(l, &held), function->span);
}

ir_func *hdst__lower_signature(hdst__arena *arena, const ast_module *module, const ast_function *function)
{
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = function->name, .diags = module->diags};
    lowerer l = {.arena = arena, .func = func, .block = &func->body, .switch_continue = IR_NO_VAR};
    add_params(&l, function, IR_INPUT);
    add_params(&l, function, IR_BROADCAST_TABLE);
    func->emits = function->kind == AST_FILTER;         // the records that stay
    add_output(&l, func->emits ? function->params[0]->type : function->result, 0);
    return func;
}

ir_func *hdst__lower(hdst__arena *arena, const ast_module *module, const ast_function *function)
{
    return hdst__lower_group(arena, module, function, NULL);
}

static ir_func *lower_whole(hdst__arena *arena, const ast_module *module, const ast_function *function, const hdst__key_leaf *key)
{
    if (function->unsupported || !function->body || function->kind == AST_HELPER) return NULL;
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = function->name, .diags = module->diags};
    lowerer l = {.arena = arena, .func = func, .block = &func->body, .switch_continue = IR_NO_VAR};
    if (function->kind == AST_JOIN) add_pair(&l, function);
    else if (function->kind != AST_GROUP) add_params(&l, function, IR_INPUT);
    else if (!hdst__lower_group_params(&l, function, key)) return NULL;
    lower_function(&l, function);
    if (l.statements >= HDST__LOWER_LIMIT) {
        hdst__diag_error(module->diags, function->span, "call fewer helpers that call helpers",
                         "'%s' has more than %d statements once its helper functions are in place", function->name, HDST__LOWER_LIMIT);
        return NULL;
    }
    return func;
}

ir_func *hdst__lower_reduce(hdst__arena *arena, const ast_module *module, const ast_function *function)
{
    return lower_whole(arena, module, function, NULL);
}

ir_func *hdst__lower_group(hdst__arena *arena, const ast_module *module, const ast_function *function, const hdst__key_leaf *key)
{
    ir_func *func = lower_whole(arena, module, function, key);
    if (!func || function->kind != AST_REDUCE || function->reduce_class != AST_FIELD_WISE) return func;
    ir_func *accumulation = hdst__lower_field_wise(arena, func);
    return accumulation ? accumulation : func;
}
