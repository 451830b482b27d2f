// SPDX-License-Identifier: Apache-2.0
// Short loops with constant bounds disappear: one copy of the body for each turn, with the number in place of the
// variable. Loops over the two coordinates of a point leave no trace; indices become constants that need no check.
// What a turn sets for itself is a variable of its own in each copy, so that what one copy computes need not be done
// before the next one begins.
//
// Before:  for i = 0u to 2u {        After:  e = mul(p.x[0u], 2f)
//            e = mul(p.x[i], 2f)             d = add(d, e)
//            d = add(d, e)                   e_2 = mul(p.x[1u], 2f)
//          }                                 d = add(d, e_2)
//
// Longer ones go too (hdst__pass_loop_unrolling_of_arrays) when their counters are all that keeps local arrays from becoming variables (scalar_replacement.c),
// or (hdst__pass_loop_unrolling_of_sums) when they add to sums that are to be told apart (owned_sums.c).
#include "codegen/ir/eval.h"
#include "codegen/pass/passes.h"
#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include <stdlib.h>

enum { TOO_LONG = HDST__HOST_ARRAY_NODES + 1 };

// Statements are numbered in their order, from 1: the first and the last that names a variable (0: none does); a loop and the last in it.
typedef struct place {
    size_t first, last;
} place;

typedef struct unroller {
    ir_func *func;
    const place *named;         // by variable, before the pass
    size_t var_count;           // of those
    size_t at;                  // the statement that the pass has come to, by its number before it
    const bool *constant;       // by variable: an array that would have only constant indices; a counter that unrolling makes one. NULL: that does not count
    const bool *sums;           // by parameter: loops that add to it go whatever their length, and no others. NULL: loops go by their length
    uint32_t *number;           // by variable: itself, but while a copy gets its own. One for all copies: not as much as there are variables for each
    size_t numbered;
} unroller;

static bool add_size(ir_expr **expr, void *user)
{
    (void)expr;
    ++*(size_t *)user;
    return true;
}

static size_t block_size(ir_block *block)
{
    size_t size = 0;
    hdst__ir_visit_exprs(block, add_size, &size);
    return size + block->count;
}

// How many turns; 0: not known, or too many
static uint64_t count_turns(const ir_stmt *s, uint64_t most)
{
    if (s->kind != IR_FOR || s->lo->op != IR_CONST || s->hi->op != IR_CONST) return 0;
    if (hdst__eval_binary(IR_GE, s->lo->kind, s->lo->bits, s->hi->bits)) return 0;
    uint64_t distance = s->hi->bits - s->lo->bits, count = distance / s->step + (distance % s->step != 0);
    return count > most || hdst__ir_loop_exits(s) ? 0 : count;
}

// --- Arrays that only constants and counters of such loops index ---

typedef struct indices {
    const ir_func *func;
    bool *constant;             // by variable
} indices;

static size_t size_without_loops(const ir_block *block);

// Of all copies; TOO_LONG: it stays a loop, or a loop in it does.
static size_t size_unrolled(const ir_stmt *s)
{
    const size_t count = count_turns(s, HDST__HOST_ARRAY_TURNS), size = count ? count * size_without_loops(&s->body) : TOO_LONG;
    return size < TOO_LONG ? size : TOO_LONG;
}

static size_t size_without_loops(const ir_block *block)
{
    size_t size = 0;
    for (size_t i = 0; i < block->count && size < TOO_LONG; i++) {
        ir_stmt *s = block->items[i];
        ir_block one = {&s, 1, 1};
        if (s->kind == IR_IF) size += hdst__ir_expr_size(s->cond) + size_without_loops(&s->then) + size_without_loops(&s->otherwise) + 1;
        else size += s->kind == IR_FOR || s->kind == IR_LOOP ? size_unrolled(s) : block_size(&one);
    }
    return size < TOO_LONG ? size : TOO_LONG;
}

static bool note_counter(ir_stmt *s, void *user)
{
    if (s->kind == IR_FOR && size_unrolled(s) < TOO_LONG) ((indices *)user)->constant[s->var] = true;
    return true;
}

static bool becomes_constant(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    if (e->op == IR_VAR) return ((indices *)user)->constant[e->var];
    return e->op != IR_ELEM && e->op != IR_FIELD && e->op != IR_BROADCAST && e->op != IR_LENGTH && e->op != IR_RECORD_INDEX;
}

