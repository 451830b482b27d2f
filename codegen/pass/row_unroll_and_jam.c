// SPDX-License-Identifier: Apache-2.0
// In row form, a loop around loops over elements takes four turns at a time (then two, then one), with its loops over elements merged: what
// they read of the record is read once for all four, and four chains of additions run side by side where one would wait for itself.
//
// Before: for j = 0 to rows {                                    After: for j = 0 to end step 4 {
//           for first ... { lanes[l] = fma(x[i], c[j].x[i], lanes[l]) }    for first ... { lanes[l] = fma(x[i],
//           c[j].x[i], lanes[l]); lanes_2[l] = fma(x[i], c[j + 1].x[i], lanes_2[l]) ... }
//           d = add(lanes[0], ...)                                         d = add(lanes[0], ...)
//           best = ...                                                     best = ...
//         }                                                                d_2 = ... (and so on) }
//                                                                       (then two turns at a time, then one)
// The loops over elements, and what stands before the last of them, must not depend on what a turn leaves for the next one, and have the same bounds in each.
#include "codegen/pass/row_form.h"
#include "base/costs_cpu.h"

// --- Which loops ---

typedef struct jammer {
    ir_func *func;
    ir_stmt *loop;
    size_t merged;              // statements of its body up to the last loop over elements
    bool *own;                  // by variable: each turn sets it before it reads it, and nobody else knows it
    size_t own_count;           // variables that there were then; copies add more
} jammer;

static bool is_straight(const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (s->kind != IR_SET && s->kind != IR_SET_ELEM && !(s->kind == IR_FOR && is_straight(&s->body))) return false;
    }
    return true;
}

// The array's first mention in the block sets all of it.
static bool is_filled_first(const ir_func *func, const ir_block *block, uint32_t array)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (!hdst__ir_stmt_reads(s, array) && !hdst__ir_stmt_writes(s, array)) continue;
        if (s->kind != IR_FOR || s->step != 1 || hdst__ir_stmt_reads(s, array)) return false;
        const ir_stmt *set = s->body.items[s->body.count - 1];
        return set->var == array && hdst__ir_is_const(s->lo, 0) &&
            hdst__ir_is_const(s->hi, func->vars[array].elements) && set->kind == IR_SET_ELEM &&
            set->index->op == IR_VAR &&
               set->index->var == s->var;
    }
    return false;
}

// Each turn that comes to the variable sets it before it reads it.
static bool is_set_first(const ir_block *block, uint32_t var)
{
    const ir_stmt *first = NULL;
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (!hdst__ir_stmt_reads(s, var) && !hdst__ir_stmt_writes(s, var)) continue;
        if (s->kind == IR_SET && !first) return !hdst__ir_stmt_reads(s, var);
        if (s->kind != IR_FOR || s->var == var || first) return false;
        first = s;
    }
    return first && is_set_first(&first->body, var);
}

static bool is_own(const ir_func *func, const ir_stmt *loop, uint32_t var)
{
    if (var == loop->var || func->vars[var].init || func->vars[var].per_record || !hdst__row_is_local(func, loop, var)) return false;
    return func->vars[var].elements ? is_filled_first(func, &loop->body, var) : is_set_first(&loop->body, var);
}

// Whether the variable counts loops only; copies may share it.
static bool counts(const ir_block *block, uint32_t var)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->items[i]->kind == IR_FOR && (block->items[i]->var == var || counts(&block->items[i]->body, var))) return true;
    return false;
}

static bool depends(const jammer *j)        // the merged part on what a turn leaves for the next
{
    const ir_block merged = {j->loop->body.items, j->merged, j->merged};
    for (uint32_t v = 0; v < j->func->var_count; v++) {
        if (v == j->loop->var || j->own[v] || !hdst__ir_block_writes(&j->loop->body, v)) continue;
        if (counts(&j->loop->body, v) && hdst__row_is_local(j->func, j->loop, v)) continue;
        if (hdst__ir_block_reads(&merged, v) || hdst__ir_block_writes(&merged, v)) return true;
    }
    return false;
}

static bool is_alike(ir_expr **slot, void *user)
{
    const jammer *j = user;
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || (e->var != j->loop->var && !j->own[e->var]);
}

// Whether the loops of the merged part, which are one for all turns, have the same bounds in each.
static bool has_bounds_alike(jammer *j, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind != IR_FOR) continue;
        if (!hdst__ir_visit_expr(&s->lo, is_alike, j) || !hdst__ir_visit_expr(&s->hi, is_alike, j) || !has_bounds_alike(j, &s->body)) return false;
    }
    return true;
}

static bool add_size(ir_expr **expr, void *user)
{
    (void)expr;
    ++*(size_t *)user;
    return true;
}

