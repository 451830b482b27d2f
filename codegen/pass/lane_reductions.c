// SPDX-License-Identifier: Apache-2.0
// The lanes of dot and sum (lower_lanes.c) side by side, for forms that handle one record at a time: the elements are
// read in order, and the lanes are a vector, or that many registers. Each lane keeps its own order, so no bit
// changes. The block form keeps the lanes one after another: it has records side by side.
//
// Before: for l = 0 to 16 {                                     After: for l = 0 to 16 { lanes[l] = 0 }
//           sum = 0                                                    for first = 0 to 784 step 16 {
//           for i = l to 784 step 16 { sum = fma(x[i], y[i], sum) }      for l = 0 to 16 { lanes[l] = fma(x[first + l], y[first + l], lanes[l]) }
//           lanes[l] = sum                                             }
//         }
// A last loop takes the elements that are left when their number is no multiple of 16.
#include "codegen/pass/row_form.h"
#include "codegen/pass/passes.h"

typedef struct nest {
    const ir_stmt *outer, *zero, *inner, *keep;
    uint64_t elements;
} nest;

static bool is_var(const ir_expr *e, uint32_t var) { return e && e->op == IR_VAR && e->var == var; }

// The elements' loop: plain assignments, the last of which is the lane's sum.
static bool is_inner(const ir_stmt *s, uint32_t lane, uint32_t sum)
{
    if (s->kind != IR_FOR || s->step != HDST__LANES || !is_var(s->lo, lane) || s->hi->op != IR_CONST || s->hi->bits < HDST__LANES) return false;
    for (size_t i = 0; i < s->body.count; i++)
        if (s->body.items[i]->kind != IR_SET || (s->body.items[i]->var == sum) != (i + 1 == s->body.count)) return false;
    return s->body.count > 0;
}

// What the nest sets besides the lanes is set in each turn before it is read, and read in the nest alone.
static bool is_closed(const ir_func *func, const nest *n)
{
    const ir_block *body = &n->inner->body;
    if (hdst__ir_block_reads(body, n->keep->var)) return false;
    for (size_t i = 0; i < body->count; i++) {
        const uint32_t var = body->items[i]->var;
        if (!hdst__row_is_local(func, n->outer, var) || (i + 1 < body->count && hdst__block_reads_first(body, var))) return false;
    }
    return hdst__row_is_local(func, n->outer, n->outer->var) && hdst__row_is_local(func, n->outer, n->inner->var);
}

static bool find_nest(const ir_func *func, const ir_stmt *s, nest *n)
{
    if (s->kind != IR_FOR || s->step != 1 || !hdst__ir_is_const(s->lo, 0) || !hdst__ir_is_const(s->hi, HDST__LANES) || s->body.count != 3) return false;
    *n = (nest){s, s->body.items[0], s->body.items[1], s->body.items[2], 0};
    if (n->zero->kind != IR_SET || n->zero->value->op != IR_CONST || !is_inner(n->inner, s->var, n->zero->var)) return false;
    if (n->keep->kind != IR_SET_ELEM || !is_var(n->keep->index, s->var) || !is_var(n->keep->value, n->zero->var)) return false;
    n->elements = n->inner->hi->bits;
    return is_closed(func, n);
}

static ir_stmt *set_lane(ir_func *func, const nest *n, ir_expr *value)
{
    ir_stmt *set = hdst__ir_set(func, n->keep->var, value);
    set->kind = IR_SET_ELEM;
    set->index = hdst__ir_copy(func, n->keep->index);
    set->span = n->inner->span;
    return set;
}

static ir_stmt *over_lanes(ir_func *func, const nest *n, uint64_t lanes)
{
    ir_stmt *loop = hdst__ir_for(func, n->outer->var, hdst__ir_copy(func, n->outer->lo), hdst__ir_const(func, n->outer->lo->kind, lanes), 1);
    loop->span = n->outer->span;
    return loop;
}

// The elements from `first` on, one for each of `lanes` lanes.
static ir_stmt *one_turn(ir_func *func, const nest *n, ir_expr *first, uint64_t lanes)
{
    ir_stmt *loop = over_lanes(func, n, lanes);
    ir_block body = hdst__ir_copy_block(func, &n->inner->body);
    ir_expr *lane = hdst__ir_var(func, n->outer->var), *so_far = hdst__ir_unary(func, IR_ELEM, n->zero->value->kind, hdst__ir_copy(func, lane));
    so_far->var = n->keep->var;
    hdst__ir_substitute(func, &body, n->inner->var, hdst__ir_binary(func, IR_ADD, first->kind, first, lane));
    hdst__ir_substitute(func, &body, n->zero->var, so_far);
    body.items[body.count - 1] = set_lane(func, n, body.items[body.count - 1]->value);
    hdst__row_fresh(func, &body);
    loop->body = body;
    return loop;
}

static void side_by_side(ir_func *func, ir_block *out, const nest *n)
{
    const hdst__kind kind = n->outer->lo->kind;
    const uint64_t whole = n->elements - n->elements % HDST__LANES;
    ir_stmt *zero = over_lanes(func, n, HDST__LANES);
    hdst__ir_push(func, &zero->body, set_lane(func, n, hdst__ir_copy(func, n->zero->value)));
    hdst__ir_push(func, out, zero);
    const uint32_t first = hdst__ir_add_var(func, "first", kind, 0);
    ir_stmt *turns = hdst__ir_for(func, first, hdst__ir_const(func, kind, 0), hdst__ir_const(func, kind, whole), HDST__LANES);
    hdst__ir_push(func, &turns->body, one_turn(func, n, hdst__ir_var(func, first), HDST__LANES));
    hdst__ir_push(func, out, turns);
    if (whole < n->elements) hdst__ir_push(func, out, one_turn(func, n, hdst__ir_const(func, kind, whole), n->elements - whole));
}

static void rewrite(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        nest found;
        if (s->tile) {              // has its lanes side by side already
            hdst__ir_push(func, &out, s);
            continue;
        }
        if (find_nest(func, s, &found)) {
            side_by_side(func, &out, &found);
            continue;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) rewrite(func, nested[n]);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_lane_reductions(ir_func *func)
{
    rewrite(func, &func->body);
    hdst__ir_drop_unused_vars(func);
}
