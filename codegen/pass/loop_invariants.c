// SPDX-License-Identifier: Apache-2.0
// What is the same for all records is worked out before the record loop, once per block: loads from broadcasts above all.
//
// Before:  records vectorize {            After:  c_x_j = c[j].x
//            d = sub(p.x, c[j].x)                 records vectorize {
//          }                                        d = sub(p.x, c_x_j)
//                                                 }
//
// A loop within the record loop, over the elements of a row (element_loops.c), counts alike for all records, but it
// counts there: what reads its variable stays.
#include "codegen/pass/block_form.h"

#include <string.h>

typedef struct hoister {
    ir_func *func;
    ir_block *before;           // the record loop
    size_t first;               // of the statements put there for this record loop
    bool *counts;               // by variable: a loop within this record loop; variables that the pass makes are not there
    size_t var_count;           // when the pass began
} hoister;

// "_j" for row j, "_j1" for row j + 1, "" for what has one row.
static const char *place_name(const hoister *h, const ir_expr *e, const char *before)
{
    hdst__arena *arena = h->func->arena;
    if (!e) return "";
    if (e->op == IR_CONST) return hdst__arena_printf(arena, "%s%llu", before, (unsigned long long)e->bits);
    if (e->op == IR_VAR) return hdst__arena_printf(arena, "_%s", h->func->vars[e->var].name);
    if (e->op == IR_ADD && hdst__kind_is_integer(e->kind) && e->a->op == IR_VAR && e->b->op == IR_CONST)
        return hdst__arena_printf(arena, "_%s%llu", h->func->vars[e->a->var].name, (unsigned long long)e->b->bits);
    return "";
}

// "c_x0_j1" for c[j + 1].x[0], "j1" for j + 1.
static const char *name_of(const hoister *h, const ir_expr *e)
{
    hdst__arena *arena = h->func->arena;
    if (e->op == IR_ADD && place_name(h, e, "")[0]) return place_name(h, e, "") + 1;
    if (e->op != IR_BROADCAST) return "u";
    const ir_param *p = &h->func->params[e->param];
    const hdst__leaf *leaf = &p->record->leaves[e->leaf];
    const char *field = p->record->is_scalar ? "" : hdst__arena_printf(arena, "_%s", leaf->path);
    char *name = hdst__arena_printf(arena, "%s%s%s%s", p->name, field, leaf->elements > 1 ? place_name(h, e->b, "") : "", place_name(h, e->a, "_"));
    for (char *dot = name; (dot = strchr(dot, '.'));) *dot = '_';
    return name;
}

static ir_expr *hoisted(hoister *h, ir_expr *e)
{
    for (size_t i = h->first; i < h->before->count; i++)
        if (hdst__ir_expr_equal(h->before->items[i]->value, e)) return hdst__ir_var(h->func, h->before->items[i]->var);
    uint32_t var = hdst__block_new_var(h->func, name_of(h, e), e->kind, false);
    hdst__ir_push(h->func, h->before, hdst__ir_set(h->func, var, e));
    return hdst__ir_var(h->func, var);
}

static bool changes(const hoister *h, uint32_t var) { return h->func->vars[var].varying || (var < h->var_count && h->counts[var]); }

static bool differs(const hoister *h, const ir_expr *e)
{
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX || e->op == IR_FIXED || e->op == IR_FITS) return true;     // the last two know a scale of the launch
    if ((e->op == IR_VAR || e->op == IR_ELEM) && changes(h, e->var)) return true;
    return (e->a && differs(h, e->a)) || (e->b && differs(h, e->b)) || (e->c && differs(h, e->c));
}

// The largest trees that do not differ, parents first.
static void hoist_from(hoister *h, ir_expr **slot)
{
    ir_expr *e = *slot;
    if (!e || e->op == IR_CONST || e->op == IR_VAR || e->op == IR_LENGTH) return;
    if (!differs(h, e)) {
        *slot = hoisted(h, e);
        return;
    }
    hoist_from(h, &e->a);
    hoist_from(h, &e->b);
    hoist_from(h, &e->c);
}

static void hoist_stmts(hoister *h, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_expr **own[] = {&s->lo, &s->hi, &s->index, &s->index2, &s->cond, &s->value};
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) hoist_from(h, own[k]);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) hoist_stmts(h, nested[n]);
    }
}

// Notes that loops within count, or that they do no more.
static void note_counters(hoister *h, ir_block *block, bool counts)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_FOR) h->counts[s->var] = counts;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) note_counters(h, nested[n], counts);
    }
}

static void hoist_records(hoister *h, ir_block *before, ir_stmt *records)
{
    h->before = before;
    h->first = before->count;
    note_counters(h, &records->body, true);
    hoist_stmts(h, &records->body);
    note_counters(h, &records->body, false);
}

static void hoist_block(hoister *h, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        if (s->kind == IR_RECORDS) {
            hoist_records(h, &out, s);
        } else {
            for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) hoist_block(h, nested[n]);
        }
        hdst__ir_push(h->func, &out, s);
    }
    *block = out;
}

void hdst__pass_loop_invariants(ir_func *func)
{
    hoister h = {.func = func, .counts = HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1), .var_count = func->var_count};
    hoist_block(&h, &func->body);
}
