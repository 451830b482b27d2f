// SPDX-License-Identifier: Apache-2.0
// Statements of the interpreter. A mask says which lanes a statement concerns; whoever leaves (break, continue, return) is taken out of it, and the
// statement that caught him puts him back: the loop its `continue`s before the step, its `break`s at its end.
#include "codegen/ir/eval.h"
#include "codegen/interp/interp_state.h"

#include <string.h>

// --- What a block needs ---

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t expr_slabs(const ir_expr *e)
{
    return e ? hdst__interp_expr_slabs(e) : 0;
}

// Slab INTERP_STMT_SLABS and above are free for what is nested. An accumulate evaluates three expressions side by side.
static size_t own_slabs(const ir_stmt *stmt)
{
    const ir_expr *const exprs[] = {stmt->value, stmt->cond, stmt->index, stmt->index2, stmt->lo, stmt->hi};
    size_t need = 0;
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++) need = larger(need, expr_slabs(exprs[i]));
    return need + 3;
}

static bool readable(const ir_func *func, const ir_stmt *stmt)
{
    if (func->rows && !func->block && (stmt->kind == IR_ACCUM_WORDS || stmt->kind == IR_ACCUM_SUPERACCUMULATOR)) return true;
    return func->block ? stmt->kind != IR_ACCUM : stmt->kind <= IR_CHECK || stmt->kind == IR_REDUCE;
}

size_t hdst__interp_block_slabs(const ir_func *func, const ir_block *block)
{
    size_t need = 0;
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *stmt = block->items[i];
        if (!readable(func, stmt)) return SIZE_MAX;
        const ir_block *const inner[] = {&stmt->head, &stmt->body, &stmt->after, &stmt->then, &stmt->otherwise};
        need = larger(need, own_slabs(stmt) + INTERP_STMT_SLABS);
        for (size_t k = 0; k < sizeof inner / sizeof *inner; k++) {
            const size_t inside = hdst__interp_block_slabs(func, inner[k]);
            if (inside == SIZE_MAX) return SIZE_MAX;
            need = larger(need, INTERP_STMT_SLABS + inside);
        }
    }
    return need;
}

// --- Masks ---

static void recount(const interp_state *s, interp_mask *mask)
{
    uint64_t active = 0;
    for (size_t i = 0; i < s->n; i++) active += mask->bits[i] & 1;
    mask->active = active;
}

static void clear(const interp_state *s, interp_mask *mask)
{
    memset(mask->bits, 0, s->n * sizeof *mask->bits);
    mask->active = 0;
}

static interp_mask copy_mask(interp_state *s, const interp_mask *from)
{
    interp_mask mask = {hdst__interp_slab(s, s->top++), from->active};
    memcpy(mask.bits, from->bits, s->n * sizeof *mask.bits);
    return mask;
}

static interp_mask masked(interp_state *s, const interp_mask *from, const uint64_t *cond, uint64_t wanted)
{
    interp_mask mask = {hdst__interp_slab(s, s->top++), 0};
    for (size_t i = 0; i < s->n; i++) mask.bits[i] = from->bits[i] & (0 - (uint64_t)(cond[i] == wanted));
    recount(s, &mask);
    return mask;
}

static void add_lanes(const interp_state *s, uint64_t *to, const uint64_t *from)
{
    for (size_t i = 0; i < s->n; i++) to[i] |= from[i];
}

static void remove_lanes(const interp_state *s, uint64_t *from, const uint64_t *which)
{
    for (size_t i = 0; i < s->n; i++) from[i] &= ~which[i];
}

// --- Plain statements ---

static void spread_variable(const interp_state *s, interp_var *var)
{
    if (!var->uniform) return;
    const uint64_t one = var->v[0];
    for (size_t i = 0; i < s->n; i++) var->v[i] = one;
    var->uniform = false;
}

static void set_variable(interp_state *s, uint32_t index, lanes value, const interp_mask *mask)
{
    interp_var *var = &s->vars[index];
    if (s->func->block && !s->in_records && !value.uniform) s->wrong = "a varying value is set outside a record loop";
    if (mask->active == s->n) {
        if (value.v != var->v) memmove(var->v, value.v, (value.uniform ? 1 : s->n) * sizeof *var->v);
        var->uniform = value.uniform;
        return;
    }
    const uint64_t one = value.v[0], *v = value.v;
    spread_variable(s, var);
    if (value.uniform)
        for (size_t i = 0; i < s->n; i++) var->v[i] = (var->v[i] & ~mask->bits[i]) | (one & mask->bits[i]);
    else
        for (size_t i = 0; i < s->n; i++) var->v[i] = (var->v[i] & ~mask->bits[i]) | (v[i] & mask->bits[i]);
}

