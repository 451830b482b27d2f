// SPDX-License-Identifier: Apache-2.0
// Short loops with constant bounds disappear: one copy of the body for each turn, with the number in place of the variable. Loops over the two coordinates
// of a point leave no trace; indices become constants that need no check.
//
// Before:  for i = 0u to 2u {        After:  d = add(d, p.x[0u])
//            d = add(d, p.x[i])              d = add(d, p.x[1u])
//          }
#include "codegen/interp.h"
#include "codegen/kernel.h"

enum {
    MOST_TURNS = 8,
    MOST_NODES = 512,           // of all copies together: what is longer stays a loop, for the sake of the driver's compile time
};

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
static uint64_t turns(ir_stmt *s)
{
    if (s->kind != IR_FOR || s->lo->op != IR_CONST || s->hi->op != IR_CONST) return 0;
    if (hdst__eval_binary(IR_GE, s->lo->kind, s->lo->bits, s->hi->bits)) return 0;
    uint64_t distance = s->hi->bits - s->lo->bits, count = distance / s->step + (distance % s->step != 0);
    if (count > MOST_TURNS || count * block_size(&s->body) > MOST_NODES) return 0;
    return hdst__ir_loop_exits(s) ? 0 : count;
}

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

static void unroll_block(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) unroll_block(func, nested[n]);
        const uint64_t count = turns(s);
        if (!count) hdst__ir_push(func, &out, s);
        for (uint64_t turn = 0; turn < count; turn++) {
            ir_block copy = hdst__ir_copy_block(func, &s->body);
            hdst__ir_substitute(func, &copy, s->var, hdst__ir_const(func, s->lo->kind, s->lo->bits + turn * s->step));
            if (turn) own_counters(func, &copy, &copy);
            for (size_t k = 0; k < copy.count; k++) hdst__ir_push(func, &out, copy.items[k]);
        }
    }
    *block = out;
}

void hdst__pass_unroll(ir_func *func) { unroll_block(func, &func->body); }
