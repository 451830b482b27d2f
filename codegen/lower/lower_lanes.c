// SPDX-License-Identifier: Apache-2.0
// dot(a, b) and sum(a) of floating arrays, in a fixed order that suits vector units: LANES partial sums, of which lane l adds
// elements l, l + LANES ... in order from +0; then lanes l and l + 8 are added, l and l + 4, l and l + 2, l and l + 1. This is
// blocked summation with a pairwise end: its error grows with the number of elements over LANES (Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd ed., 2002, sections 4.1 and 4.2; Blanchard, Higham and Mary, "A class of fast and
// accurate summation algorithms", 2020). A lane without elements is left out. Sums of integers wrap, in any order.
//
// Before: d = dot(p.x, c.x)        After: for l = 0 to 16 {
//                                           lane_sum = 0
//                                           for i = l to 784 step 16 { lane_sum = fma(p.x[i], c.x[i], lane_sum) }
//                                           lane[l] = lane_sum
//                                         }
//                                         d = ((lane[0] + lane[8]) + (lane[4] + lane[12])) + ...
#include "codegen/lower/lower_state.h"

enum { LANES = HDST__LANES };

typedef struct operands {
    lower_place place[2];
    size_t count;
    hdst__kind kind;            // of the sum
} operands;

static ir_expr *element(lowerer *l, const operands *o, size_t operand, const ir_expr *index)
{
    lower_place place = hdst__lower_element(l, &o->place[operand], hdst__ir_copy(l->func, index));
    return hdst__lower_convert(l, o->kind, hdst__lower_load(l, &place));
}

// The sum so far plus element `index`.
static ir_expr *added(lowerer *l, const operands *o, ir_expr *so_far, const ir_expr *index)
{
    ir_expr *a = element(l, o, 0, index);
    if (o->count == 1) return hdst__ir_binary(l->func, IR_ADD, o->kind, so_far, a);
    ir_expr *b = element(l, o, 1, index);
    if (!hdst__kind_is_float(o->kind)) return hdst__ir_binary(l->func, IR_ADD, o->kind, so_far, hdst__ir_binary(l->func, IR_MUL, o->kind, a, b));
    ir_expr *fused = hdst__ir_binary(l->func, IR_FMA, o->kind, a, b);
    fused->c = so_far;
    return fused;
}

// sum = 0; for i = first to the end, step { sum += ... }
static void add_in_order(lowerer *l, const operands *o, uint32_t sum, ir_expr *first, uint64_t step)
{
    hdst__lower_push(l, hdst__ir_set(l->func, sum, hdst__ir_const(l->func, o->kind, 0)));
    uint32_t i = hdst__ir_add_var(l->func, "i", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(l->func, i, first, hdst__ir_const(l->func, HDST__U32, o->place[0].type->count), step);
    ir_expr *next = added(l, o, hdst__ir_var(l->func, sum), hdst__ir_var(l->func, i));
    hdst__ir_push(l->func, &loop->body, hdst__ir_set(l->func, sum, next));
    hdst__lower_push(l, loop);
}

// --- Floats ---

// The lanes: a variable each when there are few elements, else an array.
typedef struct lanes {
    uint32_t count;             // that elements fall to
    uint32_t var[LANES];
    uint32_t array;             // IR_NO_VAR: a variable each
} lanes;

static ir_expr *lane(lowerer *l, const lanes *all, uint32_t which)
{
    if (all->array == IR_NO_VAR) return hdst__ir_var(l->func, all->var[which]);
    ir_expr *e = hdst__ir_unary(l->func, IR_ELEM, l->func->vars[all->array].kind, hdst__ir_const(l->func, HDST__U32, which));
    e->var = all->array;
    return e;
}

// Adds lanes first, first + distance, first + 2 distance ... pairwise: those furthest apart first.
static ir_expr *combined(lowerer *l, const lanes *all, uint32_t first, uint32_t distance)
{
    if (distance == LANES) return lane(l, all, first);
    ir_expr *low = combined(l, all, first, 2 * distance);
    if (first + distance >= all->count) return low;
    return hdst__ir_binary(l->func, IR_ADD, low->kind, low, combined(l, all, first + distance, 2 * distance));
}

static lanes fill_straight(lowerer *l, const operands *o)
{
    lanes all = {.count = (uint32_t)o->place[0].type->count, .array = IR_NO_VAR};
    for (uint32_t i = 0; i < all.count; i++) {
        all.var[i] = hdst__ir_add_var(l->func, "lane", o->kind, 0);
        ir_expr *zero = hdst__ir_const(l->func, o->kind, 0);
        hdst__lower_push(l, hdst__ir_set(l->func, all.var[i], added(l, o, zero, hdst__ir_const(l->func, HDST__U32, i))));
    }
    return all;
}

static lanes fill_in_turn(lowerer *l, const operands *o)
{
    lanes all = {.count = LANES, .array = hdst__ir_add_var(l->func, "lanes", o->kind, LANES)};
    uint32_t at = hdst__ir_add_var(l->func, "lane", HDST__U32, 0), sum = hdst__ir_add_var(l->func, "lane_sum", o->kind, 0);
    ir_stmt *turns = hdst__ir_for(l->func, at, hdst__ir_const(l->func, HDST__U32, 0), hdst__ir_const(l->func, HDST__U32, LANES), 1);
    ir_block *outer = l->block;
    l->block = &turns->body;
    add_in_order(l, o, sum, hdst__ir_var(l->func, at), LANES);
    ir_stmt *set = hdst__ir_set(l->func, all.array, hdst__ir_var(l->func, sum));
    set->kind = IR_SET_ELEM;
    set->index = hdst__ir_var(l->func, at);
    hdst__lower_push(l, set);
    l->block = outer;
    hdst__lower_push(l, turns);
    return all;
}

static ir_expr *in_lanes(lowerer *l, const operands *o)
{
    const lanes all = o->place[0].type->count <= LANES ? fill_straight(l, o) : fill_in_turn(l, o);
    return combined(l, &all, 0, 1);
}

// --- Entry ---

ir_expr *hdst__lower_over_arrays(lowerer *l, const ast_expr *call)
{
    operands o = {.count = call->arg_count, .kind = call->type->kind};
    for (size_t i = 0; i < o.count; i++) o.place[i] = hdst__lower_evaluate_indices(l, hdst__lower_place(l, call->args[i]));
    uint32_t result = hdst__ir_add_var(l->func, call->name, o.kind, 0);
    if (hdst__kind_is_float(o.kind)) hdst__lower_push(l, hdst__ir_set(l->func, result, in_lanes(l, &o)));
    else add_in_order(l, &o, result, hdst__ir_const(l->func, HDST__U32, 0), 1);
    return hdst__ir_var(l->func, result);
}
