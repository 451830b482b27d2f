// SPDX-License-Identifier: Apache-2.0
// GPU form: where the additions of the loops go that a work-group makes together (cooperative_loops.c) while a lane
// goes through the group's records. Where all records add to one cell the sum stays in a register; where their rows
// differ and are few, a lane has an element of each row in local memory (the tile); else it is the table's own word.
//
// Before: for i = 0 to 784 { accum g.w[i] += mul(factor, p.x[i])                 accum t[best].x[i] += p.x[i] }
// After:  for i = 0 to 784 { accum g.w[i] += mul(factor, p.x[i]) in register 0   accum t[best].x[i] += p.x[i] in tile }
#include "codegen/pass/accumulator_placement.h"

// --- What the lane's record brings along ---

bool hdst__place_is_carried(const ir_func *loops, uint32_t var)
{
    return !loops->vars[var].init && hdst__ir_block_reads(&loops->body, var) && !hdst__ir_block_writes(&loops->body, var);
}

uint64_t hdst__place_carried_bytes(const ir_func *loops)
{
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < loops->var_count; v++) {
        const ir_var *var = &loops->vars[v];
        if (hdst__place_is_carried(loops, v)) bytes += hdst__scalar_size(var->kind) * (var->elements ? var->elements : 1);
    }
    return bytes;
}

// --- What all records have in common ---

typedef struct placer {
    const ir_func *loops;
    const hdst__tables *tables;
    const bool *counts;         // by variable: it counts a loop around the statement
} placer;

static bool is_of_loops(ir_expr **e, void *user)
{
    const placer *p = user;
    if ((*e)->op == IR_FIELD || (*e)->op == IR_RECORD_INDEX) return false;
    if ((*e)->op != IR_VAR && (*e)->op != IR_ELEM) return true;
    return !hdst__place_is_carried(p->loops, (*e)->var) && p->counts[(*e)->var];
}

bool hdst__place_is_shared(const ir_func *loops, const bool *counts, const ir_expr *expr)
{
    placer p = {.loops = loops, .counts = counts};
    ir_expr *root = (ir_expr *)expr;        // the visitor changes nothing
    return hdst__ir_visit_expr(&root, is_of_loops, &p);
}

static bool is_shared(const placer *p, const ir_expr *index) { return !index || hdst__place_is_shared(p->loops, p->counts, index); }

// Every record adds to the same cell: its row and element follow from the loops alone.
static bool is_one_cell(const placer *p, const ir_stmt *s) { return is_shared(p, s->index) && is_shared(p, s->index2); }

// --- Homes ---

static uint32_t words_of(const placer *p, const ir_stmt *s) { return hdst__tables_accum(p->tables, s->param)->cell[s->leaf].private_words; }

// All additions of the body to the leaf: they are to one cell, or the loop would not be the work-group's.
static void place_leaf(const ir_block *body, const ir_stmt *first, ir_home home, uint32_t at)
{
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (s->kind != IR_ACCUM || s->param != first->param || s->leaf != first->leaf || s->home) continue;
        s->home = home;
        s->home_register = at;
    }
}

static void place_in_registers(const placer *p, const ir_block *body)
{
    uint32_t taken = 0;
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        if (s->kind != IR_ACCUM || s->home || !is_one_cell(p, s)) continue;
        const uint32_t words = words_of(p, s);
        if (!words || p->loops->params[s->param].placement->place != IR_PLACE_GROUP || taken + words > IR_HOME_REGISTERS) continue;
        place_leaf(body, s, IR_HOME_REGISTER, taken);
        taken += words;
    }
}

// One leaf: each lane has a column of its own, so nobody waits for anybody.
static void place_in_tile(const placer *p, const ir_block *body)
{
    const ir_tables *form = p->loops->tables;
    for (size_t i = 0; form->has_tile && i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        if (s->kind != IR_ACCUM || s->param != form->tile || !words_of(p, s) || is_one_cell(p, s) || !is_shared(p, s->index2)) continue;
        place_leaf(body, s, IR_HOME_TILE, 0);
        return;
    }
}

static bool have_homes(const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == IR_ACCUM && !body->items[i]->home) return false;
    return true;
}

bool hdst__place_leaves_sums(const ir_func *loops)
{
    if (!loops->tables->has_tile) return false;
    for (size_t i = 0; i < loops->body.count; i++) {
        const ir_stmt *s = loops->body.items[i];
        while (s->body.items[0]->kind == IR_FOR) s = s->body.items[0];
        if (!have_homes(&s->body)) return false;
    }
    return true;
}

void hdst__place_homes(ir_func *loops, const hdst__tables *tables)
{
    bool *counts = HDST__NEW_ARRAY(loops->arena, bool, loops->var_count + 1);
    const placer p = {loops, tables, counts};
    for (size_t i = 0; i < loops->body.count; i++) {
        const ir_stmt *s = loops->body.items[i];
        for (counts[s->var] = true; s->body.items[0]->kind == IR_FOR; counts[s->var] = true) s = s->body.items[0];
        place_in_registers(&p, &s->body);
        place_in_tile(&p, &s->body);
    }
}
