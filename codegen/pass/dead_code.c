// SPDX-License-Identifier: Apache-2.0
// Drops variables that nothing reads, with the statements that set them, and marks which leaves of the inputs and broadcasts are read: only those travel.
//
// Before:  input p p {f32 x, f32 y}          After:  input p p {f32 x, f32 y} reads y
//          var f32 a
//          a = p.x                                   accum t.value += p.y
//          accum t.value += p.y
#include "codegen/pass/passes.h"

static bool count_read(ir_expr **slot, void *user)
{
    size_t *reads = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) reads[(*slot)->var]++;
    return true;
}

typedef struct sweep {
    ir_func *func;
    const size_t *reads;
    bool changed;
} sweep;

static bool is_dead(const sweep *w, const ir_stmt *s)
{
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: return !w->reads[s->var];
    case IR_IF: return !s->then.count && !s->otherwise.count;
    case IR_FOR: return !s->body.count;
    default: return false;
    }
}

static void sweep_block(sweep *w, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) sweep_block(w, nested[n]);
        if (is_dead(w, s)) w->changed = true;
        else hdst__ir_push(w->func, &out, s);
    }
    *block = out;
}

// A variable that only its own assignments read (x = x + 1) is dead too: those reads are not counted.
static bool count_stmt_reads(ir_stmt *s, void *user)
{
    size_t *reads = user;
    if (s->kind != IR_SET && s->kind != IR_SET_ELEM) return hdst__ir_visit_own_exprs(s, count_read, reads);
    const size_t before = reads[s->var];
    hdst__ir_visit_expr(&s->value, count_read, reads);
    reads[s->var] = before;
    return hdst__ir_visit_expr(&s->index, count_read, reads);
}

static bool mark_leaf(ir_expr **slot, void *user)
{
    const ir_func *func = user;
    const ir_expr *e = *slot;
    if (e->op == IR_FIELD || e->op == IR_BROADCAST) func->params[e->param].leaf_used[e->leaf] = true;
    return true;
}

void hdst__pass_dead_code(ir_func *func)
{
    sweep w = {.func = func};
    do {
        size_t *reads = HDST__NEW_ARRAY(func->arena, size_t, func->var_count + 1);
        hdst__ir_visit_stmts(&func->body, count_stmt_reads, reads);
        w.reads = reads;
        w.changed = false;
        sweep_block(&w, &func->body);
    } while (w.changed);
    for (size_t i = 0; i < func->param_count; i++) {
        ir_param *p = &func->params[i];
        if (p->kind == IR_INPUT || p->kind == IR_BROADCAST_TABLE) p->leaf_used = HDST__NEW_ARRAY(func->arena, bool, p->record->leaf_count);
    }
    hdst__ir_visit_exprs(&func->body, mark_leaf, func);
    hdst__ir_drop_unused_vars(func);
}
