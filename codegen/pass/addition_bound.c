// SPDX-License-Identifier: Apache-2.0
// How many additions one record can make to one cell: what the headroom of fixed-point sums is computed from. An upper bound, from the trip counts of the
// loops around each addition; trip counts come from intervals of the loops' limits.
#include "codegen/pass/addition_bound.h"

#include "codegen/pass/affine_index.h"

#include <string.h>

typedef struct interval {
    __int128 low, high;
} interval;

typedef struct bounds {
    const ir_func *func;
    const uint64_t *rows;
    interval *loop;             // by variable: what it ranges over, where `is_loop`
    bool *is_loop;              // inside the loop that counts it
    hdst__nest nest;            // plain loops around the place
    uint64_t trips[HDST__NEST_DEPTH], repeats;      // of them; of all other loops together
    const ir_block *body;       // of the innermost loop
    size_t at;                  // its statement that the place is in
} bounds;

static interval whole(hdst__kind kind)
{
    const unsigned bits = 8 * (unsigned)hdst__scalar_size(kind);
    if (kind == HDST__BOOL) return (interval){0, 1};
    if (!hdst__kind_is_integer(kind)) return (interval){-((__int128)1 << 64), (__int128)1 << 64};
    if (hdst__kind_is_signed(kind)) return (interval){-((__int128)1 << (bits - 1)), ((__int128)1 << (bits - 1)) - 1};
    return (interval){0, ((__int128)1 << bits) - 1};
}

static interval fitted(interval value, hdst__kind kind)     // what wraps may be anything
{
    const interval all = whole(kind);
    return value.low >= all.low && value.high <= all.high ? value : all;
}

static interval range_of(const bounds *b, const ir_expr *e);

static interval range_of_constant(const ir_expr *e)
{
    if (!hdst__kind_is_integer(e->kind) && e->kind != HDST__BOOL) return whole(e->kind);
    const __int128 value = hdst__kind_is_signed(e->kind) ? (__int128)(int64_t)e->bits : (__int128)e->bits;
    return (interval){value, value};
}

static interval range_of_binary(const bounds *b, const ir_expr *e)
{
    const interval l = range_of(b, e->a), r = range_of(b, e->b);
    switch (e->op) {
    case IR_ADD: return fitted((interval){l.low + r.low, l.high + r.high}, e->kind);
    case IR_SUB: return fitted((interval){l.low - r.high, l.high - r.low}, e->kind);
    case IR_MUL:        // operands below 2^32, so that the product cannot overflow here
        if (l.low < 0 || r.low < 0 || l.high >> 32 || r.high >> 32) return whole(e->kind);
        return fitted((interval){l.low * r.low, l.high * r.high}, e->kind);
    case IR_DIV:
        if (l.low < 0 || r.low < 1) return whole(e->kind);
        return (interval){l.low / r.high, l.high / r.low};
    case IR_MIN: return (interval){l.low < r.low ? l.low : r.low, l.high < r.high ? l.high : r.high};
    case IR_MAX: return (interval){l.low > r.low ? l.low : r.low, l.high > r.high ? l.high : r.high};
    default: return whole(e->kind);
    }
}

static interval range_of(const bounds *b, const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return range_of_constant(e);
    case IR_VAR: return b->is_loop[e->var] ? b->loop[e->var] : whole(e->kind);
    case IR_LENGTH: return (interval){b->rows[e->param], b->rows[e->param]};
    case IR_CONVERT: return hdst__kind_is_float(e->a->kind) || hdst__kind_is_float(e->kind) ? whole(e->kind) : fitted(range_of(b, e->a), e->kind);
    case IR_SELECT: {
        const interval l = range_of(b, e->b), r = range_of(b, e->c);
        return (interval){l.low < r.low ? l.low : r.low, l.high > r.high ? l.high : r.high};
    }
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_MIN: case IR_MAX:
        return hdst__kind_is_integer(e->kind) ? range_of_binary(b, e) : whole(e->kind);
    default: return whole(e->kind);
    }
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static bool is_addition(const ir_stmt *s, uint32_t param, uint32_t leaf)
{
    return (s->kind == IR_ACCUM || s->kind == IR_ACCUM_WORDS) && s->param == param && s->leaf == leaf;
}

static uint64_t count_block(bounds *b, const ir_block *block, uint32_t param, uint32_t leaf);

