// SPDX-License-Identifier: Apache-2.0
// Row form: a sum in order at the end of a loop over elements, each addition of which waits for the one before, gets a loop of its own behind it. What is
// left can be taken by SIMD (element_loops.c), if each turn only needs what is its own.
//
// Before: for c = 0 to 10 { score[c] = exp(score[c]); total = add(total, score[c]) }
// After:  for c = 0 to 10 { score[c] = exp(score[c]) }  for c = 0 to 10 { total = add(total, score[c]) }
//
// Only of few elements: over a wide record's own the additions take longest, and records side by side do better (row_form.c).
#include "base/costs_cpu.h"
#include "codegen/pass/row_form.h"

typedef struct sum_reader {
    const ir_stmt *loop;
    const ir_stmt *sum;
} sum_reader;

static bool sets_alike(const ir_stmt *loop, const ir_expr *element)
{
    for (size_t i = 0; i < loop->body.count; i++) {
        const ir_stmt *s = loop->body.items[i];
        if (s->kind == IR_SET_ELEM && s->var == element->var && !hdst__ir_expr_equal(s->index, element->a)) return false;
    }
    return true;
}

// What the sum reads is behind the loop as it was in the turn: the counter, what no turn sets, elements that one turn alone sets.
static bool is_there_later(ir_expr **slot, void *user)
{
    const sum_reader *r = user;
    const ir_expr *e = *slot;
    if (e->op == IR_VAR) return e->var == r->sum->var || e->var == r->loop->var || !hdst__ir_stmt_writes(r->loop, e->var);
    if (e->op != IR_ELEM || !hdst__ir_stmt_writes(r->loop, e->var)) return true;
    return e->a->op == IR_VAR && e->a->var == r->loop->var && sets_alike(r->loop, e);
}

static bool count_node(ir_expr **slot, void *user)
{
    (void)slot;
    ++*(size_t *)user;
    return true;
}

static bool is_worth_it(const ir_stmt *loop)
{
    size_t nodes = 0;
    for (size_t i = 0; i + 1 < loop->body.count; i++) {
        if (loop->body.items[i]->kind != IR_SET && loop->body.items[i]->kind != IR_SET_ELEM) return false;
        hdst__ir_visit_own_exprs(loop->body.items[i], count_node, &nodes);
    }
    return nodes >= HDST__CPU_FISSION_NODES;
}

static bool is_short(const ir_stmt *loop)
{
    return loop->lo->op == IR_CONST && loop->hi->op == IR_CONST && loop->hi->bits < loop->lo->bits + HDST__ROW_ELEMENTS;
}

ir_stmt *hdst__fission_ordered_sum(ir_func *func, ir_stmt *loop)
{
    if (loop->kind != IR_FOR || loop->body.count < 2 || !is_short(loop)) return NULL;
    ir_stmt *sum = loop->body.items[loop->body.count - 1];
    if (sum->kind != IR_SET || sum->var == loop->var || !hdst__kind_is_float(sum->value->kind)) return NULL;
    if (hdst__ir_stmt_writes(loop, sum->var) != 1 || hdst__ir_stmt_reads(loop, sum->var) != 1 || hdst__ir_stmt_reads(sum, sum->var) != 1) return NULL;
    sum_reader r = {loop, sum};
    if (!hdst__ir_visit_own_exprs(sum, is_there_later, &r) || !is_worth_it(loop)) return NULL;
    ir_stmt *behind = hdst__ir_for(func, loop->var, hdst__ir_copy(func, loop->lo), hdst__ir_copy(func, loop->hi), loop->step);
    hdst__ir_push(func, &behind->body, sum);
    loop->body.count--;
    return behind;
}
