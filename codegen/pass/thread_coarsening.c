// SPDX-License-Identifier: Apache-2.0
// GPU form: a lane takes several records at once. Control that is uniform is kept once and its body repeated for each
// of them (unroll and jam over records), so a row of a broadcast that was read serves them all, and their
// instructions overlap. Everything else is repeated, with a copy of each varying variable for each record. What the
// records are read for is loaded first, so that the loads are under way together: between additions, which are
// atomic, a driver's compiler would not move them.
//
// Before: d = 0; for j = 0 to length(c) { d = add(d, sub(p.x, c[j].x)) }; total += d
// After, two records: x = p.x@0; x_ = p.x@1; d = 0; d_ = 0;
//         for j = 0 to length(c) { d = add(d, sub(x, c[j].x)); d_ = add(d_, sub(x_, c[j].x)) }; total += d; total += d_
#include "codegen/pass/passes.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

typedef struct lanes {
    ir_func *func;
    uint32_t records;
    uint32_t **var;             // by record and variable of before: its copy
    size_t var_count;           // of before
} lanes;

// --- One record's copy ---

typedef struct renaming {
    const lanes *lanes;
    uint32_t record;
} renaming;

static bool rename_expr(ir_expr **slot, void *user)
{
    const renaming *to = user;
    ir_expr *e = *slot;
    if (e->op == IR_VAR || e->op == IR_ELEM) e->var = to->lanes->var[to->record][e->var];
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX) e->record = to->record;
    return true;
}

static bool rename_stmt(ir_stmt *s, void *user)
{
    const renaming *to = user;
    if (hdst__ir_writes(s, s->var)) s->var = to->lanes->var[to->record][s->var];
    s->record = to->record;
    return hdst__ir_visit_own_exprs(s, rename_expr, user);
}

static void repeat(const lanes *l, ir_block *out, const ir_stmt *s)
{
    ir_stmt *item = (ir_stmt *)s;
    const ir_block one = {&item, 1, 1};
    for (uint32_t r = 0; r < l->records; r++) {
        ir_block copy = hdst__ir_copy_block(l->func, &one);
        renaming to = {l, r};
        hdst__ir_visit_stmts(&copy, rename_stmt, &to);
        hdst__ir_push(l->func, out, copy.items[0]);
    }
}

// --- Statements ---

static bool is_uniform(const lanes *l, const ir_stmt *s)
{
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: return !l->func->vars[s->var].varying;
    case IR_IF: return !s->cond->varying;
    case IR_FOR: case IR_LOOP: return !hdst__ir_loop_varies(s);
    case IR_BREAK: case IR_CONTINUE: case IR_RETURN: return true;      // of uniform control
    default: return false;
    }
}

static ir_block jam(const lanes *l, const ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (!is_uniform(l, s)) {
            repeat(l, &out, s);
            continue;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) *nested[n] = jam(l, nested[n]);
        hdst__ir_push(l->func, &out, s);
    }
    return out;
}

static void copy_variables(lanes *l)
{
    ir_func *func = l->func;
    l->var_count = func->var_count;
    l->var = HDST__NEW_ARRAY(func->arena, uint32_t *, l->records);
    for (uint32_t r = 0; r < l->records; r++) {
        l->var[r] = HDST__NEW_ARRAY(func->arena, uint32_t, l->var_count + 1);
        for (uint32_t v = 0; v < l->var_count; v++) {
            l->var[r][v] = v;
            if (r == 0 || !func->vars[v].varying) continue;
            l->var[r][v] = hdst__ir_add_var(func, func->vars[v].name, func->vars[v].kind, func->vars[v].elements);
            func->vars[l->var[r][v]].varying = true;
        }
    }
}

// --- Loads ---

typedef struct loads {
    ir_func *func;
    ir_expr *seen[HDST__GPU_COARSENED_LOADS];
    uint32_t var[HDST__GPU_COARSENED_LOADS];
    size_t count;
    bool too_many;
} loads;

static bool find_load(ir_expr **slot, void *user)
{
    loads *l = user;
    const ir_expr *e = *slot;
    if (e->op != IR_FIELD || (e->a && e->a->op != IR_CONST)) return true;
    for (size_t i = 0; i < l->count; i++)
        if (hdst__ir_expr_equal(l->seen[i], e)) return true;
    l->too_many |= l->count == HDST__GPU_COARSENED_LOADS;
    if (!l->too_many) l->seen[l->count++] = hdst__ir_copy(l->func, e);
    return !l->too_many;
}

static bool use_load(ir_expr **slot, void *user)
{
    const loads *l = user;
    for (size_t i = 0; i < l->count; i++)
        if (hdst__ir_expr_equal(l->seen[i], *slot)) *slot = hdst__ir_var(l->func, l->var[i]);
    return true;
}

static const char *load_name(ir_func *func, const ir_param *param, const ir_expr *field)
{
    const hdst__leaf *leaf = &param->record->leaves[field->leaf];
    const char *name = hdst__arena_printf(func->arena, "%s%s%s", param->name, leaf->path[0] ? "_" : "", leaf->path);
    return leaf->elements > 1 || !name[0] ? hdst__arena_printf(func->arena, "%s%" PRIu64, name, field->a ? field->a->bits : 0) : name;
}

static void load_first(ir_func *func)
{
    loads l = {.func = func};
    hdst__ir_visit_exprs(&func->body, find_load, &l);
    if (l.too_many) return;
    ir_block body = {0};
    for (size_t i = 0; i < l.count; i++) {
        const ir_param *param = &func->params[l.seen[i]->param];
        l.var[i] = hdst__ir_add_var(func, load_name(func, param, l.seen[i]), l.seen[i]->kind, 0);
        func->vars[l.var[i]].varying = true;
        hdst__ir_push(func, &body, hdst__ir_set(func, l.var[i], l.seen[i]));
    }
    hdst__ir_visit_exprs(&func->body, use_load, &l);
    for (size_t i = 0; i < func->body.count; i++) hdst__ir_push(func, &body, func->body.items[i]);
    func->body = body;
}

void hdst__pass_thread_coarsening(ir_func *func, uint32_t records)
{
    lanes l = {.func = func, .records = records};
    hdst__pass_uniformity(func);
    load_first(func);
    copy_variables(&l);
    func->body = jam(&l, &func->body);
    func->lane_records = records;
}