static void note_index(indices *w, uint32_t array, ir_expr *index)
{
    if (!hdst__ir_visit_expr(&index, becomes_constant, w)) w->constant[array] = false;
}

static bool note_element(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_ELEM) note_index(user, (*slot)->var, (*slot)->a);
    return true;
}

static bool note_stmt(ir_stmt *s, void *user)
{
    if (s->kind == IR_SET_ELEM) note_index(user, s->var, s->index);
    return hdst__ir_visit_own_exprs(s, note_element, user);
}

static const bool *find_constant(ir_func *func)
{
    indices w = {func, HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1)};
    hdst__ir_visit_stmts(&func->body, note_counter, &w);
    for (size_t v = 0; v < func->var_count; v++)
        if (func->vars[v].elements) w.constant[v] = func->vars[v].elements <= HDST__HOST_ARRAY_TURNS && !func->vars[v].init;
    hdst__ir_visit_stmts(&func->body, note_stmt, &w);
    return w.constant;
}

typedef struct use {
    const unroller *unroller;
    uint32_t counter;
} use;

static bool not_by_counter(ir_expr **slot, void *user)
{
    const use *u = user;
    return (*slot)->op != IR_ELEM || (*slot)->var >= u->unroller->var_count ||
        !u->unroller->constant[(*slot)->var] || !hdst__ir_expr_reads((*slot)->a, u->counter);
}

static bool not_by_counter_in(ir_stmt *s, void *user)
{
    const use *u = user;
    if (s->kind == IR_SET_ELEM && s->var < u->unroller->var_count && u->unroller->constant[s->var] && hdst__ir_expr_reads(s->index, u->counter)) return false;
    return hdst__ir_visit_own_exprs(s, not_by_counter, user);
}

static bool adds_to_none(ir_stmt *s, void *user) { return s->kind != IR_ACCUM || !((const bool *)user)[s->param]; }

static uint64_t turns_of_sums(const unroller *w, ir_stmt *s)
{
    const uint64_t count = count_turns(s, HDST__GPU_OWNED_SUMS);
    return count && count * block_size(&s->body) <= HDST__GPU_OWNED_NODES && !hdst__ir_visit_stmts(&s->body, adds_to_none, (void *)w->sums) ? count : 0;
}

static uint64_t turns(const unroller *w, ir_stmt *s)
{
    if (w->sums) return turns_of_sums(w, s);
    const uint64_t count = count_turns(s, HDST__HOST_ARRAY_TURNS);
    if (!count) return 0;
    const uint64_t nodes = count * block_size(&s->body);
    if (count <= HDST__HOST_UNROLLED_TURNS && nodes <= HDST__HOST_UNROLLED_NODES) return count;
    use u = {w, s->var};
    return w->constant && s->var < w->var_count && w->constant[s->var] && nodes <= HDST__HOST_ARRAY_NODES &&
        !hdst__ir_visit_stmts(&s->body, not_by_counter_in, &u) ? count : 0;
}

// --- Copies ---

// Copies of one loop get counters of their own: one copy may come to stand where records part, another not.
static void own_counters(ir_func *func, const ir_block *copy, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) own_counters(func, copy, nested[n]);
        if (s->kind != IR_FOR || hdst__ir_block_reads(copy, s->var) != hdst__ir_block_reads(&s->body, s->var)) continue;
        const uint32_t counter = hdst__ir_add_var(func, func->vars[s->var].name, func->vars[s->var].kind, 0);
        hdst__ir_substitute(func, &s->body, s->var, hdst__ir_var(func, counter));
        s->var = counter;
    }
}

typedef struct var_list {
    hdst__arena *arena;
    uint32_t *items;
    size_t count, capacity;
} var_list;

static void list_var(var_list *l, uint32_t var) { HDST__PUSH(l->arena, l->items, l->count, l->capacity, var); }

static bool list_read(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) list_var(user, (*slot)->var);
    return true;
}

static bool list_stmt(ir_stmt *s, void *user)
{
    if (hdst__ir_writes(s, s->var)) list_var(user, s->var);
    return hdst__ir_visit_own_exprs(s, list_read, user);
}

