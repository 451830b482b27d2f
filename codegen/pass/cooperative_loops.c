// SPDX-License-Identifier: Apache-2.0
// GPU form: loops that add to the elements of a wide accumulator, one after another, are taken out of the body. The
// work-group makes them together when its lanes have ended their records: each lane takes elements of its own, and
// goes through all records of the group. So the additions of a lane meet nobody else's, and neighbours add to
// neighbours. What such a loop needs of a record (which row, a factor) is carried over.
//
// Before: best = ...; for i = 0 to 784 { accum t[best].x[i] += p.x[i] }; accum t[best].n += 1
// After:  best = ...; accum t[best].n += 1                                    the lane's record
//         for i = 0 to 784 { accum t[best].x[i] += p.x[i] }                   the group's, i over the lanes
//
// A loop is taken if its additions, in whatever order, are the same (they are exact), and if no two turns of it meet
// in a cell. Of a nest of loops the one with the most turns goes outside.
#include "codegen/pass/affine_index.h"
#include "codegen/pass/row_form.h"
#include "codegen/pass/passes.h"
#include "base/costs_gpu.h"

typedef struct nest {
    ir_stmt *loop[HDST__NEST_DEPTH];    // outermost first
    size_t depth;
} nest;

// --- Which loops ---

typedef struct spreader {
    ir_func *func;
    const bool *wide;           // by param: accumulators of which the work-group has a table in device memory
    size_t *outside;            // by variable: how often it is named; while a loop is looked at, outside of that
    uint64_t least_turns;       // of a loop that is taken
    size_t *last_write;         // by variable: the body's last item that writes it (0 as well where none does: nothing is before that one)
} spreader;

// Whether only the loop that is looked at names it.
static bool is_local(const spreader *sp, uint32_t var) { return sp->outside[var] == 0; }

static bool reads_variables(ir_expr **e, void *user)
{
    *(bool *)user |= (*e)->op == IR_VAR || (*e)->op == IR_ELEM;
    return true;
}

// Turns 0, 1, 2 ... as many as all records have.
static bool is_even(ir_stmt *s)
{
    bool variables = false;
    if (!hdst__is_plain_loop(s) || s->hi->varying) return false;
    hdst__ir_visit_expr(&s->hi, reads_variables, &variables);
    return !variables;
}

static bool not_set_in(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || !hdst__ir_stmt_writes(user, e->var);
}

// Whether each turn of the loop behind may make the assignments anew: it changes neither what they set nor what they read.
static bool may_go_inside(const ir_block *body, size_t sets, ir_stmt *inner)
{
    for (size_t i = 0; i < sets; i++) {
        ir_stmt *s = body->items[i];
        if (hdst__ir_stmt_writes(inner, s->var) || !hdst__ir_visit_expr(&s->value, not_set_in, inner)) return false;
    }
    return true;
}

// The nest down to a body of assignments and additions. What is assigned between two loops goes into the inner one.
static bool find_nest(ir_func *func, ir_stmt *s, nest *n)
{
    for (n->depth = 0; n->depth < HDST__NEST_DEPTH;) {
        if (!is_even(s)) return false;
        n->loop[n->depth++] = s;
        ir_block *body = &s->body;
        size_t sets = 0;
        while (sets < body->count && body->items[sets]->kind == IR_SET) sets++;
        if (sets == body->count) return false;
        ir_stmt *inner = body->items[sets];
        if (inner->kind != IR_FOR) return true;
        if (sets + 1 < body->count || !may_go_inside(body, sets, inner)) return false;
        ir_block all = {0};
        for (size_t i = 0; i < sets; i++) hdst__ir_push(func, &all, body->items[i]);
        for (size_t i = 0; i < inner->body.count; i++) hdst__ir_push(func, &all, inner->body.items[i]);
        inner->body = all;
        *body = (ir_block){0};
        hdst__ir_push(func, body, inner);
        s = inner;
    }
    return false;
}

static uint64_t turns_of(const ir_stmt *s) { return s->hi->op == IR_CONST ? s->hi->bits : 0; }

static hdst__nest counted(const nest *n)
{
    hdst__nest c = {.depth = n->depth};
    for (size_t k = 0; k < n->depth; k++) {
        c.loop[k] = n->loop[k];
        c.turns[k] = turns_of(n->loop[k]);
    }
    return c;
}

// Variables that hold an index give way to what they were set to.
static void put_indices_in_place(const spreader *sp, const nest *n)
{
    ir_func *func = sp->func;
    const hdst__nest c = counted(n);
    ir_block *body = &n->loop[n->depth - 1]->body, out = {0};
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const bool index = s->kind == IR_SET && hdst__linear_of(&c, s->value, NULL).known && hdst__ir_block_writes(body, s->var) == 1 && is_local(sp, s->var);
        if (index) hdst__ir_substitute(func, body, s->var, s->value);
        else hdst__ir_push(func, &out, body->items[i]);
    }
    *body = out;
}

static bool tells_turns_apart(const nest *n, const ir_expr *index)
{
    const hdst__nest c = counted(n);
    const hdst__linear l = index ? hdst__linear_of(&c, index, NULL) : (hdst__linear){0};
    return hdst__linear_tells_outermost(&c, &l);
}

