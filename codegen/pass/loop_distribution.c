// SPDX-License-Identifier: Apache-2.0
// GPU form: additions to wide accumulators that stand in a loop with other work get a loop of their own behind it (loop distribution),
// which the work-group can make together then (cooperative_loops.c). What they need of a turn is kept in an array (scalar expansion).
//
// Before: for h = 0 to 30 { delta = ...; for i = 0 to 784 { accum g.w[h * 784 + i] += delta * p.x[i] } }
// After:  for h = 0 to 30 { delta = ...; kept[h] = delta }
//         for h_2 = 0 to 30 { for i_2 = 0 to 784 { accum g.w[h_2 * 784 + i_2] += kept[h_2] * p.x[i_2] } }
//
// Taken is what every turn of loops of constant bounds comes to, whose cell follows from their counters and from what was set before them, and whose addend
// is a product of a row's element (of the record, or of a local array that the loops leave as it is) and of something that is the same in all turns of
// the innermost loop; or anything, if there are few turns. Sums are exact, so their order does not matter.
#include "codegen/pass/affine_index.h"
#include "codegen/pass/block_form.h"
#include "codegen/pass/passes.h"
#include "base/costs_gpu.h"

typedef struct kept_value {     // a variable that is kept already, of each turn of the loops around
    const ir_stmt *loop;
    uint32_t var, array;
} kept_value;

typedef struct distributor {
    ir_func *func;
    const bool *wide;           // by param: accumulators of which the work-group has a table in device memory
    ir_stmt *loop[HDST__NEST_DEPTH];    // around the statement, outermost first
    size_t depth;
    ir_block behind;            // loops that were made
    kept_value *kept;
    size_t kept_count, kept_capacity;
} distributor;

static ir_stmt *innermost(const distributor *d) { return d->loop[d->depth - 1]; }

static bool enters(const distributor *d, const ir_stmt *s)
{
    if (d->depth == HDST__NEST_DEPTH || !hdst__is_plain_loop(s) || hdst__ir_loop_exits(s)) return false;
    return s->hi->op == IR_CONST && s->hi->bits > 0 && s->hi->bits <= INT32_MAX;
}

static bool is_counter(const distributor *d, uint32_t var)
{
    for (size_t k = 0; k < d->depth; k++)
        if (d->loop[k]->var == var) return true;
    return false;
}

// --- What is known behind the loops, too ---

static bool is_lasting(ir_expr **slot, void *user)
{
    const distributor *d = user;
    const ir_expr *e = *slot;
    if (e->op == IR_FIELD || e->op == IR_BROADCAST || e->op == IR_RECORD_INDEX || e->kind == HDST__TEXT) return false;
    if (e->op == IR_ELEM) return d->func->vars[e->var].init != NULL;
    return e->op != IR_VAR || is_counter(d, e->var) || !hdst__ir_stmt_writes(d->loop[0], e->var);
}

static bool lasts(distributor *d, ir_expr *e) { return !e || hdst__ir_visit_expr(&e, is_lasting, d); }

// An element of a record's row, or of an array that no turn changes.
static bool is_row(distributor *d, ir_expr *e)
{
    if (e->op == IR_FIELD) return e->a && lasts(d, e->a);
    return e->op == IR_ELEM && !d->func->vars[e->var].init && !hdst__ir_stmt_writes(d->loop[0], e->var) && lasts(d, e->a);
}

static bool is_same(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || !hdst__ir_stmt_writes(user, e->var);
}

// In all turns of the innermost loop.
static bool is_factor(const distributor *d, ir_expr *e) { return e->kind != HDST__TEXT && hdst__ir_visit_expr(&e, is_same, innermost(d)); }

// --- Making ---

static uint64_t turns_around(const distributor *d, size_t depth)
{
    uint64_t turns = 1;
    for (size_t k = 0; k < depth; k++) turns *= d->loop[k]->hi->bits;
    return turns;
}

// Which turn it is of the outermost loops.
static ir_expr *turn_of(const distributor *d, size_t depth)
{
    ir_func *func = d->func;
    ir_expr *index = hdst__ir_const(func, HDST__U32, 0);
    for (size_t k = 0; k < depth; k++) {
        ir_expr *turn = hdst__ir_convert(func, HDST__U32, hdst__ir_var(func, d->loop[k]->var));
        ir_expr *before = hdst__ir_binary(func, IR_MUL, HDST__U32, index, hdst__ir_const(func, HDST__U32, d->loop[k]->hi->bits));
        index = k ? hdst__ir_binary(func, IR_ADD, HDST__U32, before, turn) : turn;
    }
    return index;
}

static ir_expr *kept_in(const distributor *d, uint32_t array, size_t depth)
{
    ir_expr *e = hdst__ir_unary(d->func, IR_ELEM, d->func->vars[array].kind, turn_of(d, depth));
    e->var = array;
    return e;
}

