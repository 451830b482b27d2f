// SPDX-License-Identifier: Apache-2.0
// Conversions: C's promotions and usual arithmetic conversions, made explicit.
#include "codegen/front/check.h"
#include "codegen/front/ast.h"
#include "record/scalar_convert.h"

#include <math.h>
#include <string.h>

hdst__kind hdst__check_promote(hdst__kind kind)
{
    switch (kind) {
    case HDST__BOOL: case HDST__I8: case HDST__I16: case HDST__U8: case HDST__U16: return HDST__I32;
    default: return kind;
    }
}

hdst__kind hdst__check_common(hdst__kind a, hdst__kind b)
{
    a = hdst__check_promote(a);
    b = hdst__check_promote(b);
    // By rank; of equal rank the unsigned one. I64 holds every U32, so it wins over it.
    static const hdst__kind order[] = {HDST__F64, HDST__F32, HDST__U64, HDST__I64, HDST__U32, HDST__I32};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i]) return order[i];
    return HDST__I32;
}

bool hdst__check_is_arithmetic(const hdst__type *type) { return type->kind < HDST__TEXT; }

static double number_value(hdst__kind kind, uint64_t bits)
{
    double value;
    uint64_t wide = kind == HDST__F64 ? bits : hdst__scalar_convert(HDST__F64, kind, bits);
    memcpy(&value, &wide, sizeof value);
    return value;
}

// Warns of a constant that changes when it is converted without a cast: probably a mistake. Not of -1 for the largest unsigned
// number, which is usual in C, nor of double to float, which only rounds.
static void warn_if_changed(hdst__checker *c, const ast_expr *expr, hdst__kind kind, uint64_t bits)
{
    if (kind == HDST__BOOL || hdst__kind_is_float(kind) || !hdst__check_is_arithmetic(expr->type)) return;
    hdst__kind from = expr->type->kind;
    if (hdst__kind_is_integer(from) && (int64_t)expr->number.bits == -1 && !hdst__kind_is_signed(kind)) return;
    double before = number_value(from, expr->number.bits), after = number_value(kind, bits);
    if (before == after) return;
    hdst__diag_warning(c->diags, expr->span, "write a cast if that is meant", "%.17g does not fit %s and becomes %.17g", before,
                       hdst__scalar_c_name(kind), after);
}

ast_expr *hdst__check_to_kind(hdst__checker *c, ast_expr *expr, hdst__kind kind)
{
    if (expr->type->kind == kind || hdst__check_is_poison(expr->type)) return expr;
    if (expr->kind == AST_NUMBER) {
        uint64_t bits = hdst__scalar_convert(kind, expr->type->kind, expr->number.bits);
        warn_if_changed(c, expr, kind, bits);
        return hdst__check_number(c, expr->span, kind, bits);
    }
    ast_expr *convert = HDST__NEW(c->arena, ast_expr);
    *convert = (ast_expr){.kind = AST_CONVERT, .span = expr->span, .builtin = -1, .implied = true, .left = expr, .type = hdst__type_scalar(kind),
        .height = expr->height + 1};
    return convert;
}

ast_expr *hdst__check_to_type(hdst__checker *c, ast_expr *expr, const hdst__type *type, const char *what)
{
    if (hdst__check_is_poison(expr->type) || hdst__check_is_poison(type)) return expr;
    if (hdst__check_is_arithmetic(type) && hdst__check_is_arithmetic(expr->type)) return hdst__check_to_kind(c, expr, type->kind);
    if (hdst__type_equal(expr->type, type)) return expr;
    const char *hint = NULL;
    if (expr->type->kind == HDST__RECORD && hdst__check_is_arithmetic(type) && expr->type->record->field_count == 1)
        hint = hdst__arena_printf(c->arena, "its field is .%s", expr->type->record->fields[0].name);
    hdst__diag_error(c->diags, expr->span, hint, "%s must be %s, not %s", what, hdst__check_type_name(c, type), hdst__check_type_name(c, expr->type));
    return hdst__check_poisoned(expr);
}

ast_expr *hdst__check_condition(hdst__checker *c, ast_expr *expr, const char *what)
{
    expr = hdst__check_value(c, expr);
    if (hdst__check_is_poison(expr->type)) return expr;
    if (hdst__check_is_arithmetic(expr->type)) return hdst__check_to_kind(c, expr, HDST__BOOL);
    hdst__diag_error(c->diags, expr->span, NULL, "%s must be a number or bool, not %s", what, hdst__check_type_name(c, expr->type));
    return hdst__check_poisoned(expr);
}
