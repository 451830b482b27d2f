// SPDX-License-Identifier: Apache-2.0
// Places fused multiply-adds: the language says where, so that every back end rounds alike. It runs first, on expressions as they were written: no product
// comes from another statement, an inlined helper or across a written conversion. docs/code-generation.md has the rule in words.
//
// Before:  d = add(mul(x, y), z)     After:  d = fma(x, y, z)
//          d = sub(mul(x, y), z)             d = fma(x, y, neg(z))
//          d = sub(z, mul(x, y))             d = fma(neg(x), y, z)
#include "codegen/pass/passes.h"

static bool is_product(const ir_expr *e) { return e->op == IR_MUL; }

static ir_expr *fused(ir_func *func, const ir_expr *product, ir_expr *x, ir_expr *z, hdst__span span)
{
    ir_expr *e = hdst__ir_binary(func, IR_FMA, product->kind, x, product->b);
    e->c = z;
    e->span = span;
    return e;
}

static ir_expr *negated(ir_func *func, ir_expr *e) { return hdst__ir_unary(func, IR_NEG, e->kind, e); }

static bool place(ir_expr **slot, void *user)
{
    ir_func *func = user;
    ir_expr *e = *slot;
    if ((e->op != IR_ADD && e->op != IR_SUB) || !hdst__kind_is_float(e->kind)) return true;
    const bool minus = e->op == IR_SUB;
    if (is_product(e->a)) *slot = fused(func, e->a, e->a->a, minus ? negated(func, e->b) : e->b, e->span);
    else if (is_product(e->b)) *slot = fused(func, e->b, minus ? negated(func, e->b->a) : e->b->a, e->a, e->span);
    return true;
}

void hdst__pass_fma_placement(ir_func *func) { hdst__ir_visit_exprs(&func->body, place, func); }
