// SPDX-License-Identifier: Apache-2.0
// Statements other than loops.
#include "codegen/lower/lower_state.h"

void hdst__lower_body(lowerer *l, ir_block *block, const ast_stmt *stmt)
{
    ir_block *outer = l->block;
    l->block = block;
    if (stmt) hdst__lower_stmt(l, stmt);
    l->block = outer;
}

// --- Assignments ---

static void declare(lowerer *l, const ast_stmt *s)
{
    lower_place place = hdst__lower_new_local(l, s->decl->name, s->decl->type);
    if (s->value) hdst__lower_into(l, &place, s->value);
    else hdst__lower_zero(l, &place);
    hdst__lower_bind(l, s->decl, place, false);
}

static void compound_assign(lowerer *l, const ast_stmt *s)
{
    lower_place place = hdst__lower_evaluate_indices(l, hdst__lower_place(l, s->target));
    ir_expr *right = hdst__lower_value(l, s->value), *left = hdst__lower_load(l, &place);
    bool shifts = s->op == AST_SHL || s->op == AST_SHR;
    hdst__kind own = left->kind, promoted = own < HDST__I32 || (own >= HDST__U8 && own < HDST__U32) ? HDST__I32 : own;
    left = hdst__lower_convert(l, shifts ? promoted : right->kind, left);
    ir_expr *result = hdst__lower_arithmetic(l, s->op, s->span, left, right);
    hdst__lower_store(l, &place, hdst__lower_convert(l, own, result));
}

static hdst__accumulate_op accum_op(ast_op op)
{
    switch (op) {
    case AST_AND: return HDST__AND;
    case AST_OR: return HDST__OR;
    case AST_XOR: return HDST__XOR;
    default: return HDST__SUM;
    }
}

static void accumulate(lowerer *l, const ast_expr *target, hdst__accumulate_op acc, bool negate, const ast_expr *addend, hdst__span span)
{
    lower_place cell = hdst__lower_place(l, target);
    ir_expr *value = hdst__lower_value(l, addend);
    if (negate) value = hdst__ir_unary(l->func, IR_NEG, value->kind, value);
    hdst__lower_accumulate(l, &cell, acc, value, span);
}

static void assign(lowerer *l, const ast_stmt *s)
{
    if (s->accumulates) {
        accumulate(l, s->target, accum_op(s->op), s->op == AST_SUB, s->value, s->span);
    } else if (s->compound) {
        compound_assign(l, s);
    } else if (hdst__kind_is_scalar(s->target->type->kind)) {
        lower_place place = hdst__lower_place(l, s->target);
        hdst__lower_store(l, &place, hdst__lower_value(l, s->value));
    } else {                            // the value may read what is assigned to
        lower_place to = hdst__lower_evaluate_indices(l, hdst__lower_place(l, s->target)), value = hdst__lower_new_local(l, "value", s->target->type);
        hdst__lower_into(l, &value, s->value);
        hdst__lower_copy(l, &to, &value);
    }
}

// Emits a record: the arguments are its fields in order, or the record itself.
static void emit(lowerer *l, const ast_expr *call, hdst__span span)
{
    const hdst__record *record = l->result->type->kind == HDST__RECORD ? l->result->type->record : NULL;
    const bool by_field = record && (call->arg_count != 1 || !hdst__type_equal(call->args[0]->type, l->result->type));
    for (size_t i = 0; i < call->arg_count; i++) {
        const lower_place to = by_field ? hdst__lower_field(l->result, &record->fields[i]) : *l->result;
        hdst__lower_into(l, &to, call->args[i]);
    }
    hdst__lower_emit(l, NULL, span);
}

static void call(lowerer *l, const ast_stmt *s)
{
    const ast_expr *e = s->value;
    if (e->kind == AST_CALL && !e->callee && e->builtin == HDST__BI_EMIT)
        emit(l, e, s->span);
    else if (e->kind == AST_CALL && !e->callee && e->builtin == HDST__BI_CHECK_NUMBER) hdst__lower_check_number(l, e);
    else if (e->kind == AST_CALL && !e->callee && (e->builtin == HDST__BI_ACC_MIN || e->builtin == HDST__BI_ACC_MAX))
        accumulate(l, e->args[0], e->builtin == HDST__BI_ACC_MIN ? HDST__MIN : HDST__MAX, false, e->args[1], s->span);
    else if (e->type->kind == HDST__VOID) hdst__lower_call(l, e);
    else hdst__lower_place(l, e);
}

// --- Branches ---

