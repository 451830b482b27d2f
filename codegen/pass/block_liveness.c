// SPDX-License-Identifier: Apache-2.0
// Which varying variables live across record loops: those are arrays over the block, the others are locals of one record loop's body.
#include "codegen/pass/block_form.h"

#include <string.h>

bool hdst__block_reads_first(const ir_block *body, uint32_t var)
{
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        if (hdst__ir_stmt_reads(s, var)) return true;
        if (s->kind == IR_SET && s->var == var) return false;
        if (hdst__ir_stmt_writes(s, var)) return true;      // perhaps set, in a branch or an element: what was there may be read later
    }
    return false;
}

typedef struct liveness {
    ir_func *func;
    const ir_stmt **first;      // by variable: the record loop that names it
    bool *shared;               // named by two record loops, or carried from one turn of a loop to the next
    uint8_t *access;            // of the record loop that is looked at
    bool *outlives;             // known there outside of counted loops over it, each of which sets it
    bool *counted;              // by a loop around the place
} liveness;

static bool note_outliving(ir_expr **slot, void *user)
{
    const liveness *l = user;
    const ir_expr *e = *slot;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && !l->counted[e->var]) l->outlives[e->var] = true;
    return true;
}

static bool reads_none(ir_expr **slot, void *user) { return (*slot)->op != IR_VAR || (*slot)->var != *(const uint32_t *)user; }

static void find_outliving(liveness *l, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        const bool own = s->kind == IR_FOR && hdst__ir_visit_expr(&s->lo, reads_none, &s->var) && hdst__ir_visit_expr(&s->hi, reads_none, &s->var);
        const bool around = own && l->counted[s->var];
        hdst__ir_visit_own_exprs(s, note_outliving, l);
        if (hdst__ir_writes(s, s->var) && !own && !l->counted[s->var]) l->outlives[s->var] = true;
        if (own) l->counted[s->var] = true;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) find_outliving(l, nested[n]);
        if (own) l->counted[s->var] = around;
    }
}

static void name_vars(liveness *l, ir_stmt *records, bool in_loop)
{
    memset(l->access, 0, l->func->var_count);
    memset(l->outlives, 0, l->func->var_count);
    hdst__ir_accesses(&records->body, l->access);
    find_outliving(l, &records->body);
    for (uint32_t v = 0; v < l->func->var_count; v++) {
        if (!l->access[v] || !l->func->vars[v].varying || l->shared[v] || !l->outlives[v]) continue;
        if (l->first[v] || (in_loop && l->access[v] & IR_READ_FIRST)) l->shared[v] = true;
        l->first[v] = records;
    }
}

// What a block takes at once is read after the record loop.
static bool share_var(ir_expr **slot, void *user)
{
    const liveness *l = user;
    const ir_expr *e = *slot;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && l->func->vars[e->var].varying) l->shared[e->var] = true;
    return true;
}

static void walk(liveness *l, ir_block *block, bool in_loop)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_RECORDS) {
            name_vars(l, s, in_loop);
            continue;
        }
        if (s->kind == IR_ACCUM_BLOCK) hdst__ir_visit_expr(&s->value, share_var, l);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++)
            walk(l, nested[n], in_loop || s->kind == IR_FOR || s->kind == IR_LOOP);
    }
}

void hdst__block_mark_per_record(ir_func *func)
{
    const size_t vars = func->var_count + 1;
    liveness l = {func, HDST__NEW_ARRAY(func->arena, const ir_stmt *, vars),
        HDST__NEW_ARRAY(func->arena, bool, vars), HDST__NEW_ARRAY(func->arena, uint8_t, vars),
                  HDST__NEW_ARRAY(func->arena, bool, vars), HDST__NEW_ARRAY(func->arena, bool, vars)};
    walk(&l, &func->body, false);
    for (size_t v = 0; v < func->var_count; v++) func->vars[v].per_record = l.shared[v];
}

// Masks are as wide as most numbers: a compiler makes vectors of bytes and widens them again otherwise (1.5 times the time of a Mandelbrot loop).
hdst__kind hdst__kind_over_block(hdst__kind kind) { return kind == HDST__BOOL ? HDST__U32 : kind; }

uint64_t hdst__block_bytes_per_record(const ir_func *func)
{
    uint64_t bytes = 0;
    for (size_t v = 0; v < func->var_count; v++) {
        const ir_var *var = &func->vars[v];
        if (var->per_record) bytes += hdst__scalar_size(var->elements ? var->kind : hdst__kind_over_block(var->kind)) * (var->elements ? var->elements : 1);
    }
    return bytes;
}

ir_stmt *hdst__block_records(ir_func *func, ir_block body, const char *scalar_why)
{
    ir_stmt *records = hdst__ir_stmt(func, IR_RECORDS, body.count ? body.items[0]->span : (hdst__span){0});
    records->body = body;
    records->vectorize = !scalar_why;
    records->scalar_why = scalar_why;
    return records;
}

uint32_t hdst__block_new_var(ir_func *func, const char *name, hdst__kind kind, bool varying)
{
    uint32_t var = hdst__ir_add_var(func, name, kind, 0);
    func->vars[var].varying = varying;
    return var;
}
