// SPDX-License-Identifier: Apache-2.0
// Folds what is known: constants, by the interpreter's own arithmetic; algebra that is exact for every operand; branches and loops that are never taken.
// Floating point is not reassociated, and only identities that keep every bit (also of -0 and infinities) are used.
//
// Before:  x = add(mul(p.n, 1), 0)        After:  x = p.n
//          q = not(lt(x, add(1, 2)))              q = ge(x, 3)
//          if false {
//            x = 7
//          }
#include "record/bit_pattern.h"
#include "codegen/ir/eval.h"
#include "codegen/ir/text_value.h"
#include "codegen/pass/passes.h"
#include "record/scalar_convert.h"

#include <math.h>

static bool is_const(const ir_expr *e) { return e && e->op == IR_CONST; }
static bool is_zero(const ir_expr *e) { return hdst__ir_is_const(e, 0); }

static uint64_t one_of(hdst__kind kind) { return kind == HDST__F32 ? hdst__of_f32(1) : kind == HDST__F64 ? hdst__of_f64(1) : 1; }
static bool is_one(const ir_expr *e) { return hdst__ir_is_const(e, one_of(e->kind)); }

static bool is_minus_zero(const ir_expr *e)
{
    return hdst__ir_is_const(e, e->kind == HDST__F32 ? hdst__of_f32(-0.0f) : hdst__of_f64(-0.0));
}

static ir_expr *constant(ir_func *func, const ir_expr *like, hdst__kind kind, uint64_t bits)
{
    ir_expr *e = hdst__ir_const(func, kind, bits);
    e->span = like->span;
    return e;
}

// --- Two operands ---

// A float that is never -0, so that adding +0 changes nothing.
static bool is_never_minus_zero(const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return !is_minus_zero(e);
    case IR_ABS: return true;
    case IR_MUL: return hdst__ir_expr_equal(e->a, e->b);
    case IR_ADD: return is_never_minus_zero(e->a) || is_never_minus_zero(e->b);
    case IR_CONVERT: return hdst__kind_is_integer(e->a->kind);
    default: return false;
    }
}

static bool is_infinity(const ir_expr *e, int sign)
{
    const double infinity = sign * (double)INFINITY;
    return is_const(e) && e->bits == (e->kind == HDST__F32 ? hdst__of_f32((float)infinity) : hdst__of_f64(infinity));
}

static ir_expr *fold_float(const ir_expr *e)
{
    switch (e->op) {
    case IR_ADD:
        if (is_minus_zero(e->b) || (is_zero(e->b) && is_never_minus_zero(e->a))) return e->a;
        return is_minus_zero(e->a) || (is_zero(e->a) && is_never_minus_zero(e->b)) ? e->b : NULL;
    case IR_SUB: return is_zero(e->b) ? e->a : NULL;
    case IR_MUL: return is_one(e->b) ? e->a : is_one(e->a) ? e->b : NULL;
    case IR_DIV: return is_one(e->b) ? e->a : NULL;
    case IR_MIN: return is_infinity(e->b, 1) ? e->a : is_infinity(e->a, 1) ? e->b : NULL;      // NaN stays NaN
    case IR_MAX: return is_infinity(e->b, -1) ? e->a : is_infinity(e->a, -1) ? e->b : NULL;
    default: return NULL;
    }
}

static ir_expr *fold_integer(ir_func *func, const ir_expr *e)
{
    switch (e->op) {
    case IR_ADD: case IR_OR: case IR_XOR: return is_zero(e->b) ? e->a : is_zero(e->a) ? e->b : NULL;
    case IR_SUB: case IR_SHL: case IR_SHR: return is_zero(e->b) ? e->a : NULL;
    case IR_MUL:
        if (is_zero(e->a) || is_zero(e->b)) return constant(func, e, e->kind, 0);
        return is_one(e->b) ? e->a : is_one(e->a) ? e->b : NULL;
    case IR_AND: return is_zero(e->a) || is_zero(e->b) ? constant(func, e, e->kind, 0) : NULL;
    case IR_DIV: return is_one(e->b) ? e->a : NULL;
    default: return NULL;
    }
}

static ir_expr *fold_bool(ir_func *func, const ir_expr *e)
{
    const bool is_and = e->op == IR_AND;
    if (e->op != IR_AND && e->op != IR_OR) return NULL;
    for (int swapped = 0; swapped < 2; swapped++) {
        const ir_expr *known = swapped ? e->b : e->a;
        if (is_const(known)) return (known->bits != 0) == is_and ? (swapped ? e->a : e->b) : constant(func, e, HDST__BOOL, !is_and);
    }
    return hdst__ir_expr_equal(e->a, e->b) ? e->a : NULL;
}