static void branch(lowerer *l, const ast_stmt *s)
{
    ir_stmt *test = hdst__ir_if(l->func, hdst__lower_value(l, s->cond));
    hdst__lower_body(l, &test->then, s->then);
    hdst__lower_body(l, &test->otherwise, s->otherwise);
    hdst__lower_push(l, test);
}

static void give_back(lowerer *l, const ast_stmt *s)
{
    if (s == l->tail) {                 // straight into the output
        if (l->is_filter) {
            hdst__lower_emit(l, hdst__lower_value(l, s->value), s->span);
        } else if (s->value) {
            hdst__lower_into(l, l->result, s->value);
        }
        return;
    }
    if (s->value && l->result) hdst__lower_into(l, l->result, s->value);
    hdst__lower_push(l, hdst__ir_stmt(l->func, IR_RETURN, s->span));
}

// --- Switches ---
//
// A switch whose cases all end in break, return or continue is a chain of ifs. Any other switch is a loop that runs once:
// `break` leaves it, and a variable has the number of the first case to run, so that falling through runs the next ones.

typedef struct switch_case {
    size_t first, end;          // statements of the switch's body, labels left out at the front
    bool is_default;
    const ast_expr **values;
    size_t value_count, value_capacity;
} switch_case;

typedef struct switch_cases {
    switch_case *items;
    size_t count, capacity;
} switch_cases;

static switch_cases split_cases(lowerer *l, const ast_stmt *s)
{
    switch_cases cases = {0};
    for (size_t i = 0; i < s->body_count;) {
        switch_case one = {0};
        for (; i < s->body_count && s->body[i]->kind == AST_CASE; i++) {
            if (s->body[i]->value) HDST__PUSH(l->arena, one.values, one.value_count, one.value_capacity, s->body[i]->value);
            else one.is_default = true;
        }
        one.first = i;
        while (i < s->body_count && s->body[i]->kind != AST_CASE) i++;
        one.end = i;
        HDST__PUSH(l->arena, cases.items, cases.count, cases.capacity, one);
    }
    return cases;
}

static bool leaves_switch(const ast_stmt *s, const ast_stmt *end)        // a break of this switch anywhere inside, before its end
{
    if (!s) return false;
    switch (s->kind) {
    case AST_BREAK: return s != end;
    case AST_IF: return leaves_switch(s->then, end) || leaves_switch(s->otherwise, end);
    case AST_BLOCK:
        for (size_t i = 0; i < s->body_count; i++)
            if (leaves_switch(s->body[i], end)) return true;
        return false;
    default: return false;      // of a loop or switch inside
    }
}

static const ast_stmt *last_of(const ast_stmt *s)
{
    while (s->kind == AST_BLOCK && s->body_count) s = s->body[s->body_count - 1];
    return s;
}

static bool ends(const ast_stmt *s)
{
    s = last_of(s);
    return s->kind == AST_BREAK || s->kind == AST_RETURN || s->kind == AST_CONTINUE;
}

static bool is_chain(const ast_stmt *s, const switch_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        const switch_case *c = &cases->items[i];
        if (c->first == c->end) continue;
        if (i + 1 < cases->count && !ends(s->body[c->end - 1])) return false;
        for (size_t k = c->first; k < c->end; k++)
            if (leaves_switch(s->body[k], last_of(s->body[c->end - 1]))) return false;
    }
    return true;
}

static ir_expr *matches(lowerer *l, const ir_expr *value, const switch_case *c)
{
    ir_expr *any = NULL;
    for (size_t i = 0; i < c->value_count; i++) {
        ir_expr *label = hdst__lower_convert(l, value->kind, hdst__lower_value(l, c->values[i]));
        ir_expr *equal = hdst__ir_binary(l->func, IR_EQ, HDST__BOOL, hdst__ir_copy(l->func, value), label);
        any = any ? hdst__ir_binary(l->func, IR_OR, HDST__BOOL, any, equal) : equal;
    }
    return any ? any : hdst__lower_bool(l, false);
}

static void lower_range(lowerer *l, ir_block *block, const ast_stmt *s, size_t first, size_t end)
{
    ir_block *outer = l->block;
    l->block = block;
    for (size_t i = first; i < end; i++) hdst__lower_stmt(l, s->body[i]);
    l->block = outer;
}

static void case_body(lowerer *l, ir_block *block, const ast_stmt *s, const switch_case *c)
{
    const ast_stmt *outer = l->case_end;
    if (c->end > c->first) l->case_end = last_of(s->body[c->end - 1]);
    lower_range(l, block, s, c->first, c->end);
    l->case_end = outer;
}

