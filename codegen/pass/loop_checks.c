// SPDX-License-Identifier: Apache-2.0
// A check that is the same in every turn of a counted loop is made once, before it: of the turns only the first could find it wrong. Checks keep their order.
//
// Before: for i = 0 to 784 { check 2: lt(best, length(t)); accum t[best].x[i] += p.x[i] }
// After:  check 2: lt(best, length(t)); for i = 0 to 784 { accum t[best].x[i] += p.x[i] }
// Where the loop may have no turn, the check is: there is none, or ... What is worked out in the loop for the check alone goes with it.
#include "codegen/ir/eval.h"
#include "codegen/pass/passes.h"
#include "codegen/pass/row_form.h"

static bool stays(ir_expr **slot, void *user)
{
    return !(((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && hdst__ir_stmt_writes(user, (*slot)->var));
}

static bool is_plain(const ir_stmt *s)      // goes on to the next statement, and checks nothing
{
    return s->kind == IR_SET || s->kind == IR_SET_ELEM || s->kind == IR_ACCUM || s->kind == IR_STORE;
}

static void guard(ir_func *func, const ir_stmt *loop, ir_stmt *check)
{
    ir_expr *none = hdst__ir_binary(func, IR_GE, HDST__BOOL, hdst__ir_copy(func, loop->lo), hdst__ir_copy(func, loop->hi));
    if (loop->lo->op == IR_CONST && loop->hi->op == IR_CONST && hdst__eval_binary(IR_LT, loop->lo->kind, loop->lo->bits, loop->hi->bits)) return;
    check->cond = hdst__ir_binary(func, IR_OR, HDST__BOOL, none, check->cond);
}

typedef struct way_out {        // of a check, and of the variables that are set for it
    ir_func *func;
    ir_stmt *loop;
    size_t at;
    bool *goes;                 // by statement of the body
} way_out;

static bool goes_along(ir_expr **slot, void *user);

// A variable of the loop alone, set at one place, to what stays.
static bool set_may_go(way_out *w, size_t at)
{
    ir_stmt *s = w->loop->body.items[at];
    if (w->goes[at]) return true;
    if (s->kind != IR_SET || hdst__ir_stmt_writes(w->loop, s->var) != 1 || !hdst__row_is_local(w->func, w->loop, s->var)) return false;
    for (size_t i = 0; i <= at; i++)
        if (hdst__ir_stmt_reads(w->loop->body.items[i], s->var)) return false;
    way_out before = {w->func, w->loop, at, w->goes};
    if (!hdst__ir_visit_expr(&s->value, goes_along, &before)) return false;
    w->goes[at] = true;
    return true;
}

static bool goes_along(ir_expr **slot, void *user)
{
    way_out *w = user;
    const ir_expr *e = *slot;
    if (stays(slot, w->loop)) return true;
    for (size_t i = 0; e->op == IR_VAR && i < w->at; i++)
        if (hdst__ir_writes(w->loop->body.items[i], e->var)) return set_may_go(w, i);
    return false;
}

static void take_out(ir_func *func, ir_block *out, ir_stmt *loop)
{
    ir_block body = {0};
    way_out w = {func, loop, 0, HDST__NEW_ARRAY(func->arena, bool, loop->body.count + 1)};
    bool first = true;
    for (w.at = 0; w.at < loop->body.count && first; w.at++) {
        ir_stmt *s = loop->body.items[w.at];
        if (s->kind == IR_CHECK) w.goes[w.at] = first = hdst__ir_visit_own_exprs(s, goes_along, &w);
        else first = is_plain(s);
    }
    for (size_t i = 0; i < loop->body.count; i++) {
        ir_stmt *s = loop->body.items[i];
        if (w.goes[i] && s->kind == IR_CHECK) guard(func, loop, s);
        hdst__ir_push(func, w.goes[i] ? out : &body, s);
    }
    loop->body = body;
}

static void rewrite(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) rewrite(func, nested[n]);
        if (s->kind == IR_FOR) take_out(func, &out, s);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_loop_checks(ir_func *func) { rewrite(func, &func->body); }
