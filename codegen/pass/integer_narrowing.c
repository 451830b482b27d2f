// SPDX-License-Identifier: Apache-2.0
// Arithmetic on small integers in their own size. C promotes bytes and 16-bit numbers to int and cuts the result back where it is stored. Sums, differences,
// products, bits and shifts to the left leave the same low bits in the small type, and a vector holds four or two times as many of those. Compilers find that
// out for one statement, not for the chains that unrolling makes.
//
// Before: v = u8(add(xor(i32(v), i32(k)), shr(i32(v), 1u))); taken = lt(i32(v), 100)
// After:  v = add(xor(v, k), shr(v, 1u));                    taken = lt(v, 100u8)
//
// What looks at high bits too (shifts to the right, minimum, comparisons) is taken when all that goes in is a small number widened: then the result is as well.
// Where a leaf is a wide number that varies, nothing changes: it would have to be cut first. For CPU devices; registers of a GPU's lane are 32 bits wide.
#include "codegen/pass/block_form.h"
#include "codegen/ir/ir.h"
#include "record/scalar_convert.h"

static bool is_small(hdst__kind kind, const ir_expr *than) { return hdst__kind_is_integer(kind) && hdst__scalar_size(kind) < hdst__scalar_size(than->kind); }

static ir_expr *made(const ir_expr *like, ir_expr *e)
{
    e->varying = like->varying;
    e->span = like->span;
    return e;
}

static ir_expr *with_operands(ir_func *func, const ir_expr *e, hdst__kind kind, ir_expr *a, ir_expr *b, ir_expr *c)
{
    ir_expr *copy = hdst__ir_unary(func, e->op, kind, a);
    copy->b = b;
    copy->c = c;
    return made(e, copy);
}

// --- Values that are small numbers widened ---

// The same value in `kind`; NULL: it may be out of range.
static ir_expr *exact(ir_func *func, ir_expr *e, hdst__kind kind);

static ir_expr *exact_convert(ir_func *func, ir_expr *e, hdst__kind kind)
{
    const hdst__kind from = e->a->kind;
    if (hdst__kind_is_signed(from) && !hdst__kind_is_signed(e->kind)) return NULL;      // a large number where it was negative
    if (from == kind) return e->a;
    const bool fits = from == HDST__BOOL || (is_small(from, &(ir_expr){.kind = kind}) && (!hdst__kind_is_signed(from) || hdst__kind_is_signed(kind)));
    return fits ? made(e, hdst__ir_convert(func, kind, e->a)) : NULL;
}

static ir_expr *exact_const(ir_func *func, const ir_expr *e, hdst__kind kind)
{
    const uint64_t cut = hdst__scalar_convert(kind, e->kind, e->bits);
    if (hdst__kind_is_signed(kind) && !hdst__kind_is_signed(e->kind) && (int64_t)cut < 0) return NULL;       // a large number, not a negative one
    return hdst__scalar_convert(e->kind, kind, cut) == e->bits ? hdst__ir_const(func, kind, cut) : NULL;
}

static ir_expr *exact(ir_func *func, ir_expr *e, hdst__kind kind)
{
    ir_expr *a, *b;
    switch (e->op) {
    case IR_CONST: return exact_const(func, e, kind);
    case IR_CONVERT: return exact_convert(func, e, kind);
    case IR_AND: case IR_OR: case IR_XOR: case IR_MIN: case IR_MAX:
        a = exact(func, e->a, kind);
        b = a ? exact(func, e->b, kind) : NULL;
        return b ? with_operands(func, e, kind, a, b, NULL) : NULL;
    case IR_SELECT:
        a = exact(func, e->b, kind);
        b = a ? exact(func, e->c, kind) : NULL;
        return b ? with_operands(func, e, kind, e->a, a, b) : NULL;
    case IR_SHR:
        a = e->b->op == IR_CONST && e->b->bits < 8 * hdst__scalar_size(kind) ? exact(func, e->a, kind) : NULL;
        return a ? with_operands(func, e, kind, a, e->b, NULL) : NULL;
    default: return NULL;
    }
}

