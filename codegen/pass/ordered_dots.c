// SPDX-License-Identifier: Apache-2.0
// GPU form: sums over a record's row that are written as loops: which can be made ahead of the rest for a tile, and how they stand there alone.
#include "codegen/pass/ordered_dots.h"

#include "codegen/pass/affine_index.h"
#include "codegen/pass/row_form.h"

// --- What it reads ---

typedef struct reads {
    const ir_stmt *loop;
    uint32_t counter;           // of the loop around
    const ir_expr *own, *other;
    bool wrong;
} reads;

static bool is_of_counters(ir_expr **slot, void *user)
{
    const reads *r = user;
    const ir_expr *e = *slot;
    if (e->op == IR_VAR) return e->var == r->counter || e->var == r->loop->var;
    return e->op != IR_FIELD && e->op != IR_BROADCAST && e->op != IR_ELEM && e->op != IR_RECORD_INDEX;
}

// One element for each turn, the same wherever it is read, and found by the counters alone: else it would be another one for each sum.
static void note(reads *r, const ir_expr **place, const ir_expr *e)
{
    ir_expr *row = e->a, *element = e->b;
    if (!*place) *place = e;
    r->wrong |= e->kind != HDST__F32 || !hdst__ir_expr_equal(*place, e);
    r->wrong |= (row && !hdst__ir_visit_expr(&row, is_of_counters, r)) || (element && !hdst__ir_visit_expr(&element, is_of_counters, r));
}

static bool see_read(ir_expr **slot, void *user)
{
    reads *r = user;
    const ir_expr *e = *slot;
    const bool by_turn = hdst__ir_expr_reads(e, r->loop->var) > 0;
    if (e->op == IR_FIELD) r->wrong |= !by_turn || hdst__ir_expr_reads(e, r->counter) > 0;       // one value of the record at each step
    if (e->op == IR_FIELD && by_turn) note(r, &r->own, e);
    if (e->op == IR_BROADCAST && by_turn) note(r, &r->other, e);
    if (e->op == IR_VAR) r->wrong |= e->var != r->counter && e->var != r->loop->var && !hdst__ir_block_writes(&r->loop->body, e->var);
    r->wrong |= e->op == IR_ELEM || e->op == IR_RECORD_INDEX || e->kind == HDST__TEXT || e->op == IR_FITS || e->op == IR_FIXED;
    return !r->wrong;
}

// --- Its shape ---

static bool reads_var(const ir_stmt *s, uint32_t var) { return hdst__ir_stmt_reads(s, var) > 0; }

// Plain assignments, each of which sets what it needs itself; the last one alone has to do with the sum.
static bool is_body(const ir_func *func, const ir_stmt *loop, uint32_t sum)
{
    const ir_block *body = &loop->body;
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const bool last = i + 1 == body->count;
        if (s->kind != IR_SET || func->vars[s->var].elements || (s->var == sum) != last) return false;
        if (last ? !reads_var(s, sum) : reads_var(s, sum) || !hdst__row_is_local(func, loop, s->var) || hdst__block_reads_first(body, s->var)) return false;
    }
    return body->count > 0;
}

static bool is_loop(const ir_func *func, const ir_stmt *loop)
{
    if (loop->kind != IR_FOR || loop->tile || !hdst__is_plain_loop(loop) || !hdst__row_is_local(func, loop, loop->var)) return false;
    return loop->hi->op == IR_CONST && loop->hi->bits >= HDST__ROW_ELEMENTS && loop->hi->bits <= INT32_MAX && hdst__scalar_size(loop->hi->kind) >= 4;
}

bool hdst__is_ordered_dot(const ir_func *func, const ir_block *block, size_t at, uint32_t counter, hdst__ordered_dot *dot)
{
    if (at + 1 >= block->count) return false;
    ir_stmt *start = block->items[at], *loop = block->items[at + 1];
    if (start->kind != IR_SET || func->vars[start->var].elements || func->vars[start->var].kind != HDST__F32) return false;
    if (!is_loop(func, loop) || !is_body(func, loop, start->var)) return false;
    reads r = {.loop = loop, .counter = counter};
    ir_block body = loop->body;
    hdst__ir_visit_exprs(&body, see_read, &r);
    hdst__ir_visit_own_exprs(start, see_read, &r);
    if (r.wrong || !r.own || !r.other || hdst__ir_expr_reads(start->value, start->var)) return false;
    *dot = (hdst__ordered_dot){.start = start, .loop = loop, .own = r.own, .other = r.other};
    return true;
}

// --- Alone ---

typedef struct replacement {
    ir_func *func;
    const ir_expr *of[2];
    uint32_t by[2];
} replacement;

static bool replace(ir_expr **slot, void *user)
{
    const replacement *r = user;
    for (int i = 0; i < 2; i++)
        if (hdst__ir_expr_equal(*slot, r->of[i])) *slot = hdst__ir_var(r->func, r->by[i]);
    return true;
}

uint32_t hdst__ordered_dot_alone(ir_func *func, const hdst__ordered_dot *dot, ir_block *out)
{
    const uint32_t sum = hdst__ir_add_var(func, "sum", HDST__F32, 0);
    ir_stmt *start = hdst__ir_set(func, sum, dot->start->value), *loop = dot->loop;
    replacement r = {.func = func, .of = {hdst__ir_copy(func, dot->own), hdst__ir_copy(func, dot->other)}};
    r.by[0] = hdst__ir_add_var(func, "own", HDST__F32, 0);
    r.by[1] = hdst__ir_add_var(func, "other", HDST__F32, 0);
    func->vars[sum].varying = func->vars[r.by[0]].varying = true;
    hdst__ir_visit_exprs(&loop->body, replace, &r);
    ir_block body = {0};
    for (int i = 0; i < 2; i++) {
        ir_stmt *read = hdst__ir_set(func, r.by[i], (ir_expr *)r.of[i]);
        read->span = loop->body.items[loop->body.count - 1]->span;
        hdst__ir_push(func, &body, read);
    }
    for (size_t i = 0; i < loop->body.count; i++) hdst__ir_push(func, &body, loop->body.items[i]);
    hdst__ir_substitute(func, &body, dot->start->var, hdst__ir_var(func, sum));
    body.items[body.count - 1]->var = sum;
    loop->body = body;
    start->span = dot->start->span;
    hdst__ir_push(func, out, start);
    hdst__ir_push(func, out, loop);
    return sum;
}