static ir_expr *fold_binary(ir_func *func, const ir_expr *e)
{
    hdst__kind kind = e->a->kind;
    if (is_const(e->a) && is_const(e->b)) return constant(func, e, e->kind, hdst__eval_binary(e->op, kind, e->a->bits, e->b->bits));
    if (e->op == IR_LT && is_zero(e->b) && hdst__kind_is_integer(kind) && !hdst__kind_is_signed(kind)) return constant(func, e, HDST__BOOL, 0);
    if (e->op >= IR_LT && e->op <= IR_NE) return NULL;
    if (kind == HDST__BOOL) return fold_bool(func, e);
    return hdst__kind_is_float(kind) ? fold_float(e) : fold_integer(func, e);
}

// --- One operand ---

static ir_op opposite(ir_op op)
{
    switch (op) {
    case IR_LT: return IR_GE;
    case IR_LE: return IR_GT;
    case IR_GT: return IR_LE;
    case IR_GE: return IR_LT;
    case IR_EQ: return IR_NE;
    default: return IR_EQ;
    }
}

static ir_expr *fold_not(ir_func *func, const ir_expr *e)
{
    const ir_expr *a = e->a;
    if (a->op == IR_NOT) return a->a;
    const bool turns = a->op == IR_EQ || a->op == IR_NE || (a->op >= IR_LT && a->op <= IR_GE && !hdst__kind_is_float(a->a->kind));     // NaN is in no order
    return turns ? hdst__ir_binary(func, opposite(a->op), HDST__BOOL, a->a, a->b) : NULL;
}

// Every value of `from` is one of `to`.
static bool widens(hdst__kind from, hdst__kind to)
{
    if (!hdst__kind_is_integer(from) || !hdst__kind_is_integer(to)) return from == HDST__F32 && to == HDST__F64;
    if (hdst__kind_is_signed(from) && !hdst__kind_is_signed(to)) return false;
    uint64_t a = hdst__scalar_size(from), b = hdst__scalar_size(to);
    return hdst__kind_is_signed(from) == hdst__kind_is_signed(to) ? b >= a : b > a;
}

static ir_expr *fold_convert(ir_func *func, const ir_expr *e)
{
    if (e->kind == e->a->kind) return e->a;
    const ir_expr *inner = e->a;
    if (inner->op != IR_CONVERT || !widens(inner->a->kind, inner->kind)) return NULL;
    if (hdst__kind_is_float(inner->kind) && !hdst__kind_is_float(e->kind)) return NULL;     // f32 -> f64 -> integer is exact too, but rare
    return hdst__ir_convert(func, e->kind, inner->a);
}

// What is asked of a text that the program has written.
static ir_expr *fold_text(ir_func *func, const ir_expr *e)
{
    if (!is_const(e->a) || (e->b && !is_const(e->b)) || (e->c && !is_const(e->c))) return NULL;
    const hdst__text_value *text = (const hdst__text_value *)(uintptr_t)e->a->bits;
    switch (e->op) {
    case IR_TEXT_LENGTH: return constant(func, e, e->kind, text ? text->length : 0);
    case IR_TEXT_BYTE: return constant(func, e, e->kind, hdst__text_byte(text, e->b->bits));
    case IR_TEXT_BITS: return constant(func, e, e->kind, hdst__text_bits(text, e->b->bits, e->c->bits));
    case IR_TEXT_WORD: return constant(func, e, e->kind, hdst__text_word(text, e->b->bits));
    default: return NULL;
    }
}

static ir_expr *fold_unary(ir_func *func, const ir_expr *e)
{
    if (e->op == IR_FIXED || e->op == IR_FITS) return NULL;     // the scale is not known
    if (e->a->kind == HDST__TEXT) return fold_text(func, e);
    if (is_const(e->a)) {
        uint64_t bits = e->op == IR_CONVERT ? hdst__scalar_convert(e->kind, e->a->kind, e->a->bits) : hdst__eval_unary(e->op, e->kind, e->a->kind, e->a->bits);
        return e->op == IR_KEY_MIN || e->op == IR_KEY_MAX ? NULL : constant(func, e, e->kind, bits);
    }
    switch (e->op) {
    case IR_NEG: case IR_BITNOT: return e->a->op == e->op ? e->a->a : NULL;
    case IR_NOT: return fold_not(func, e);
    case IR_CONVERT: return fold_convert(func, e);
    default: return NULL;
    }
}

