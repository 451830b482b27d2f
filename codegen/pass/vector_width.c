// SPDX-License-Identifier: Apache-2.0
// How wide a record loop is vectorised: as many records as fill 64 bytes with the numbers that it mostly works on,
// and how many such vectors stand side by side.
//
// Before: loop { while any; records vectorize { x = mul(x, x); reduce any |= lt(x, 4f) } }
// After:  loop { while any; records vectorize 16 by 4 { x = mul(x, x); reduce any |= lt(x, 4f) } }
//
// What counts is what lies in memory or in variables, and arithmetic of floats: integers are promoted as in C, so
// that sums of bytes look like 32-bit arithmetic, which compilers narrow again. Doubles that are floats on the way to
// an exact sum are not worked on. Small bodies in loops go four vectors at a time: the chains of dependences of one
// vector leave the processor idle. Long bodies outside of loops, mathematics mostly, go two at a time: they have more
// constants than there are registers, and two vectors share what is loaded (Black-Scholes takes 0.87 of the time).
//
// Loops over the few elements of an array (row form) whose turns are no multiple of a vector's take what is left as one more vector, with some lanes off:
// of the 30 hidden units of a net 14 would else go one by one, and take three times as long as the 16 before them.
//
// Before: for h = 0u to 30u vectorize { ... }    After: for h = 0u to 30u vectorize masked { ... }
#include "codegen/pass/block_form.h"
#include "base/costs_cpu.h"

typedef struct weights {
    const ir_func *func;
    size_t of[9];               // by bytes: how many values
    bool works_on_doubles;
    size_t nodes;
} weights;

// What is the same for all records is one number, however wide.
static bool is_uniform(const weights *w, const ir_expr *e)
{
    return (e->op == IR_VAR && !w->func->vars[e->var].varying) || (e->op == IR_BROADCAST && !e->varying);
}

static bool weigh_expr(ir_expr **slot, void *user)
{
    weights *w = user;
    const ir_expr *e = *slot;
    w->nodes++;
    if (is_uniform(w, e) || e->kind == HDST__BOOL || e->op == IR_CONST || e->op == IR_CONVERT) return true;
    if (e->kind == HDST__F64) w->works_on_doubles = true;
    if (e->op == IR_VAR || e->op == IR_ELEM || e->op == IR_FIELD || e->op == IR_BROADCAST || hdst__kind_is_float(e->kind)) w->of[hdst__scalar_size(e->kind)]++;
    return true;
}

static void weigh(const ir_func *func, const ir_block *body, weights *w)
{
    hdst__ir_visit_exprs((ir_block *)body, weigh_expr, w);
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const bool sets = s->kind == IR_SET || s->kind == IR_SET_ELEM;
        if (sets && func->vars[s->var].kind != HDST__BOOL) w->of[hdst__scalar_size(func->vars[s->var].kind)]++;
        if (s->kind == IR_STORE && s->value->kind != HDST__BOOL) w->of[hdst__scalar_size(s->value->kind)]++;
    }
}

static uint32_t bytes_of(const weights *w)
{
    if (w->works_on_doubles || w->of[8] > w->of[4] + w->of[2] + w->of[1]) return 8;
    if (w->of[4] || w->of[8]) return 4;
    return w->of[2] ? 2 : w->of[1] ? 1 : 4;
}

static bool asks_for_any(const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == IR_REDUCE && body->items[i]->value->kind == HDST__BOOL) return true;
    return false;
}

// A mask costs little for a vector; of many vectors one loop over what is left costs less.
static bool leaves_turns(const ir_stmt *loop)
{
    if (loop->step != 1 || loop->lo->op != IR_CONST || loop->hi->op != IR_CONST || loop->hi->bits <= loop->lo->bits) return false;
    const uint64_t turns = loop->hi->bits - loop->lo->bits;
    return turns % loop->lanes != 0 && turns / loop->lanes < HDST__CPU_MASKED_VECTORS;
}

// In row form: all lanes of dot and sum at once, and elements of an array.
static void choose_for_row(const ir_func *func, ir_stmt *loop)
{
    const bool is_lanes = hdst__ir_is_const(loop->lo, 0) && hdst__ir_is_const(loop->hi, HDST__LANES);
    weights w = {.func = func};
    weigh(func, &loop->body, &w);
    loop->lanes = is_lanes ? HDST__LANES : HDST__CPU_VECTOR_BYTES / bytes_of(&w);
    loop->interleave = 1;
    loop->masked = leaves_turns(loop);
}

static void choose(const ir_func *func, ir_stmt *records, bool in_loop)
{
    weights w = {.func = func};
    weigh(func, &records->body, &w);
    records->lanes = HDST__CPU_VECTOR_BYTES / bytes_of(&w);
    const bool small = records->body.count <= HDST__CPU_INTERLEAVED_STATEMENTS ||
                       (asks_for_any(&records->body) && w.nodes * HDST__CPU_INTERLEAVE <= HDST__CPU_INTERLEAVED_NODES);
    const bool is_long = !in_loop && w.nodes >= HDST__CPU_PAIRED_LEAST_NODES && w.nodes <= HDST__CPU_PAIRED_MOST_NODES;
    records->interleave = in_loop && small ? HDST__CPU_INTERLEAVE : is_long ? 2 : 1;
    while (records->interleave > 1 && records->lanes * records->interleave > func->block) records->interleave /= 2;
    while (records->lanes > func->block) records->lanes /= 2;
}

static void choose_in(const ir_func *func, ir_block *block, bool in_loop)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_RECORDS) {
            if (s->vectorize) choose(func, s, in_loop);
            else choose_in(func, &s->body, in_loop);
            continue;
        }
        if (s->kind == IR_FOR && s->vectorize) choose_for_row(func, s);
        ir_block *nested[HDST__IR_NESTED];
        const bool loop = s->kind == IR_FOR || s->kind == IR_LOOP;
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) choose_in(func, nested[n], in_loop || loop);
    }
}

void hdst__pass_vector_width(ir_func *func) { choose_in(func, &func->body, false); }
