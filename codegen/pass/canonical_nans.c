// SPDX-License-Identifier: Apache-2.0
// The NaNs that a function gives become one: processors make them with signs and payloads of their own, and no device shall show which one it is
// (docs/kernel-language.md, Numeric rules). Inside a function nobody can tell, so it is enough to look at what is stored, and there only where it may be a NaN.
// Sums, minima and maxima see to their NaNs themselves (accum/representation.h), folds of records at their end (kernel_fold.c, interp_fold.c).
//
// Before:  store result.y = mul(p.x, p.y)      After:  store result.y = canonical(mul(p.x, p.y))
//          store result.n = f32(p.k)                   store result.n = f32(p.k)
#include "codegen/pass/passes.h"

enum { MOST_ROUNDS = 4 };       // variables that wait for one another in longer chains count as any number

typedef struct numbers {
    ir_func *func;
    bool *is_number;            // by variable: it never holds a NaN. Of arrays: no element does
    bool changed;
} numbers;

// The exponent has all bits set; with a fraction it is a NaN.
static bool is_finite_const(hdst__kind kind, uint64_t bits)
{
    const uint64_t exponent = kind == HDST__F32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
    return (bits & exponent) != exponent;
}

static bool is_nan_const(hdst__kind kind, uint64_t bits)
{
    const uint64_t fraction = kind == HDST__F32 ? 0x7fffff : UINT64_C(0xfffffffffffff);
    return !is_finite_const(kind, bits) && (bits & fraction);
}

// Neither a NaN nor an infinity. Every integer is within a float's range.
static bool is_finite(const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return is_finite_const(e->kind, e->bits);
    case IR_CONVERT: return !hdst__kind_is_float(e->a->kind) || (e->a->kind == HDST__F32 && is_finite(e->a));
    case IR_NEG: case IR_ABS: return is_finite(e->a);
    case IR_MIN: case IR_MAX: return is_finite(e->a) && is_finite(e->b);
    case IR_SELECT: return is_finite(e->b) && is_finite(e->c);
    default: return false;
    }
}

// Never a NaN. Of finite numbers sums and products may overflow, no more.
static bool is_number(const numbers *n, const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return !is_nan_const(e->kind, e->bits);
    case IR_VAR: case IR_ELEM: return n->is_number[e->var];
    case IR_CONVERT: return !hdst__kind_is_float(e->a->kind) || is_number(n, e->a);
    case IR_NEG: case IR_ABS: return is_number(n, e->a);
    case IR_MIN: case IR_MAX: return is_number(n, e->a) && is_number(n, e->b);
    case IR_SELECT: return is_number(n, e->b) && is_number(n, e->c);
    case IR_ADD: case IR_SUB: case IR_MUL: return is_finite(e->a) && is_finite(e->b);
    case IR_FMA: return is_finite(e->a) && is_finite(e->b) && is_finite(e->c);
    default: return false;
    }
}

static bool meet_set(ir_stmt *s, void *user)
{
    numbers *n = user;
    if ((s->kind != IR_SET && s->kind != IR_SET_ELEM) || !n->is_number[s->var] || is_number(n, s->value)) return true;
    n->is_number[s->var] = false;
    n->changed = true;
    return true;
}

// Takes all for numbers, and finds those that are set to what is not known to be one, until there are no more. Local variables begin at zero.
static void find_numbers(numbers *n)
{
    const ir_func *func = n->func;
    n->is_number = HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1);
    for (size_t v = 0; v < func->var_count; v++) {
        n->is_number[v] = hdst__kind_is_float(func->vars[v].kind);
        for (uint64_t e = 0; func->vars[v].init && e < func->vars[v].elements; e++)
            if (is_nan_const(func->vars[v].kind, func->vars[v].init[e])) n->is_number[v] = false;
    }
    n->changed = true;
    for (int round = 0; n->changed && round < MOST_ROUNDS; round++) {
        n->changed = false;
        hdst__ir_visit_stmts(&n->func->body, meet_set, n);
    }
    for (size_t v = 0; n->changed && v < func->var_count; v++) n->is_number[v] = false;
}

static bool meet_store(ir_stmt *s, void *user)
{
    const numbers *n = user;
    if (s->kind != IR_STORE || !hdst__kind_is_float(s->value->kind) || s->value->op == IR_CANONICAL || is_number(n, s->value)) return true;
    ir_expr *value = hdst__ir_unary(n->func, IR_CANONICAL, s->value->kind, s->value);
    value->span = s->value->span;
    value->varying = s->value->varying;
    s->value = value;
    return true;
}

static bool is_fold(const ir_func *func) { return func->param_count > 1 && func->params[1].kind == IR_INPUT; }

void hdst__pass_canonical_nans(ir_func *func)
{
    numbers n = {.func = func};
    if (!func->makes || is_fold(func)) return;
    find_numbers(&n);
    hdst__ir_visit_stmts(&func->body, meet_store, &n);
}
