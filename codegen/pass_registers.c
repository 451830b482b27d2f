// SPDX-License-Identifier: Apache-2.0
// In a vectorised record loop, a variable that lives in an array over the block is loaded once, kept in a local, and stored once.
//
// Before: records vectorize { best = select(c, d, best); best = select(c_2, d_2, best) }          best: per record
// After:  records vectorize { best_r = best; best_r = select(c, d, best_r); best_r = select(c_2, d_2, best_r); best = best_r }
#include "codegen/block_form.h"

typedef struct renaming {
    ir_func *func;
    uint32_t from, to;
} renaming;

static bool rename_read(ir_expr **slot, void *user)
{
    const renaming *r = user;
    if ((*slot)->op == IR_VAR && (*slot)->var == r->from) *slot = hdst__ir_var(r->func, r->to);
    return true;
}

static bool rename_stmt(ir_stmt *s, void *user)
{
    const renaming *r = user;
    if (s->kind == IR_SET && s->var == r->from) s->var = r->to;
    return hdst__ir_visit_own_exprs(s, rename_read, user);
}

static void keep_in_register(ir_func *func, ir_block *body, uint32_t var)
{
    const size_t writes = hdst__ir_block_writes(body, var);
    const bool loads = hdst__block_reads_first(body, var);
    renaming r = {func, var, hdst__block_new_var(func, hdst__arena_printf(func->arena, "%s_r", func->vars[var].name), func->vars[var].kind, true)};
    hdst__ir_visit_stmts(body, rename_stmt, &r);
    ir_block out = {0};
    if (loads) hdst__ir_push(func, &out, hdst__ir_set(func, r.to, hdst__ir_var(func, var)));
    for (size_t i = 0; i < body->count; i++) hdst__ir_push(func, &out, body->items[i]);
    if (writes) hdst__ir_push(func, &out, hdst__ir_set(func, var, hdst__ir_var(func, r.to)));
    *body = out;
}

static bool visit_records(ir_stmt *s, void *user)
{
    ir_func *func = user;
    if (s->kind != IR_RECORDS || !s->vectorize) return true;
    const size_t vars = func->var_count;
    size_t *mentions = HDST__NEW_ARRAY(func->arena, size_t, vars + 1);
    hdst__ir_tally(&s->body, mentions, false);
    for (uint32_t v = 0; v < vars; v++)
        if (mentions[v] > 1 && func->vars[v].per_record && !func->vars[v].elements) keep_in_register(func, &s->body, v);
    return true;
}

void hdst__pass_registers(ir_func *func) { hdst__ir_visit_stmts(&func->body, visit_records, func); }
