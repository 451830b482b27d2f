// SPDX-License-Identifier: Apache-2.0
// A constant that a variable was set to takes its place in what follows, up to the variable's next assignment; an assignment whose value nothing can read
// any more goes. It is what unrolled sums begin with. A copy of the counter of a loop around it is as good: helpers get one as their argument.
//
// Before:  d = 0f                 After:  d = fma(e, e, 0f)          Before:  for j = 0u to 8u {       After:  for j = 0u to 8u {
//          d = fma(e, e, d)               y = d                                 row = j                          row = j
//          y = d                                                                d = add(d, c[row].x)             d = add(d, c[j].x)
//                                                                             }                                }
#include "codegen/pass/passes.h"

enum { FAR = 256 };     // statements: reads that lie farther away are left, so that the work stays in proportion

// `counts`: by variable, whether it is the counter of a loop around.
static bool is_known(const ir_stmt *s, const bool *counts)
{
    return s->kind == IR_SET && (s->value->op == IR_CONST || (s->value->op == IR_VAR && counts[s->value->var]));
}

static bool may_leave(const ir_stmt *s)
{
    ir_stmt *item = (ir_stmt *)s;
    return s->kind == IR_RETURN || hdst__ir_block_exits(&(ir_block){&item, 1, 1});
}

// Puts the constant in place of the variable, from statement `at` on. Returns whether nothing reads the assignment any more.
static bool forward(ir_func *func, ir_block *block, size_t at, uint32_t var, const ir_expr *value)
{
    bool left = false;      // perhaps: then what stands after the loop may read it
    for (size_t i = at; i < block->count && i < at + FAR; i++) {
        ir_stmt *s = block->items[i];
        const bool sets = s->kind == IR_SET && s->var == var;
        if (!sets && hdst__ir_stmt_writes(s, var)) return false;        // in a branch or a loop
        hdst__ir_substitute(func, &(ir_block){&s, 1, 1}, var, value);
        if (sets) return !left;
        left |= may_leave(s);
    }
    return false;
}

static void forward_block(ir_func *func, ir_block *block, bool *counts)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        const bool around = s->kind == IR_FOR && counts[s->var];
        if (s->kind == IR_FOR) counts[s->var] = true;
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) forward_block(func, nested[n], counts);
        if (s->kind == IR_FOR) counts[s->var] = around;
        if (is_known(s, counts) && forward(func, block, i + 1, s->var, s->value)) continue;
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_constant_propagation(ir_func *func) { forward_block(func, &func->body, HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1)); }