// How often an addition meets the same cell while the loops around it run: turns that its row or its element tells apart meet different ones.
static uint64_t count_addition(const bounds *b, const ir_stmt *s)
{
    bool told[HDST__NEST_DEPTH] = {false};
    const ir_block before = b->body ? (ir_block){b->body->items, b->at, b->at} : (ir_block){0};
    const ir_expr *const index[] = {s->index, s->index2};
    for (int i = 0; i < 2; i++) {
        const hdst__linear l = index[i] ? hdst__linear_of(&b->nest, index[i], &before) : (hdst__linear){0};
        hdst__linear_tells(&b->nest, &l, told);
    }
    uint64_t count = b->repeats;
    for (size_t k = 0; k < b->nest.depth; k++)
        if (!told[k]) count = times(count, b->trips[k]);
    return count;
}

static uint64_t count_for(bounds *b, const ir_stmt *s, uint32_t param, uint32_t leaf)
{
    const interval lo = range_of(b, s->lo), hi = range_of(b, s->hi);
    const __int128 step = s->step ? s->step : 1, trips = hi.high > lo.low ? (hi.high - lo.low + step - 1) / step : 0;
    if (trips == 0) return 0;
    const bounds before = *b;
    const bool was_loop = b->is_loop[s->var];
    const interval range = b->loop[s->var];
    const uint64_t turns = trips > UINT64_MAX ? UINT64_MAX : (uint64_t)trips;
    b->is_loop[s->var] = true;
    b->loop[s->var] = (interval){lo.low, hi.high - 1};
    b->body = &s->body;
    if (hdst__is_plain_loop(s) && b->nest.depth < HDST__NEST_DEPTH) {
        b->trips[b->nest.depth] = turns;
        b->nest.loop[b->nest.depth] = s;
        b->nest.turns[b->nest.depth++] = turns >> 31 ? 0 : turns;
    } else {
        b->repeats = times(b->repeats, turns);
    }
    const uint64_t count = count_block(b, &s->body, param, leaf);
    *b = before;
    b->is_loop[s->var] = was_loop;
    b->loop[s->var] = range;
    return count;
}

static uint64_t count_stmt(bounds *b, const ir_stmt *s, uint32_t param, uint32_t leaf)
{
    switch (s->kind) {
    case IR_ACCUM: case IR_ACCUM_WORDS: return is_addition(s, param, leaf) ? count_addition(b, s) : 0;
    case IR_IF: {
        const uint64_t yes = count_block(b, &s->then, param, leaf), no = count_block(b, &s->otherwise, param, leaf);
        if (b->nest.depth) return plus(yes, no);        // what one turn adds in one branch another turn may add in the other
        return yes > no ? yes : no;
    }
    case IR_FOR: return count_for(b, s, param, leaf);
    case IR_LOOP: {
        const uint64_t turn = plus(count_block(b, &s->head, param, leaf), count_block(b, &s->body, param, leaf));
        const uint64_t inside = plus(turn, count_block(b, &s->after, param, leaf));
        return inside == 0 ? 0 : UINT64_MAX;
    }
    case IR_RECORDS: return count_block(b, &s->body, param, leaf);
    default: return 0;
    }
}

static uint64_t count_block(bounds *b, const ir_block *block, uint32_t param, uint32_t leaf)
{
    uint64_t count = 0;
    for (size_t i = 0; i < block->count; i++) {
        if (block == b->body) b->at = i;
        count = plus(count, count_stmt(b, block->items[i], param, leaf));
    }
    return count;
}

uint64_t hdst__leaf_adds_per_record(hdst__arena *arena, const ir_func *func, const uint64_t *rows_of_param, uint32_t param, uint32_t leaf)
{
    bounds b = {.func = func, .rows = rows_of_param, .repeats = 1};
    b.loop = HDST__NEW_ARRAY(arena, interval, func->var_count);
    b.is_loop = HDST__NEW_ARRAY(arena, bool, func->var_count);
    return count_block(&b, &func->body, param, leaf);
}

uint64_t hdst__tables_adds_per_record(hdst__arena *arena, const ir_func *func, const uint64_t *rows_of_param)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].kind != IR_ACCUM_TABLE) continue;
        for (uint32_t leaf = 0; leaf < func->params[i].record->leaf_count; leaf++) {
            const uint64_t count = hdst__leaf_adds_per_record(arena, func, rows_of_param, i, leaf);
            if (count > most) most = count;
        }
    }
    return most;
}
