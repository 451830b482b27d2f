// SPDX-License-Identifier: Apache-2.0
// Row form: the dots of a record's row with rows of a broadcast leave the body. They are made for a block of records
// before it, several records and rows at a time, and the body finds them in an array.
//
// Before: for h = 0 to 30 { for l = 0 to 16 { sum = 0; for i = l to 784 step 16 { sum = fma(n.w[h * 784 + i], p.x[i], sum) }; lanes[l] = sum }
//                           dot = add(add(lanes[0], lanes[8]), ...); ... }
// After:  for h = 0 to 30 { dot = dots[h]; ... }                     and before the block: dots[h] of each record
//
// Lanes keep their order, and so does what brings them together (lower_lanes.c): no bit changes.
#include "codegen/pass/row_sums.h"

// The lanes, brought together as lower_lanes.c does it.
static bool is_tree(const ir_expr *e, uint32_t lanes, uint32_t first, uint32_t distance)
{
    if (distance == HDST__LANES) return e->op == IR_ELEM && e->var == lanes && hdst__ir_is_const(e->a, first);
    return e->op == IR_ADD && is_tree(e->a, lanes, first, 2 * distance) && is_tree(e->b, lanes, first + distance, 2 * distance);
}

// A broadcast's floats, side by side, of row 0: by the turns of the loops around and of the loop over the elements, as a table of rows of `stride`.
static bool is_weight(const hdst__row_taker *t, const ir_stmt *loop, const ir_block *before, const ir_expr *e, hdst__row_dot *dot)
{
    if (e->op != IR_BROADCAST || e->kind != HDST__F32 || (e->a && !hdst__ir_is_const(e->a, 0)) || !e->b) return false;
    const hdst__record *record = t->func->params[e->param].record;
    hdst__nest nest = t->nest;
    if (nest.depth == HDST__NEST_DEPTH || !hdst__leaf_is_aligned(record, &record->leaves[e->leaf]) ||
        !hdst__leaf_is_dense(&record->leaves[e->leaf])) return false;
    nest.loop[nest.depth] = loop;
    nest.turns[nest.depth++] = loop->hi->bits;
    const hdst__linear l = hdst__linear_of(&nest, e->b, before);
    if (!l.known || l.factor[nest.depth - 1] != 1) return false;
    uint64_t reach = loop->hi->bits - 1, units = 1;
    dot->stride = t->nest.depth ? l.factor[t->nest.depth - 1] : 0;
    for (size_t k = t->nest.depth; k-- > 0;) {
        if (l.factor[k] != dot->stride * units) return false;
        reach += l.factor[k] * (nest.turns[k] - 1);
        units *= nest.turns[k];
    }
    dot->broadcast = e->param;
    dot->broadcast_leaf = e->leaf;
    dot->broadcast_first = l.highest - reach;
    return true;
}

static bool is_row_of(const hdst__row_taker *t, const ir_stmt *loop, const ir_expr *e, hdst__row_dot *dot)
{
    const hdst__nest inner = {.loop = {loop}, .turns = {loop->hi->bits}, .depth = 1};
    if (!hdst__row_is_field(t, &inner, e, &dot->row_first)) return false;
    dot->input = e->param;
    dot->input_leaf = e->leaf;
    return true;
}

// The nest that fills the lanes at place `at` of the block, and the assignment behind it that brings them together.
static bool is_dot(const hdst__row_taker *t, const ir_block *block, size_t at, hdst__row_dot *dot)
{
    if (at + 1 >= block->count) return false;
    const ir_stmt *lanes = block->items[at], *together = block->items[at + 1];
    const ir_block before = {block->items, at, at};
    if (!hdst__is_plain_loop(lanes) || !hdst__ir_is_const(lanes->hi, HDST__LANES) || lanes->body.count != 3) return false;
    const ir_stmt *zero = lanes->body.items[0], *loop = lanes->body.items[1], *keep = lanes->body.items[2];
    if (zero->kind != IR_SET || !hdst__ir_is_const(zero->value, 0) || loop->kind != IR_FOR || loop->step != HDST__LANES || loop->hi->op != IR_CONST ||
        loop->body.count != 1) return false;
    if (loop->lo->op != IR_VAR || loop->lo->var != lanes->var || keep->kind != IR_SET_ELEM ||
        keep->index->op != IR_VAR || keep->index->var != lanes->var) return false;
    const ir_stmt *add = loop->body.items[0];
    const ir_expr *v = add->value;
    if (add->kind != IR_SET || add->var != zero->var || v->op != IR_FMA || v->kind != HDST__F32 || v->c->op != IR_VAR || v->c->var != zero->var) return false;
    if (keep->value->op != IR_VAR || keep->value->var != zero->var || together->kind != IR_SET || !is_tree(together->value, keep->var, 0, 1)) return false;
    if (hdst__ir_block_reads(&t->func->body, keep->var) != HDST__LANES || !hdst__row_is_local(t->func, lanes, zero->var)) return false;
    dot->elements = loop->hi->bits;
    return dot->elements >= HDST__ROW_ELEMENTS && ((is_weight(t, loop, &before, v->a, dot) && is_row_of(t, loop, v->b, dot)) ||
                                                   (is_weight(t, loop, &before, v->b, dot) && is_row_of(t, loop, v->a, dot)));
}

bool hdst__row_take_dot(hdst__row_taker *t, ir_block *block, size_t at)
{
    hdst__row_dot dot = {0};
    if (!is_dot(t, block, at, &dot)) return false;
    dot.units = hdst__row_turns(&t->nest, 0);
    if (dot.units > HDST__ROW_UNITS) return false;
    dot.dots = hdst__ir_add_var(t->func, "dots", HDST__F32, dot.units);
    dot.name = t->func->vars[dot.dots].name;
    t->func->vars[dot.dots].varying = t->func->vars[dot.dots].per_record = t->func->vars[dot.dots].in_rows = true;
    ir_expr *made = hdst__ir_unary(t->func, IR_ELEM, HDST__F32, hdst__row_unit(t, t->nest.depth, 0));
    made->var = dot.dots;
    block->items[at + 1]->value = made;
    HDST__PUSH(t->func->arena, t->sums->dot, t->sums->dot_count, t->sums->dot_capacity, dot);
    return true;
}
