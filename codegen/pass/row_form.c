// SPDX-License-Identifier: Apache-2.0
// What the passes of the row form share, and whether a function gains by it.
#include "codegen/pass/row_form.h"
#include "record/layout.h"
#include "base/costs_cpu.h"

bool hdst__row_is_local(const ir_func *func, const ir_stmt *stmt, uint32_t var)
{
    return hdst__ir_block_reads(&func->body, var) == hdst__ir_stmt_reads(stmt, var) &&
        hdst__ir_block_writes(&func->body, var) == hdst__ir_stmt_writes(stmt, var);
}

static bool is_set_before(const ir_block *block, size_t end, uint32_t var)
{
    for (size_t i = 0; i < end; i++)
        if (block->items[i]->kind == IR_SET && block->items[i]->var == var) return true;
    return false;
}

void hdst__row_fresh(ir_func *func, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind != IR_SET || hdst__block_reads_first(block, s->var) || is_set_before(block, i, s->var)) continue;
        const uint32_t from = s->var, to = hdst__ir_add_var(func, func->vars[from].name, func->vars[from].kind, 0);
        func->vars[to].varying = func->vars[from].varying;
        hdst__ir_substitute(func, block, from, hdst__ir_var(func, to));
        for (size_t k = i; k < block->count; k++)
            if (block->items[k]->kind == IR_SET && block->items[k]->var == from) block->items[k]->var = to;
    }
}

// --- Whether it suits ---

typedef struct search {
    const ir_func *func;
    uint32_t var;               // of the loop; IR_NO_VAR: it counts none
    const hdst__leaf *leaf;
} search;

static bool find_wide(ir_expr **slot, void *user)
{
    search *s = user;
    const ir_expr *e = *slot;
    if (e->op != IR_FIELD || !e->a || e->a->op == IR_CONST || (s->var != IR_NO_VAR && !hdst__ir_expr_reads(e->a, s->var))) return true;
    const hdst__leaf *leaf = &s->func->params[e->param].record->leaves[e->leaf];
    if (leaf->elements >= HDST__ROW_ELEMENTS) s->leaf = leaf;
    return true;
}

static bool is_loop(const ir_stmt *s) { return s->kind == IR_FOR || s->kind == IR_LOOP; }

// Whether there are loops; all_taken becomes false when an innermost one reads a wide leaf and is not taken.
static bool look(search *s, const ir_block *block, bool *all_taken)
{
    bool loops = false;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        bool inner = false;
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++) inner |= look(s, nested[n], all_taken);
        if (is_loop(stmt) && !inner) {
            search here = {s->func, stmt->kind == IR_FOR ? stmt->var : IR_NO_VAR, NULL};
            hdst__ir_visit_exprs(&stmt->body, find_wide, &here);
            if (here.leaf && stmt->vectorize) s->leaf = here.leaf;
            else if (here.leaf && !stmt->scalar_why) *all_taken = false;
        }
        loops |= inner || is_loop(stmt);
    }
    return loops;
}

const hdst__leaf *hdst__row_leaf(const ir_func *func, const hdst__storage *input)
{
    search s = {.func = func};
    bool all_taken = true;
    look(&s, &func->body, &all_taken);
    return input->layout == HDST__AOS && all_taken ? s.leaf : NULL;
}

// --- Histograms ---

// What the block form would write down and read again (the place, checks) takes longer than these additions, and
// additions to one column follow one another there: a common value makes each wait for the one before.
bool hdst__row_only_scatters(const ir_func *func)
{
    size_t nodes = 0, additions = 0;
    for (size_t i = 0; i < func->body.count; i++) {
        const ir_stmt *s = func->body.items[i];
        if (s->kind != IR_SET && s->kind != IR_CHECK && s->kind != IR_ACCUM) return false;
        if (s->kind == IR_CHECK) continue;
        nodes += hdst__ir_expr_size(s->value) + (s->index ? hdst__ir_expr_size(s->index) : 0) + (s->index2 ? hdst__ir_expr_size(s->index2) : 0);
        if (s->kind == IR_SET) continue;
        const bool scatters = (s->index && s->index->varying) || (s->index2 && s->index2->varying);
        if (!scatters || hdst__kind_is_float(s->value->kind)) return false;
        additions++;
    }
    return additions && nodes <= HDST__CPU_SCATTER_NODES * additions;
}