// --- Low bits ---

// e cut to `kind`, a smaller one; NULL: a wide number that varies would have to be cut on the way.
static ir_expr *low_bits(ir_func *func, ir_expr *e, hdst__kind kind);

static ir_expr *low_leaf(ir_func *func, ir_expr *e, hdst__kind kind)
{
    if (e->op == IR_CONST) return hdst__ir_const(func, kind, hdst__scalar_convert(kind, e->kind, e->bits));
    if (e->op == IR_CONVERT && e->a->kind == HDST__BOOL) return made(e, hdst__ir_convert(func, kind, e->a));
    if (e->op == IR_CONVERT && hdst__kind_is_integer(e->a->kind)) {
        if (hdst__scalar_size(e->a->kind) <= hdst__scalar_size(kind)) return made(e, hdst__ir_convert(func, kind, e->a));
        return low_bits(func, e->a, kind);
    }
    return e->varying ? NULL : hdst__ir_convert(func, kind, e);
}

static ir_expr *low_bits(ir_func *func, ir_expr *e, hdst__kind kind)
{
    ir_expr *a, *b;
    switch (e->op) {
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_AND: case IR_OR: case IR_XOR:
        a = low_bits(func, e->a, kind);
        b = a ? low_bits(func, e->b, kind) : NULL;
        return b ? with_operands(func, e, kind, a, b, NULL) : NULL;
    case IR_NEG: case IR_BITNOT:
        a = low_bits(func, e->a, kind);
        return a ? with_operands(func, e, kind, a, NULL, NULL) : NULL;
    case IR_SHL:
        a = e->b->op == IR_CONST && e->b->bits < 8 * hdst__scalar_size(kind) ? low_bits(func, e->a, kind) : NULL;
        return a ? with_operands(func, e, kind, a, e->b, NULL) : NULL;
    case IR_SELECT:
        a = low_bits(func, e->b, kind);
        b = a ? low_bits(func, e->c, kind) : NULL;
        return b ? with_operands(func, e, kind, e->a, a, b) : NULL;
    case IR_SHR: case IR_MIN: case IR_MAX: return exact(func, e, kind);
    default: return low_leaf(func, e, kind);
    }
}

// --- The pass ---

// The kind of the first small number that was widened; the expression's own when there is none.
static hdst__kind widened_kind(const ir_expr *e)
{
    if (e->op == IR_CONVERT) return is_small(e->a->kind, e) ? e->a->kind : e->kind;
    if (e->op == IR_SELECT) return widened_kind(e->b);
    return e->a && e->a->kind == e->kind ? widened_kind(e->a) : e->kind;
}

static bool is_comparison(ir_op op) { return op >= IR_LT && op <= IR_NE; }

static void narrow_comparison(ir_func *func, ir_expr *e)
{
    const hdst__kind left = widened_kind(e->a), kind = left != e->a->kind ? left : widened_kind(e->b);
    if (kind == e->a->kind) return;
    ir_expr *a = exact(func, e->a, kind), *b = a ? exact(func, e->b, kind) : NULL;
    if (!b) return;
    e->a = a;
    e->b = b;
}

static bool narrow(ir_expr **slot, void *user)
{
    ir_func *func = user;
    ir_expr *e = *slot;
    if (is_comparison(e->op) && hdst__kind_is_integer(e->a->kind)) narrow_comparison(func, e);
    if (e->op != IR_CONVERT || !hdst__kind_is_integer(e->kind) || !hdst__kind_is_integer(e->a->kind) || !is_small(e->kind, e->a)) return true;
    ir_expr *small = low_bits(func, e->a, e->kind);
    if (small) *slot = small;
    return true;
}

void hdst__pass_integer_narrowing(ir_func *func) { hdst__ir_visit_exprs(&func->body, narrow, func); }