static bool is_jammable(jammer *j)
{
    ir_block *body = &j->loop->body;
    if (j->loop->unroll > 1 || hdst__ir_loop_exits(j->loop) || !hdst__jam_fits(j->loop, HDST__CPU_ROW_JAMMED_TURNS)) return false;
    j->merged = 0;
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == IR_FOR) j->merged = i + 1;
    size_t nodes = 0;
    hdst__ir_visit_exprs(body, add_size, &nodes);
    if (!j->merged || nodes > HDST__CPU_ROW_JAMMED_NODES || !is_straight(&(ir_block){body->items, j->merged, j->merged})) return false;
    j->own = HDST__NEW_ARRAY(j->func->arena, bool, j->func->var_count + 1);
    j->own_count = j->func->var_count;
    for (uint32_t v = 0; v < j->own_count; v++) j->own[v] = hdst__ir_block_writes(body, v) && is_own(j->func, j->loop, v);
    return !depends(j) && has_bounds_alike(j, body);
}

// --- Copies of the body ---

typedef struct renaming {
    uint32_t from, to;
} renaming;

static bool rename_expr(ir_expr **slot, void *user)
{
    const renaming *r = user;
    if (((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && (*slot)->var == r->from) (*slot)->var = r->to;
    return true;
}

static bool rename_stmt(ir_stmt *s, void *user)
{
    const renaming *r = user;
    if (hdst__ir_writes(s, r->from)) s->var = r->to;
    return hdst__ir_visit_own_exprs(s, rename_expr, user);
}

static ir_block copy_of_turn(const jammer *j, uint64_t turn)
{
    ir_func *func = j->func;
    ir_block copy = hdst__ir_copy_block(func, &j->loop->body);
    const hdst__kind kind = j->loop->lo->kind;
    ir_expr *ahead = hdst__ir_const(func, kind, turn * j->loop->step);
    if (turn) hdst__ir_substitute(func, &copy, j->loop->var, hdst__ir_binary(func, IR_ADD, kind, hdst__ir_var(func, j->loop->var), ahead));
    for (uint32_t v = 0; v < j->own_count; v++) {
        if (!j->own[v]) continue;
        renaming r = {v, hdst__ir_add_var(func, func->vars[v].name, func->vars[v].kind, func->vars[v].elements)};
        func->vars[r.to].varying = func->vars[v].varying;
        hdst__ir_visit_stmts(&copy, rename_stmt, &r);
    }
    return copy;
}

// Statement by statement of all copies; loops become one.
static void merge(ir_func *func, ir_block *out, ir_block *const *turn, size_t turns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ir_stmt *first = turn[0]->items[i];
        if (first->kind != IR_FOR) {
            for (size_t t = 0; t < turns; t++) hdst__ir_push(func, out, turn[t]->items[i]);
            continue;
        }
        ir_block *body[HDST__CPU_ROW_JAMMED_TURNS] = {NULL}, all = {0};
        for (size_t t = 0; t < turns; t++) body[t] = &turn[t]->items[i]->body;
        merge(func, &all, body, turns, body[0]->count);
        first->body = all;
        hdst__ir_push(func, out, first);
    }
}

// A loop of so many turns at a time up to `end`; the loop itself goes on from there.
static void push_groups(jammer *j, ir_block *out, size_t turns)
{
    ir_func *func = j->func;
    ir_stmt *loop = j->loop;
    const uint32_t end = hdst__block_new_var(func, "end", loop->lo->kind, false);
    hdst__ir_push(func, out, hdst__ir_set(func, end, hdst__jam_end(func, loop, turns)));
    ir_stmt *groups = hdst__ir_for(func, loop->var, loop->lo, hdst__ir_var(func, end), turns * loop->step);
    groups->span = loop->span;
    groups->unroll = (uint32_t)turns;
    ir_block copy[HDST__CPU_ROW_JAMMED_TURNS], *turn[HDST__CPU_ROW_JAMMED_TURNS] = {NULL};
    for (size_t t = 0; t < turns; t++) {
        copy[t] = copy_of_turn(j, t);
        turn[t] = &copy[t];
    }
    merge(func, &groups->body, turn, turns, j->merged);
    for (size_t t = 0; t < turns; t++)
        for (size_t i = j->merged; i < copy[t].count; i++) hdst__ir_push(func, &groups->body, copy[t].items[i]);
    hdst__ir_push(func, out, groups);
    loop->lo = hdst__ir_var(func, end);
}

static void rewrite(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = s->tile ? 0 : hdst__ir_nested(s, nested); n < count; n++) rewrite(func, nested[n]);
        jammer j = {.func = func, .loop = s};
        if (s->kind == IR_FOR && !s->tile && s->step < HDST__LANES && is_jammable(&j)) {
            push_groups(&j, &out, HDST__CPU_ROW_JAMMED_TURNS);
            push_groups(&j, &out, HDST__CPU_ROW_JAMMED_TURNS / 2);
        }
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_row_unroll_and_jam(ir_func *func) { rewrite(func, &func->body); }
