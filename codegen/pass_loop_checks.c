// SPDX-License-Identifier: Apache-2.0
// A check that is the same in every turn of a counted loop is made once, before it: of the turns only the first could find it wrong. Checks keep their order.
//
// Before: for i = 0 to 784 { check 2: lt(best, length(t)); accum t[best].x[i] += p.x[i] }
// After:  check 2: lt(best, length(t)); for i = 0 to 784 { accum t[best].x[i] += p.x[i] }
// Where the loop may have no turn, the check is: there is none, or ...
#include "codegen/interp.h"
#include "codegen/kernel.h"

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

static void take_out(ir_func *func, ir_block *out, ir_stmt *loop)
{
    ir_block body = {0};
    bool first = true;
    for (size_t i = 0; i < loop->body.count; i++) {
        ir_stmt *s = loop->body.items[i];
        if (first && s->kind == IR_CHECK && hdst__ir_visit_own_exprs(s, stays, loop)) {
            guard(func, loop, s);
            hdst__ir_push(func, out, s);
            continue;
        }
        first &= is_plain(s);
        hdst__ir_push(func, &body, s);
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