static void switch_chain(lowerer *l, const ast_stmt *s, const switch_cases *cases, const ir_expr *value)
{
    ir_block *block = l->block;
    const switch_case *otherwise = NULL;
    for (size_t i = 0; i < cases->count; i++) {
        const switch_case *c = &cases->items[i];
        if (c->is_default) otherwise = c;       // its labels need no test: they go where the rest goes
        if (c->is_default || !c->value_count) continue;
        ir_stmt *test = hdst__ir_if(l->func, matches(l, value, c));
        case_body(l, &test->then, s, c);
        hdst__ir_push(l->func, block, test);
        block = &test->otherwise;
    }
    if (otherwise) case_body(l, block, s, otherwise);
}

static void switch_loop(lowerer *l, const ast_stmt *s, const switch_cases *cases, const ir_expr *value)
{
    uint64_t none = cases->count;
    for (size_t i = 0; i < cases->count; i++)
        if (cases->items[i].is_default) none = i;
    ir_expr *begin = hdst__ir_const(l->func, HDST__U32, none);
    for (size_t i = 0; i < cases->count; i++)
        if (cases->items[i].value_count) begin = hdst__ir_select(l->func, matches(l, value, &cases->items[i]), hdst__ir_const(l->func, HDST__U32, i), begin);
    begin = hdst__lower_simple(l, "begin", begin);

    uint32_t outer_continue = l->switch_continue, flag = hdst__ir_add_var(l->func, "continues", HDST__BOOL, 0);
    hdst__lower_push(l, hdst__ir_set(l->func, flag, hdst__lower_bool(l, false)));
    l->switch_continue = flag;
    ir_stmt *once = hdst__ir_stmt(l->func, IR_LOOP, s->span);
    for (size_t i = 0; i < cases->count; i++) {
        ir_expr *number = hdst__ir_const(l->func, HDST__U32, i);
        ir_stmt *test = hdst__ir_if(l->func, hdst__ir_binary(l->func, IR_LE, HDST__BOOL, hdst__ir_copy(l->func, begin), number));
        lower_range(l, &test->then, s, cases->items[i].first, cases->items[i].end);
        hdst__ir_push(l->func, &once->body, test);
    }
    hdst__ir_push(l->func, &once->body, hdst__ir_stmt(l->func, IR_BREAK, s->span));
    hdst__lower_push(l, once);
    l->switch_continue = outer_continue;
    if (!hdst__ir_block_reads(&once->body, flag) && hdst__ir_block_writes(&once->body, flag)) {
        ir_stmt *test = hdst__ir_if(l->func, hdst__ir_var(l->func, flag));
        hdst__lower_body(l, &test->then, &(ast_stmt){.kind = AST_CONTINUE, .span = s->span});
        hdst__lower_push(l, test);
    }
}

static void lower_switch(lowerer *l, const ast_stmt *s)
{
    ir_expr *value = hdst__lower_simple(l, "value", hdst__lower_value(l, s->cond));
    switch_cases cases = split_cases(l, s);
    if (is_chain(s, &cases)) switch_chain(l, s, &cases, value);
    else switch_loop(l, s, &cases, value);
}

static void lower_continue(lowerer *l, const ast_stmt *s)
{
    if (l->switch_continue == IR_NO_VAR) {
        hdst__lower_push(l, hdst__ir_stmt(l->func, IR_CONTINUE, s->span));
        return;
    }
    hdst__lower_push(l, hdst__ir_set(l->func, l->switch_continue, hdst__lower_bool(l, true)));
    hdst__lower_push(l, hdst__ir_stmt(l->func, IR_BREAK, s->span));
}

void hdst__lower_stmt(lowerer *l, const ast_stmt *s)
{
    if (l->statements >= HDST__LOWER_LIMIT) return;
    l->statements++;
    switch (s->kind) {
    case AST_BLOCK:
        for (size_t i = 0; i < s->body_count; i++) hdst__lower_stmt(l, s->body[i]);
        break;
    case AST_DECLARE: declare(l, s); break;
    case AST_ASSIGN: assign(l, s); break;
    case AST_IF: branch(l, s); break;
    case AST_WHILE: case AST_DO: case AST_FOR: hdst__lower_loop(l, s); break;
    case AST_SWITCH: lower_switch(l, s); break;
    case AST_BREAK:
        if (s != l->case_end) hdst__lower_push(l, hdst__ir_stmt(l->func, IR_BREAK, s->span));
        break;
    case AST_CONTINUE: lower_continue(l, s); break;
    case AST_RETURN: give_back(l, s); break;
    case AST_EXPR: call(l, s); break;
    case AST_FOR_IN: hdst__lower_for_in(l, s); break;
    case AST_CASE: break;       // looked at by its switch
    }
}