// The nest once more around the statement, with counters of its own.
static ir_stmt *nest_around(const distributor *d, ir_stmt *stmt)
{
    ir_func *func = d->func;
    ir_block body = {0};
    hdst__ir_push(func, &body, stmt);
    for (size_t k = d->depth; k-- > 0;) {
        const ir_stmt *of = d->loop[k];
        const uint32_t counter = hdst__ir_add_var(func, func->vars[of->var].name, func->vars[of->var].kind, 0);
        func->vars[counter].varying = func->vars[of->var].varying;
        ir_stmt *loop = hdst__ir_for(func, counter, hdst__ir_copy(func, of->lo), hdst__ir_copy(func, of->hi), 1);
        loop->span = of->span;
        loop->body = body;
        hdst__ir_substitute(func, &loop->body, of->var, hdst__ir_var(func, counter));
        body = (ir_block){0};
        hdst__ir_push(func, &body, loop);
    }
    return body.items[0];
}

// The array that has the value already; IR_NO_VAR: none. A turn sets the variable once, before anybody reads it.
static uint32_t find_kept(const distributor *d, const ir_expr *value, size_t depth)
{
    const ir_stmt *loop = d->loop[depth - 1];
    for (size_t i = 0; value->op == IR_VAR && i < d->kept_count; i++)
        if (d->kept[i].var == value->var && d->kept[i].loop == loop && hdst__ir_block_writes(&loop->body, value->var) == 1 &&
            !hdst__block_reads_first(&loop->body, value->var)) return d->kept[i].array;
    return IR_NO_VAR;
}

static uint32_t new_kept(distributor *d, const ir_expr *value, size_t depth)
{
    const uint32_t array = hdst__ir_add_var(d->func, "kept", value->kind, turns_around(d, depth));
    const kept_value kept = {d->loop[depth - 1], value->var, array};
    d->func->vars[array].varying = true;
    if (value->op == IR_VAR) HDST__PUSH(d->func->arena, d->kept, d->kept_count, d->kept_capacity, kept);
    return array;
}

// The statement that keeps what the addition needs, if it is taken; NULL if not. `depth`: of the loops whose turns it is kept of. *known: it is
// kept already.
static ir_stmt *take(distributor *d, const ir_stmt *s, size_t *depth, bool *known)
{
    ir_func *func = d->func;
    if (s->kind != IR_ACCUM || s->cond || !d->wide[s->param] || !lasts(d, s->index) || !lasts(d, s->index2)) return NULL;
    ir_expr *v = s->value, **keep = &v;
    ir_stmt *add = hdst__ir_copy_block(func, &(ir_block){(ir_stmt **)&s, 1, 1}).items[0];
    *depth = d->depth;
    if (d->depth > 1 && v->op == IR_MUL && is_row(d, v->b) && is_factor(d, v->a)) keep = &v->a, --*depth;
    else if (d->depth > 1 && v->op == IR_MUL && is_row(d, v->a) && is_factor(d, v->b)) keep = &v->b, --*depth;
    if (turns_around(d, *depth) > HDST__GPU_KEPT_TURNS) return NULL;
    const uint32_t found = find_kept(d, *keep, *depth), array = found != IR_NO_VAR ? found : new_kept(d, *keep, *depth);
    *known = found != IR_NO_VAR;
    if (keep == &v) add->value = kept_in(d, array, *depth);
    else *(keep == &s->value->a ? &add->value->a : &add->value->b) = kept_in(d, array, *depth);
    hdst__ir_push(func, &d->behind, nest_around(d, add));
    ir_stmt *set = hdst__ir_set(func, array, *keep);
    set->kind = IR_SET_ELEM;
    set->index = turn_of(d, *depth);
    set->span = s->span;
    return set;
}

// `before`: where what is the same in all turns of the loop is kept.
static void take_from(distributor *d, ir_stmt *loop, ir_block *before)
{
    ir_block left = {0};
    d->loop[d->depth++] = loop;
    for (size_t i = 0; i < loop->body.count; i++) {
        ir_stmt *s = loop->body.items[i];
        size_t depth;
        bool known;
        ir_stmt *keep = take(d, s, &depth, &known);
        if (keep && !known) hdst__ir_push(d->func, depth < d->depth ? before : &left, keep);
        if (keep) continue;
        const bool inner = enters(d, s);
        if (inner) take_from(d, s, &left);
        if (!inner || s->body.count) hdst__ir_push(d->func, &left, s);
    }
    loop->body = left;
    d->depth--;
}

void hdst__pass_loop_distribution(ir_func *func, const bool *wide)
{
    distributor d = {.func = func, .wide = wide};
    ir_block out = {0};
    if (func->emits) return;
    for (size_t i = 0; i < func->body.count; i++) {
        ir_stmt *s = func->body.items[i];
        const bool loop = !s->tile && enters(&d, s);
        d.behind = (ir_block){0};
        if (loop) take_from(&d, s, &out);
        if (!loop || s->body.count) hdst__ir_push(func, &out, s);
        for (size_t k = 0; k < d.behind.count; k++) hdst__ir_push(func, &out, d.behind.items[k]);
    }
    func->body = out;
}