// --- Three operands ---

static ir_expr *fold_select(ir_func *func, const ir_expr *e)
{
    if (is_const(e->a)) return e->a->bits ? e->b : e->c;
    if (hdst__ir_expr_equal(e->b, e->c)) return e->b;
    if (e->kind == HDST__BOOL && is_const(e->b) && is_const(e->c)) return e->b->bits ? e->a : hdst__ir_unary(func, IR_NOT, HDST__BOOL, e->a);
    return NULL;
}

static ir_expr *fold_fma(ir_func *func, const ir_expr *e)
{
    if (is_const(e->a) && is_const(e->b) && is_const(e->c))
        return constant(func, e, e->kind, hdst__eval_fma(e->kind, e->a->bits, e->b->bits, e->c->bits));
    if (is_zero(e->c) && hdst__ir_expr_equal(e->a, e->b)) return hdst__ir_binary(func, IR_MUL, e->kind, e->a, e->b);    // a square is never -0
    return NULL;
}

static ir_expr *fold_element(ir_func *func, const ir_expr *e)       // of a constant array
{
    const ir_var *var = &func->vars[e->var];
    return var->init && is_const(e->a) && e->a->bits < var->elements ? constant(func, e, e->kind, var->init[e->a->bits]) : NULL;
}

static bool fold_expr(ir_expr **slot, void *user)
{
    ir_func *func = user;
    const ir_expr *e = *slot;
    ir_expr *folded = NULL;
    if (e->op >= IR_ADD && e->op <= IR_NE) folded = fold_binary(func, e);
    else if (e->op == IR_SELECT) folded = fold_select(func, e);
    else if (e->op == IR_FMA) folded = fold_fma(func, e);
    else if (e->op == IR_ELEM) folded = fold_element(func, e);
    else if (e->op == IR_TEXT_BYTE || e->op == IR_TEXT_WORD || e->op == IR_TEXT_BITS) folded = fold_text(func, e);
    else if (e->a && !e->b && e->op >= IR_NEG) folded = fold_unary(func, e);
    if (folded) *slot = folded;
    return true;
}

// --- Statements ---

static void fold_block(ir_func *func, ir_block *block);

static bool is_empty_range(const ir_stmt *s)
{
    return is_const(s->lo) && is_const(s->hi) && hdst__eval_binary(IR_GE, s->lo->kind, s->lo->bits, s->hi->bits);
}

static bool sets_itself(const ir_stmt *s) { return s->kind == IR_SET && s->value->op == IR_VAR && s->value->var == s->var; }

// What stands in the statement's place.
static void fold_stmt(ir_func *func, ir_block *out, ir_stmt *s)
{
    ir_block *nested[HDST__IR_NESTED];
    for (int i = 0, count = hdst__ir_nested(s, nested); i < count; i++) fold_block(func, nested[i]);
    const ir_block *instead = NULL;
    static const ir_block nothing = {0};
    if (s->kind == IR_IF && is_const(s->cond)) instead = s->cond->bits ? &s->then : &s->otherwise;
    else if (s->kind == IR_IF && !s->then.count && !s->otherwise.count) instead = &nothing;
    else if (s->kind == IR_FOR && (is_empty_range(s) || !s->body.count)) instead = &nothing;
    else if (s->kind == IR_LOOP && is_zero(s->cond) && !hdst__ir_block_exits(&s->head)) instead = &s->head;
    else if (s->kind == IR_CHECK && is_const(s->cond) && s->cond->bits) instead = &nothing;
    else if (sets_itself(s)) instead = &nothing;
    if (!instead) {
        hdst__ir_push(func, out, s);
        return;
    }
    for (size_t i = 0; i < instead->count; i++) hdst__ir_push(func, out, instead->items[i]);
}

static bool leaves_for_good(const ir_block *block)
{
    const ir_stmt_kind last = block->count ? block->items[block->count - 1]->kind : IR_SET;
    return last == IR_BREAK || last == IR_CONTINUE || last == IR_RETURN;
}

// What stands behind a jump never runs: no check of it may be asked, and no pass takes it for something that may.
static void fold_block(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count && !leaves_for_good(&out); i++) fold_stmt(func, &out, block->items[i]);
    *block = out;
}

void hdst__pass_constant_folding(ir_func *func)
{
    hdst__ir_visit_exprs(&func->body, fold_expr, func);
    fold_block(func, &func->body);
}
