// SPDX-License-Identifier: Apache-2.0
// Marks what differs from record to record (the analysis of ispc): an expression is varying when it reads the record or a varying variable; a variable, when it
// is set to something varying, or set where only some records come: in a branch with a varying condition, in a loop that some records leave earlier.
//
// Where output records are put one after another, records go through the statements one by one, so that all that is
// set there varies. So it is in a loop over the elements of a row that is marked for SIMD (element_loops.c): each
// record makes it for itself, whatever it works on.
//
// Before:  var f32 d                          After:  var f32 d varying
//          var u64 j                                  var u64 j
//          for j = 0ul to length(c) {                 the same
//            d = add(p.x, c[j].x)
//          }
#include "codegen/pass/passes.h"

typedef struct marker {
    ir_func *func;
    bool changed;
} marker;

static bool mark_expr(ir_expr **slot, void *user)
{
    const ir_func *func = user;
    ir_expr *e = *slot;
    e->varying = e->op == IR_FIELD || e->op == IR_RECORD_INDEX || e->op == IR_GROUP_VALUE ||
                 ((e->op == IR_VAR || e->op == IR_ELEM) && func->vars[e->var].varying) || (e->a && e->a->varying) || (e->b && e->b->varying) ||
                 (e->c && e->c->varying);
    return true;
}

static bool varies(const ir_expr *e) { return e && e->varying; }

static void mark_var(marker *m, uint32_t var, bool varying)
{
    if (!varying || m->func->vars[var].varying) return;
    m->func->vars[var].varying = true;
    m->changed = true;
}

// Whether some records leave the loop (or its turn) where others stay: a break or continue under a varying condition.
static bool leaves_apart(const ir_block *block, bool varying)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (varying && (s->kind == IR_BREAK || s->kind == IR_CONTINUE)) return true;
        if (s->kind != IR_IF) continue;
        bool inside = varying || varies(s->cond);
        if (leaves_apart(&s->then, inside) || leaves_apart(&s->otherwise, inside)) return true;
    }
    return false;
}

bool hdst__ir_loop_varies(const ir_stmt *s)
{
    if (varies(s->lo) || varies(s->hi) || varies(s->cond)) return true;
    return leaves_apart(&s->head, false) || leaves_apart(&s->body, false) || leaves_apart(&s->after, false);
}

static void mark_block(marker *m, ir_block *block, bool varying);

static void mark_stmt(marker *m, ir_stmt *s, bool varying)
{
    hdst__ir_visit_own_exprs(s, mark_expr, m->func);
    if (s->kind == IR_SET || s->kind == IR_SET_ELEM) mark_var(m, s->var, varying || varies(s->value) || varies(s->index));
    if (s->kind == IR_IF) varying = varying || varies(s->cond);
    if (s->kind == IR_FOR || s->kind == IR_LOOP) varying = varying || hdst__ir_loop_varies(s);
    if (s->kind == IR_FOR) mark_var(m, s->var, varying);
    varying = varying || (s->kind == IR_FOR && s->vectorize);
    ir_block *nested[HDST__IR_NESTED];
    for (int i = 0, count = hdst__ir_nested(s, nested); i < count; i++) mark_block(m, nested[i], varying);
}

static void mark_block(marker *m, ir_block *block, bool varying)
{
    for (size_t i = 0; i < block->count; i++) mark_stmt(m, block->items[i], varying);
}

static void mark_body(marker *m)
{
    size_t first, end;
    if (m->func->counts || !hdst__ir_emit_range(m->func, &first, &end)) first = end = 0;
    for (size_t i = 0; i < m->func->body.count; i++) mark_stmt(m, m->func->body.items[i], i >= first && i < end);
}

void hdst__pass_uniformity(ir_func *func)
{
    marker m = {func, true};
    for (size_t i = 0; i < func->var_count; i++) func->vars[i].varying = false;
    while (m.changed) {         // a variable that is found to vary makes others vary, also earlier in a loop
        m.changed = false;
        mark_body(&m);
    }
}