static void fail(interp_state *s, const ir_stmt *stmt, size_t lane)
{
    hdst__interp_run *run = s->run;
    const uint64_t record = run->first + s->block + lane;
    if (record >= run->failed_record) return;       // of one record the first check counts; of several the smallest record
    run->failed_record = record;
    run->failed_check = stmt->check;
    run->failed_index = run->failed_limit = 0;
    if (!stmt->index || !stmt->index2) return;
    const uint64_t index = hdst__interp_eval_lanes(s, stmt->index, s->top + 1)[lane];
    if (stmt->index->kind == HDST__TEXT) hdst__interp_text_quote(index, run->failed_text);
    else run->failed_index = index;
    run->failed_limit = hdst__interp_eval_lanes(s, stmt->index2, s->top + 1)[lane];
}

static void check(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const lanes cond = hdst__interp_eval(s, stmt->cond, s->top);
    if (cond.uniform && cond.v[0]) return;
    for (size_t i = 0; i < s->n; i++) {
        if (!mask->bits[i] || cond.v[cond.uniform ? 0 : i]) continue;
        fail(s, stmt, i);
        return;                 // lanes after it are larger records
    }
}

// Runs the statement in those lanes where its condition holds, if it has one.
static void store(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const size_t top = s->top;
    if (stmt->cond) {
        const interp_mask part = masked(s, mask, hdst__interp_eval_lanes(s, stmt->cond, top + 1), 1);
        hdst__interp_store(s, stmt, &part);
    } else {
        hdst__interp_store(s, stmt, mask);
    }
    s->top = top;
}

// --- Branches and loops ---

static void exec_if(interp_state *s, const ir_stmt *stmt, interp_mask *mask)
{
    const size_t top = s->top;
    const lanes cond = hdst__interp_eval(s, stmt->cond, top + 2);
    if (cond.uniform) {
        hdst__interp_exec(s, cond.v[0] ? &stmt->then : &stmt->otherwise, mask);
        return;
    }
    if (s->func->block && !s->in_records) s->wrong = "a branch outside a record loop varies";
    interp_mask then = masked(s, mask, cond.v, 1), otherwise = masked(s, mask, cond.v, 0);
    hdst__interp_exec(s, &stmt->then, &then);
    hdst__interp_exec(s, &stmt->otherwise, &otherwise);
    if (then.active + otherwise.active != mask->active) {       // some left
        memcpy(mask->bits, then.bits, s->n * sizeof *mask->bits);
        add_lanes(s, mask->bits, otherwise.bits);
        mask->active = then.active + otherwise.active;
    }
    s->top = top;
}

// Removes the lanes whose condition is false from the mask.
static void keep_while(interp_state *s, interp_mask *mask, lanes cond)
{
    if (cond.uniform) {
        if (!cond.v[0]) clear(s, mask);
        return;
    }
    if (s->func->block && !s->in_records) s->wrong = "a loop outside a record loop varies";
    for (size_t i = 0; i < s->n; i++) mask->bits[i] &= 0 - cond.v[i];
    recount(s, mask);
}

// Runs one turn of a loop's body; lanes that met `continue` are in the mask again after it.
static void exec_round(interp_state *s, const ir_block *body, interp_mask *mask, uint64_t *continued)
{
    interp_loop *outer = s->loop, loop = {continued, false};
    s->loop = &loop;
    hdst__interp_exec(s, body, mask);
    s->loop = outer;
    if (!loop.has_continued) return;
    add_lanes(s, mask->bits, continued);
    recount(s, mask);
}

// After a loop all lanes that entered it are in the mask again, except those that returned in it.
static void leave_loop(interp_state *s, interp_mask *entered)
{
    if (!s->has_returned) return;
    remove_lanes(s, entered->bits, s->returned);
    recount(s, entered);
}

static bool has_seen_enough(const interp_state *s)
{
    const hdst__interp_run *run = s->run;
    return (run->most_turns && s->turns >= run->most_turns) || (run->most_emitted && run->emitted >= run->most_emitted);
}

// Looks for a cancel at the end of a turn: a loop may have no other end. And whether more of them are wanted.
static bool ends_early(interp_state *s, interp_mask *inside)
{
    const bool asked = hdst__cancel_asked(s->run->cancel);
    s->turns++;
    if (!asked && !has_seen_enough(s)) return false;
    s->cancelled = s->cancelled || asked;
    clear(s, inside);
    return true;
}

static lanes kept_value(interp_state *s, lanes value, uint64_t *slab)
{
    memmove(slab, value.v, (value.uniform ? 1 : s->n) * sizeof *slab);
    return (lanes){slab, value.uniform};
}