static int compare_vars(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// What a turn sets for itself, and nothing else knows.
static bool is_own(const unroller *w, const ir_block *body, const place *loop, uint32_t var)
{
    if (w->func->vars[var].elements) return false;
    const place *named = var < w->var_count ? &w->named[var] : NULL;
    const bool inside = !named || !named->first || (named->first > loop->first && named->last <= loop->last);
    return inside && hdst__ir_first_meeting(body, var) != IR_MAY_READ;
}

// In order of their numbers.
static var_list find_own(const unroller *w, ir_block *body, const place *loop)
{
    var_list all = {.arena = w->func->arena}, own = {.arena = w->func->arena};
    hdst__ir_visit_stmts(body, list_stmt, &all);
    if (all.count) qsort(all.items, all.count, sizeof *all.items, compare_vars);
    for (size_t i = 0; i < all.count; i++)
        if ((!i || all.items[i] != all.items[i - 1]) && is_own(w, body, loop, all.items[i])) list_var(&own, all.items[i]);
    return own;
}

static void number_all(unroller *w)
{
    const size_t known = w->numbered;
    w->number = hdst__arena_grow(w->func->arena, w->number, &w->numbered, w->func->var_count + 1, sizeof *w->number);
    for (size_t v = known; v < w->numbered; v++) w->number[v] = (uint32_t)v;
}

static void own_variables(unroller *w, const var_list *own, ir_block *copy)
{
    number_all(w);
    for (size_t i = 0; i < own->count; i++) {
        const ir_var var = w->func->vars[own->items[i]];
        const uint32_t number = hdst__ir_add_var(w->func, var.name, var.kind, 0);
        w->func->vars[number].varying = var.varying;
        w->number[own->items[i]] = number;
    }
    hdst__ir_rename(w->func, copy, w->number);
    for (size_t i = 0; i < own->count; i++) w->number[own->items[i]] = own->items[i];
}

static void push_turns(unroller *w, ir_block *out, ir_stmt *s, uint64_t count, const place *loop)
{
    const var_list own = find_own(w, &s->body, loop);
    for (uint64_t turn = 0; turn < count; turn++) {
        ir_block copy = hdst__ir_copy_block(w->func, &s->body);
        hdst__ir_substitute(w->func, &copy, s->var, hdst__ir_const(w->func, s->lo->kind, s->lo->bits + turn * s->step));
        if (turn) own_variables(w, &own, &copy);
        if (turn) own_counters(w->func, &copy, &copy);
        for (size_t k = 0; k < copy.count; k++) hdst__ir_push(w->func, out, copy.items[k]);
    }
}

static void unroll_block(unroller *w, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        place loop = {++w->at, 0};
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) unroll_block(w, nested[n]);
        loop.last = w->at;
        const uint64_t count = turns(w, s);
        if (count) push_turns(w, &out, s, count, &loop);
        else hdst__ir_push(w->func, &out, s);
    }
    *block = out;
}

// --- Where variables are named ---

typedef struct naming {
    place *named;
    size_t at;
} naming;

static void name_var(const naming *n, uint32_t var)
{
    if (!n->named[var].first) n->named[var].first = n->at;
    n->named[var].last = n->at;
}

static bool name_read(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) name_var(user, (*slot)->var);
    return true;
}

static bool name_stmt(ir_stmt *s, void *user)
{
    naming *n = user;
    n->at++;
    if (hdst__ir_writes(s, s->var)) name_var(n, s->var);
    return hdst__ir_visit_own_exprs(s, name_read, n);
}

static void unroll(ir_func *func, const bool *constant, const bool *sums)
{
    naming n = {HDST__NEW_ARRAY(func->arena, place, func->var_count + 1), 0};
    hdst__ir_visit_stmts(&func->body, name_stmt, &n);
    unroller w = {.func = func, .named = n.named, .var_count = func->var_count, .constant = constant, .sums = sums};
    unroll_block(&w, &func->body);
}

void hdst__pass_loop_unrolling(ir_func *func) { unroll(func, NULL, NULL); }

void hdst__pass_loop_unrolling_of_arrays(ir_func *func) { unroll(func, find_constant(func), NULL); }

void hdst__pass_loop_unrolling_of_sums(ir_func *func, const bool *sums) { unroll(func, NULL, sums); }
