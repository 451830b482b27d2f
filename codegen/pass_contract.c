// SPDX-License-Identifier: Apache-2.0
// A local array that one loop fills element by element, and that is only read afterwards, needs no storage: each read becomes the element's expression. (Array
// contraction: Sarkar and Gao, "Optimization of array accesses by collective loop transformations", 1991.)
//
// Before: for i = 0 to 784 { e[i] = sub(p.x[i], c[j].x[i]) }         After: for i = 0 to 784 { e_i = sub(p.x[i], c[j].x[i]); d = fma(e_i, e_i, d) }
//         for i = 0 to 784 { d = fma(e[i], e[i], d) }
//
// The expression must be small, and what it reads must stay until the last read.
#include "codegen/kernel.h"

#include <string.h>

enum { MOST_NODES = 16 };

typedef struct filled {
    ir_func *func;
    uint32_t array, counter;
    const ir_stmt *fill;
    ir_expr *value;             // of element number `counter`
    size_t reads;               // of the array, in the whole function
} filled;

// --- The loop that fills ---

static bool is_cheap(const ir_expr *e)
{
    return !e || (e->op != IR_DIV && e->op != IR_REM && e->op != IR_SQRT && is_cheap(e->a) && is_cheap(e->b) && is_cheap(e->c));
}

// What the element is set to, in terms of what stands before the loop; NULL: something else goes on in it.
static ir_expr *filled_with(ir_func *func, const ir_stmt *loop)
{
    const size_t last = loop->body.count - 1;
    ir_expr *value = hdst__ir_copy(func, loop->body.items[last]->value);
    for (size_t i = last; i-- > 0;) {
        const ir_stmt *s = loop->body.items[i];
        if (s->kind != IR_SET) return NULL;
        hdst__ir_substitute_expr(func, &value, s->var, s->value);
        if (hdst__ir_expr_size(value) > MOST_NODES) return NULL;
    }
    for (size_t i = 0; i < last; i++)       // read before it was set, or carried from turn to turn
        if (hdst__ir_expr_reads(value, loop->body.items[i]->var)) return NULL;
    return hdst__ir_expr_size(value) <= MOST_NODES && is_cheap(value) ? value : NULL;
}

static bool is_fill(ir_func *func, const ir_stmt *s, filled *f)
{
    if (s->kind != IR_FOR || s->step != 1 || !s->body.count || !hdst__ir_is_const(s->lo, 0)) return false;
    const ir_stmt *set = s->body.items[s->body.count - 1];
    if (set->kind != IR_SET_ELEM || set->index->op != IR_VAR || set->index->var != s->var) return false;
    if (!hdst__ir_is_const(s->hi, func->vars[set->var].elements)) return false;
    *f = (filled){func, set->var, s->var, s, filled_with(func, s), 0};
    return f->value && !hdst__ir_expr_reads(f->value, set->var);
}

// --- What comes after it ---

static bool not_written(ir_expr **slot, void *user)
{
    return !(((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && hdst__ir_stmt_writes(user, (*slot)->var));
}

// What the values of the fill's variables are after it counts as well: they may be read there.
static bool sets_more(const filled *f, const ir_block *block, size_t at)
{
    for (size_t i = 0; i + 1 < f->fill->body.count; i++)
        for (size_t k = at + 1; k < block->count; k++)
            if (hdst__ir_stmt_reads(block->items[k], f->fill->body.items[i]->var)) return true;
    return false;
}

static bool stays_until_read(const filled *f, const ir_block *block, size_t at)
{
    size_t seen = 0;
    ir_expr *element = hdst__ir_copy(f->func, f->value);
    hdst__ir_substitute_expr(f->func, &element, f->counter, hdst__ir_const(f->func, f->fill->lo->kind, 0));
    for (size_t i = at + 1; i < block->count && seen < f->reads; i++) {
        if (hdst__ir_stmt_writes(block->items[i], f->array) || !hdst__ir_visit_expr(&element, not_written, block->items[i])) return false;
        seen += hdst__ir_stmt_reads(block->items[i], f->array);
    }
    return seen == f->reads;
}

typedef struct use {
    const filled *filled;
    bool other;                 // read where no statement can stand in front
} use;

static bool only_plain(ir_stmt *s, void *user)
{
    use *u = user;
    const bool plain = s->kind == IR_SET || s->kind == IR_SET_ELEM || s->kind == IR_ACCUM || s->kind == IR_STORE;
    const ir_expr *control[] = {s->lo, s->hi, s->cond};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) u->other |= control[i] && hdst__ir_expr_reads(control[i], u->filled->array) > 0;
    u->other |= !plain && s->value && hdst__ir_expr_reads(s->value, u->filled->array) > 0;
    return !u->other;
}

// --- Rewriting ---

typedef struct rewriting {
    const filled *filled;
    ir_block *out;
    size_t first;               // of this statement's elements in `out`
} rewriting;

static bool replace(ir_expr **slot, void *user)
{
    rewriting *r = user;
    const filled *f = r->filled;
    ir_expr *e = *slot;
    if (e->op != IR_ELEM || e->var != f->array) return true;
    ir_expr *value = hdst__ir_copy(f->func, f->value);
    hdst__ir_substitute_expr(f->func, &value, f->counter, hdst__ir_convert(f->func, f->fill->lo->kind, e->a));
    for (size_t i = r->first; i < r->out->count; i++)
        if (hdst__ir_expr_equal(r->out->items[i]->value, value)) {
            *slot = hdst__ir_var(f->func, r->out->items[i]->var);
            return true;
        }
    const uint32_t var = hdst__ir_add_var(f->func, f->func->vars[f->array].name, value->kind, 0);
    hdst__ir_push(f->func, r->out, hdst__ir_set(f->func, var, value));
    *slot = hdst__ir_var(f->func, var);
    return true;
}

static void replace_reads(const filled *f, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_SET_ELEM && s->var == f->array) continue;     // nobody reads it any more
        rewriting r = {f, &out, out.count};
        if (hdst__ir_stmt_reads(s, f->array)) hdst__ir_visit_own_exprs(s, replace, &r);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) replace_reads(f, nested[n]);
        if (s->kind != IR_FOR || s->body.count) hdst__ir_push(f->func, &out, s);
    }
    *block = out;
}

static bool count_read(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_ELEM) ((size_t *)user)[(*slot)->var]++;
    return true;
}

// One array at a time, as the blocks change. `reads`: by variable, of arrays.
static bool contract_one(ir_func *func, ir_block *block, const size_t *reads)
{
    for (size_t i = 0; i < block->count; i++) {
        filled f;
        ir_block *nested[HDST__IR_NESTED];
        const bool fills = is_fill(func, block->items[i], &f);
        if (fills) f.reads = reads[f.array];
        if (fills && !sets_more(&f, block, i) && stays_until_read(&f, block, i)) {
            use u = {&f, false};
            hdst__ir_visit_stmts(block, only_plain, &u);
            if (!u.other) {
                replace_reads(&f, &func->body);
                return true;
            }
        }
        for (int n = 0, count = hdst__ir_nested(block->items[i], nested); n < count; n++)
            if (contract_one(func, nested[n], reads)) return true;
    }
    return false;
}

void hdst__pass_contract(ir_func *func)
{
    size_t *reads = NULL, capacity = 0;
    do {
        reads = hdst__arena_grow(func->arena, reads, &capacity, func->var_count + 1, sizeof *reads);
        memset(reads, 0, capacity * sizeof *reads);
        hdst__ir_visit_exprs(&func->body, count_read, reads);
    } while (contract_one(func, &func->body, reads));
}
