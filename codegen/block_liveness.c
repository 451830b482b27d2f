// SPDX-License-Identifier: Apache-2.0
// Which varying variables live across record loops: those are arrays over the block, the others are locals of one record loop's body.
#include "codegen/block_form.h"

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
} liveness;

// Whether the variable is known outside of counted loops over it, each of which sets it.
static bool outlives_its_loops(ir_block *block, uint32_t var)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        const bool own = s->kind == IR_FOR && s->var == var;
        if (own && !hdst__ir_expr_reads(s->lo, var) && !hdst__ir_expr_reads(s->hi, var)) continue;
        ir_stmt alone = *s;
        alone.body = alone.then = alone.otherwise = alone.head = alone.after = (ir_block){0};
        if (hdst__ir_stmt_reads(&alone, var) || hdst__ir_writes(s, var)) return true;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++)
            if (outlives_its_loops(nested[n], var)) return true;
    }
    return false;
}

static void name_vars(liveness *l, const ir_stmt *records, bool in_loop)
{
    size_t *mentions = HDST__NEW_ARRAY(l->func->arena, size_t, l->func->var_count + 1);
    hdst__ir_tally(&records->body, mentions, false);
    for (uint32_t v = 0; v < l->func->var_count; v++) {
        if (!mentions[v] || !l->func->vars[v].varying || l->shared[v]) continue;
        if (!outlives_its_loops((ir_block *)&records->body, v)) continue;
        if (l->first[v] || (in_loop && hdst__block_reads_first(&records->body, v))) l->shared[v] = true;
        l->first[v] = records;
    }
}

// What a block takes at once is read after the record loop.
static void share_vars(liveness *l, const ir_stmt *s)
{
    for (uint32_t v = 0; v < l->func->var_count; v++)
        if (l->func->vars[v].varying && hdst__ir_expr_reads(s->value, v)) l->shared[v] = true;
}

static void walk(liveness *l, ir_block *block, bool in_loop)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_RECORDS) {
            name_vars(l, s, in_loop);
            continue;
        }
        if (s->kind == IR_ACCUM_BLOCK) share_vars(l, s);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++)
            walk(l, nested[n], in_loop || s->kind == IR_FOR || s->kind == IR_LOOP);
    }
}

void hdst__block_mark_per_record(ir_func *func)
{
    liveness l = {func, HDST__NEW_ARRAY(func->arena, const ir_stmt *, func->var_count + 1), HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1)};
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