static lanes combined(interp_state *s, ir_op op, hdst__kind kind, const interp_var *var, lanes other, uint64_t *out)
{
    uint64_t *spread = hdst__interp_slab(s, s->top);
    const bool uniform = var->uniform && other.uniform;
    const uint64_t *a = var->v, *b = other.v;
    if (!uniform && (var->uniform || other.uniform)) {
        const uint64_t one = var->uniform ? a[0] : b[0];
        for (size_t i = 0; i < s->n; i++) spread[i] = one;
        if (var->uniform) a = spread;
        else b = spread;
    }
    hdst__eval_binary_n(op, kind, a, b, out, uniform ? 1 : s->n);
    return (lanes){out, uniform};
}

static void exec_for(interp_state *s, const ir_stmt *stmt, interp_mask *mask)
{
    const size_t top = s->top;
    const hdst__kind kind = s->func->vars[stmt->var].kind;
    const interp_var *var = &s->vars[stmt->var];
    const uint64_t step = stmt->step;
    interp_mask inside = copy_mask(s, mask);
    uint64_t *continued = hdst__interp_slab(s, s->top++), *limit = hdst__interp_slab(s, s->top++), *scratch = hdst__interp_slab(s, s->top++);
    const lanes hi = kept_value(s, hdst__interp_eval(s, stmt->hi, s->top), limit);
    set_variable(s, stmt->var, hdst__interp_eval(s, stmt->lo, s->top), mask);
    for (uint64_t turn = 1;; turn++) {
        keep_while(s, &inside, combined(s, IR_LT, kind, var, hi, scratch));
        if (inside.active == 0) break;
        if (s->run->trace) hdst__interp_trace_turn(s, stmt, turn);
        exec_round(s, &stmt->body, &inside, continued);
        if (inside.active == 0 || ends_early(s, &inside)) break;
        set_variable(s, stmt->var, combined(s, IR_ADD, kind, var, (lanes){&step, true}, scratch), &inside);
    }
    s->top = top;
    leave_loop(s, mask);
}

static void exec_loop(interp_state *s, const ir_stmt *stmt, interp_mask *mask)
{
    const size_t top = s->top;
    interp_mask inside = copy_mask(s, mask);
    uint64_t *continued = hdst__interp_slab(s, s->top++);
    for (uint64_t turn = 1; inside.active; turn++) {
        if (s->run->trace) hdst__interp_trace_turn(s, stmt, turn);
        exec_round(s, &stmt->head, &inside, continued);
        s->mask = &inside;
        if (stmt->cond) keep_while(s, &inside, hdst__interp_eval(s, stmt->cond, s->top));
        if (inside.active) exec_round(s, &stmt->body, &inside, continued);
        if (inside.active) exec_round(s, &stmt->after, &inside, continued);
        if (inside.active) ends_early(s, &inside);
    }
    s->top = top;
    leave_loop(s, mask);
}

// --- Leaving ---

static void exec_continue(interp_state *s, interp_mask *mask)
{
    if (s->loop->has_continued) add_lanes(s, s->loop->continued, mask->bits);
    else memcpy(s->loop->continued, mask->bits, s->n * sizeof *mask->bits);
    s->loop->has_continued = true;
    clear(s, mask);
}

static void exec_return(interp_state *s, interp_mask *mask)
{
    add_lanes(s, s->returned, mask->bits);
    s->has_returned = true;
    clear(s, mask);
}

static void exec_stmt(interp_state *s, const ir_stmt *stmt, interp_mask *mask)
{
    switch (stmt->kind) {
    case IR_SET: set_variable(s, stmt->var, hdst__interp_eval(s, stmt->value, s->top), mask); break;
    case IR_SET_ELEM: hdst__interp_set_element(s, stmt, mask); break;
    case IR_IF: exec_if(s, stmt, mask); break;
    case IR_FOR: exec_for(s, stmt, mask); break;
    case IR_LOOP: exec_loop(s, stmt, mask); break;
    case IR_BREAK: clear(s, mask); break;
    case IR_CONTINUE: exec_continue(s, mask); break;
    case IR_RETURN: exec_return(s, mask); break;
    case IR_ACCUM: hdst__interp_accumulate(s, stmt, mask); break;
    case IR_STORE: store(s, stmt, mask); break;
    case IR_EMIT: hdst__interp_emit(s, stmt, mask); break;
    case IR_PREFETCH: break;
    case IR_CHECK: check(s, stmt, mask); break;
    default: hdst__interp_block_stmt(s, stmt, mask); break;
    }
}

void hdst__interp_exec(interp_state *s, const ir_block *block, interp_mask *mask)
{
    for (size_t i = 0; i < block->count && mask->active; i++) {
        if (s->run->trace) hdst__interp_trace_before(s, block->items[i]);
        s->mask = mask;
        exec_stmt(s, block->items[i], mask);
        if (s->run->trace) hdst__interp_trace_after(s, block->items[i]);
        hdst__interp_texts_move(s);
    }
}
