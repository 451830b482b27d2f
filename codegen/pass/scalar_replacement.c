// SPDX-License-Identifier: Apache-2.0
// A local array that only constants index becomes a variable for each element. Other passes see through variables:
// what is set and never read goes, and in block form only the elements that live across record loops are kept. Loops
// that index arrays by their counters were unrolled before. (Scalar replacement of aggregates: Muchnick, "Advanced
// Compiler Design and Implementation", 1997, section 12.2.)
//
// Before: d[0u] = sub(p.x, 1f)           After: d_0 = sub(p.x, 1f)
//         d[1u] = mul(d[0u], d[0u])             d_1 = mul(d_0, d_0)
#include "codegen/pass/passes.h"
#include "base/costs_host.h"

typedef struct splitting {
    ir_func *func;
    bool *stays;                // by variable: no array, or one that something else than a constant indexes
    uint32_t *first;            // by variable: of its elements
} splitting;

static bool is_place(const splitting *w, uint32_t var, const ir_expr *index) { return index->op == IR_CONST && index->bits < w->func->vars[var].elements; }

static bool look_at_expr(ir_expr **slot, void *user)
{
    splitting *w = user;
    if ((*slot)->op == IR_ELEM && !is_place(w, (*slot)->var, (*slot)->a)) w->stays[(*slot)->var] = true;
    return true;
}

static bool look_at_stmt(ir_stmt *s, void *user)
{
    splitting *w = user;
    if (s->kind == IR_SET_ELEM && !is_place(w, s->var, s->index)) w->stays[s->var] = true;
    return hdst__ir_visit_own_exprs(s, look_at_expr, user);
}

static bool split_expr(ir_expr **slot, void *user)
{
    const splitting *w = user;
    ir_expr *e = *slot;
    if (e->op != IR_ELEM || w->stays[e->var]) return true;
    *slot = hdst__ir_var(w->func, w->first[e->var] + (uint32_t)e->a->bits);
    (*slot)->varying = e->varying;
    (*slot)->span = e->span;
    return true;
}

static bool split_stmt(ir_stmt *s, void *user)
{
    const splitting *w = user;
    if (s->kind == IR_SET_ELEM && !w->stays[s->var]) {
        s->kind = IR_SET;
        s->var = w->first[s->var] + (uint32_t)s->index->bits;
        s->index = NULL;
    }
    return hdst__ir_visit_own_exprs(s, split_expr, user);
}

static bool is_small_array(const ir_var *var) { return var->elements && var->elements <= HDST__HOST_REPLACED_ELEMENTS && !var->init; }

static void add_elements(splitting *w, uint32_t var)
{
    const ir_var array = w->func->vars[var];
    for (uint64_t e = 0; e < array.elements; e++) {
        const uint32_t element = hdst__ir_add_var(w->func, hdst__arena_printf(w->func->arena, "%s_%llu", array.name, (unsigned long long)e), array.kind, 0);
        w->func->vars[element].varying = array.varying;
        if (!e) w->first[var] = element;
    }
}

void hdst__pass_scalar_replacement(ir_func *func)
{
    const uint32_t count = (uint32_t)func->var_count;
    splitting w = {func, HDST__NEW_ARRAY(func->arena, bool, count + 1), HDST__NEW_ARRAY(func->arena, uint32_t, count + 1)};
    for (uint32_t v = 0; v < count; v++) w.stays[v] = !is_small_array(&func->vars[v]);
    hdst__ir_visit_stmts(&func->body, look_at_stmt, &w);
    for (uint32_t v = 0; v < count; v++)
        if (!w.stays[v]) add_elements(&w, v);
    hdst__ir_visit_stmts(&func->body, split_stmt, &w);
}