static bool adds_alone(const spreader *sp, const nest *n)
{
    const ir_block *body = &n->loop[n->depth - 1]->body;
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        if (s->kind == IR_SET && is_local(sp, s->var) && !hdst__block_reads_first(body, s->var)) continue;
        if (s->kind != IR_ACCUM || !sp->wide[s->param]) return false;
        if (!tells_turns_apart(n, s->index2) && !tells_turns_apart(n, s->index)) return false;
        for (size_t k = 0; k < i; k++) {        // two additions to one leaf meet in the same turn only if they name the same cell
            const ir_stmt *t = body->items[k];
            if (t->kind == IR_ACCUM && t->param == s->param && t->leaf == s->leaf &&
                !(hdst__ir_expr_equal(t->index2, s->index2) && hdst__ir_expr_equal(t->index, s->index))) return false;
        }
    }
    return true;
}

static void exchange(ir_stmt *a, ir_stmt *b)
{
    const ir_stmt first = *a;
    a->var = b->var, a->hi = b->hi, a->lo = b->lo, a->span = b->span;
    b->var = first.var, b->hi = first.hi, b->lo = first.lo, b->span = first.span;
}

static void longest_outside(nest *n)
{
    for (size_t i = 1; i < n->depth; i++)
        if (turns_of(n->loop[i]) > turns_of(n->loop[0])) exchange(n->loop[0], n->loop[i]);
}

typedef struct waiting {
    const spreader *sp;
    size_t at;
} waiting;

static bool stays(ir_expr **slot, void *user)
{
    const waiting *w = user;
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || is_local(w->sp, e->var) || w->sp->last_write[e->var] <= w->at;
}

static bool writes_local(ir_stmt *s, void *user) { return !hdst__ir_writes(s, s->var) || is_local(user, s->var); }

// Whether what the loop reads is still so when the body has ended, and nobody waits for what it writes.
static bool can_wait(spreader *sp, ir_stmt *loop, size_t at)
{
    waiting w = {sp, at};
    ir_block one = {&loop, 1, 1};
    return hdst__ir_visit_exprs(&one, stays, &w) && hdst__ir_visit_stmts(&one, writes_local, sp);
}

// The statement, if it is such a loop; it may be changed then, and is left alone if not.
static ir_stmt *taken_from(spreader *sp, size_t at)
{
    ir_func *func = sp->func;
    ir_stmt *s = func->body.items[at];
    const ir_block one = {&s, 1, 1};
    nest n = {0};
    if (s->kind != IR_FOR || !can_wait(sp, s, at)) return NULL;
    ir_stmt *copy = hdst__ir_copy_block(func, &one).items[0];
    const bool is = find_nest(func, copy, &n);
    if (is) longest_outside(&n);
    if (is) put_indices_in_place(sp, &n);
    return is && turns_of(n.loop[0]) >= sp->least_turns && adds_alone(sp, &n) ? copy : NULL;
}

static ir_stmt *found_at(spreader *sp, size_t at)
{
    const ir_block one = {&sp->func->body.items[at], 1, 1};
    hdst__ir_tally(&one, sp->outside, true);
    ir_stmt *taken = taken_from(sp, at);
    hdst__ir_tally(&one, sp->outside, false);
    return taken;
}

static ir_stmt *taken_apart(spreader *sp, size_t at)
{
    ir_stmt *taken = found_at(sp, at);
    if (!taken) return NULL;
    const ir_block left = {&sp->func->body.items[at], 1, 1}, made = {&taken, 1, 1};
    hdst__ir_tally(&left, sp->outside, true);
    hdst__ir_tally(&made, sp->outside, false);
    return sp->func->body.items[at] = taken;
}

typedef struct noting {
    size_t *last_write, at;
} noting;

static bool note_write(ir_stmt *s, void *user)
{
    const noting *n = user;
    if (hdst__ir_writes(s, s->var)) n->last_write[s->var] = n->at;
    return true;
}

static spreader spreader_of(ir_func *func, const bool *wide)
{
    spreader sp = {.func = func, .wide = wide, .outside = HDST__NEW_ARRAY(func->arena, size_t, func->var_count),
                   .least_turns = HDST__GPU_COOPERATIVE_TURNS, .last_write = HDST__NEW_ARRAY(func->arena, size_t, func->var_count)};
    hdst__ir_tally(&func->body, sp.outside, false);
    for (size_t i = 0; i < func->body.count; i++) {
        noting n = {sp.last_write, i};
        hdst__ir_visit_stmts(&(ir_block){&func->body.items[i], 1, 1}, note_write, &n);
    }
    return sp;
}

ir_func *hdst__pass_cooperative_loops(ir_func *func, const bool *wide)
{
    ir_block left = {0}, taken = {0};
    if (func->emits) return NULL;
    hdst__pass_uniformity(func);
    spreader sp = spreader_of(func, wide);
    bool any = false;
    for (size_t i = 0; i < func->body.count && !any; i++) any = found_at(&sp, i) != NULL;
    if (any) sp.least_turns = HDST__GPU_COOPERATIVE_FEW_TURNS;
    for (size_t i = 0; any && i < func->body.count; i++) {
        ir_stmt *loop = taken_apart(&sp, i);
        hdst__ir_push(func, loop ? &taken : &left, func->body.items[i]);
    }
    if (taken.count == 0) return NULL;
    ir_func group = *func;
    group.body = taken;
    func->body = left;
    return hdst__ir_copy_func(func->arena, &group);
}
