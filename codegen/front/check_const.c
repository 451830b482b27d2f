// SPDX-License-Identifier: Apache-2.0
// Values of constant expressions (array sizes, enum values, constants, cases), computed with the interpreter's arithmetic.
#include "codegen/front/check.h"
#include "codegen/ir/eval.h"
#include "record/scalar_convert.h"

#include <inttypes.h>

static const ir_op unary_ops[] = {[AST_NEG] = IR_NEG, [AST_NOT] = IR_NOT, [AST_BITNOT] = IR_BITNOT};
static const ir_op binary_ops[] = {
    [AST_ADD] = IR_ADD, [AST_SUB] = IR_SUB, [AST_MUL] = IR_MUL, [AST_DIV] = IR_DIV, [AST_REM] = IR_REM, [AST_SHL] = IR_SHL, [AST_SHR] = IR_SHR,
    [AST_AND] = IR_AND, [AST_OR] = IR_OR, [AST_XOR] = IR_XOR, [AST_LT] = IR_LT, [AST_LE] = IR_LE, [AST_GT] = IR_GT, [AST_GE] = IR_GE,
    [AST_EQ] = IR_EQ, [AST_NE] = IR_NE, [AST_LOGAND] = IR_AND, [AST_LOGOR] = IR_OR,
};

ast_expr *hdst__check_number(hdst__checker *c, hdst__span span, hdst__kind kind, uint64_t bits)
{
    ast_expr *number = HDST__NEW(c->arena, ast_expr);
    *number = (ast_expr){.kind = AST_NUMBER, .span = span, .builtin = -1, .type = hdst__type_scalar(kind), .number = {bits}, .height = 1};
    return number;
}

static bool no_constant(hdst__checker *c, const ast_expr *expr, bool quiet)
{
    if (!quiet) hdst__diag_error(c->diags, expr->span, "constants are made of numbers, const, enum, param and operators", "this must be a constant");
    return false;
}

static bool binary(hdst__checker *c, const ast_expr *e, uint64_t *bits, bool quiet)
{
    uint64_t a, b;
    if (!hdst__check_constant(c, e->left, &a, quiet)) return false;
    if (e->op == AST_LOGAND && !a) return *bits = 0, true;
    if (e->op == AST_LOGOR && a) return *bits = 1, true;
    if (!hdst__check_constant(c, e->right, &b, quiet)) return false;
    hdst__kind kind = e->left->type->kind;
    if ((e->op == AST_DIV || e->op == AST_REM) && hdst__kind_is_integer(kind) && b == 0) {
        bool reported = e->right->kind == AST_NUMBER;       // when it was typed
        if (!quiet && !reported) hdst__diag_error(c->diags, e->op_span, NULL, "division by zero");
        return false;
    }
    *bits = hdst__eval_binary(binary_ops[e->op], kind, a, b);
    return true;
}

bool hdst__check_constant(hdst__checker *c, const ast_expr *e, uint64_t *bits, bool quiet)
{
    uint64_t a;
    if (hdst__check_is_poison(e->type)) return false;
    switch (e->kind) {
    case AST_NUMBER: *bits = e->number.bits; return true;
    case AST_BINARY: return e->type->kind < HDST__TEXT && e->left->type->kind < HDST__TEXT ? binary(c, e, bits, quiet) : no_constant(c, e, quiet);
    case AST_UNARY:
        if (!hdst__check_constant(c, e->left, &a, quiet)) return false;
        *bits = e->op == AST_PLUS ? a : hdst__eval_unary(unary_ops[e->op], e->type->kind, e->left->type->kind, a);
        return true;
    case AST_CONVERT:
        if (!hdst__check_constant(c, e->left, &a, quiet)) return false;
        *bits = hdst__scalar_convert(e->type->kind, e->left->type->kind, a);
        return true;
    case AST_TERNARY:
        if (!hdst__check_constant(c, e->left, &a, quiet)) return false;
        return hdst__check_constant(c, a ? e->right : e->third, bits, quiet);
    default: return no_constant(c, e, quiet);
    }
}

bool hdst__check_constant_size(hdst__checker *c, ast_expr *expr, const char *what, uint64_t least, uint64_t most, uint64_t *value)
{
    expr = hdst__check_value(c, expr);
    if (hdst__check_is_poison(expr->type)) return false;
    if (!hdst__kind_is_integer(expr->type->kind)) {
        hdst__diag_error(c->diags, expr->span, NULL, "%s must be an integer, not %s", what, hdst__check_type_name(c, expr->type));
        return false;
    }
    if (!hdst__check_constant(c, expr, value, false)) return false;
    if (hdst__kind_is_signed(expr->type->kind) && (int64_t)*value < 0) {
        hdst__diag_error(c->diags, expr->span, NULL, "%s must not be negative; it is %" PRId64, what, (int64_t)*value);
        return false;
    }
    if (*value >= least && *value <= most) return true;
    hdst__diag_error(c->diags, expr->span, NULL, "%s must be %" PRIu64 " to %" PRIu64 "; it is %" PRIu64, what, least, most, *value);
    return false;
}
