// SPDX-License-Identifier: Apache-2.0
// Expressions of the IR as OpenCL C. What C leaves open (overflow, wide shifts, division by zero, conversions out of range) goes through functions of the
// prelude.
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_constant.h"

#include <inttypes.h>

// --- Operators ---

// How tightly the text of print_expr holds together.
static hdst__precedence precedence_of(const ir_expr *expr)
{
    switch (expr->op) {
    case IR_VAR: case IR_ELEM: case IR_BROADCAST: case IR_FMA: case IR_SQRT: case IR_ABS: case IR_MIN: case IR_MAX: case IR_FIXED: case IR_FITS:
    case IR_KEY_MIN: case IR_KEY_MAX: case IR_LENGTH: case IR_CANONICAL: case IR_CTZ: case IR_TEXT_LENGTH: case IR_TEXT_BYTE:
    case IR_TEXT_WORD: case IR_TEXT_BITS:
    case IR_TEXT_SLICE: case IR_TEXT_TOKENS: case IR_TEXT_VIEW: case IR_GROUP_VALUE: return HDST__PRIMARY;     // a name or a call
    case IR_FIELD: return expr->kind != HDST__BOOL ? HDST__PRIMARY : HDST__WHOLE;
    case IR_CONVERT: return expr->kind != HDST__BOOL ? HDST__OPERAND : HDST__WHOLE;     // a cast or a call
    case IR_CONST:              // a number without a sign
        if (hdst__kind_is_float(expr->kind)) return expr->bits >> (expr->kind == HDST__F32 ? 31 : 63) ? HDST__WHOLE : HDST__PRIMARY;
        return !hdst__kind_is_signed(expr->kind) || (int64_t)expr->bits >= 0 ? HDST__PRIMARY : HDST__WHOLE;
    default: return HDST__WHOLE;
    }
}

static void print_bare(hdst__printer *p, const ir_expr *expr);

static void print_expr(hdst__printer *p, const ir_expr *expr, hdst__precedence where)
{
    const bool bare = precedence_of(expr) >= where;
    if (!bare) hdst__write(&p->out, "(");
    print_bare(p, expr);
    if (!bare) hdst__write(&p->out, ")");
}

static void print_call(hdst__printer *p, const char *name, hdst__kind suffix, const ir_expr *a, const ir_expr *b)
{
    hdst__write(&p->out, "%s_%s(", name, hdst__cl_name(suffix));
    print_expr(p, a, HDST__WHOLE);
    if (b) hdst__write(&p->out, ", ");
    if (b) print_expr(p, b, HDST__WHOLE);
    hdst__write(&p->out, ")");
}

// A function of the prelude that exists for each kind.
static void print_part_call(hdst__printer *p, const char *name, const ir_expr *expr)
{
    const hdst__kind kind = expr->a->kind;
    print_call(p, name, kind, expr->a, expr->b);
}

static void print_infix(hdst__printer *p, const char *op, const ir_expr *expr)
{
    print_expr(p, expr->a, HDST__OPERAND);
    hdst__write(&p->out, " %s ", op);
    print_expr(p, expr->b, HDST__OPERAND);
}

typedef struct spelling {
    const char *infix;      // where C's operator means the same
    const char *function;   // elsewhere
} spelling;

static spelling spelling_of(ir_op op)
{
    switch (op) {
    case IR_ADD: return (spelling){"+", "add"};
    case IR_SUB: return (spelling){"-", "sub"};
    case IR_MUL: return (spelling){"*", "mul"};
    case IR_DIV: return (spelling){"/", "div"};
    case IR_REM: return (spelling){"%", "rem"};
    case IR_SHL: return (spelling){NULL, "shl"};
    case IR_SHR: return (spelling){NULL, "shr"};
    case IR_MIN: return (spelling){NULL, "min"};
    case IR_MAX: return (spelling){NULL, "max"};
    case IR_NEG: return (spelling){NULL, "neg"};
    case IR_ABS: return (spelling){NULL, "abs"};
    case IR_AND: return (spelling){"&", NULL};
    case IR_OR: return (spelling){"|", NULL};
    case IR_XOR: return (spelling){"^", NULL};
    case IR_LT: return (spelling){"<", NULL};
    case IR_LE: return (spelling){"<=", NULL};
    case IR_GT: return (spelling){">", NULL};
    case IR_GE: return (spelling){">=", NULL};
    case IR_EQ: return (spelling){"==", NULL};
    case IR_NE: return (spelling){"!=", NULL};
    default: return (spelling){NULL, NULL};
    }
}

// Whether C's own operator is right: floats, and unsigned integers that are not promoted to int; bits and comparisons always.
static bool infix_is_right(const hdst__printer *p, const ir_expr *expr)
{
    const hdst__kind kind = expr->a->kind;
    switch (expr->op) {
    case IR_DIV: case IR_REM:
        if (kind == HDST__U32 || kind == HDST__U64) return expr->b->op == IR_CONST && expr->b->bits != 0;
        return kind == HDST__F64 || (kind == HDST__F32 && (p->options->facts.correctly_rounded || !p->options->facts.has_double));
    case IR_ADD: case IR_SUB: case IR_MUL: return hdst__kind_is_float(kind) || kind == HDST__U32 || kind == HDST__U64;
    default: return spelling_of(expr->op).infix != NULL;
    }
}

static void print_min_max(hdst__printer *p, const ir_expr *expr)
{
    if (expr->kind == HDST__BOOL) {
        hdst__write(&p->out, "(");
        print_infix(p, expr->op == IR_MIN ? "&" : "|", expr);
        hdst__write(&p->out, ")");
    } else {
        print_part_call(p, spelling_of(expr->op).function, expr);
    }
}

// A number of 32 bits below the rows of a table: GPUs compare 64 bits in steps. That a table is that long is found out once.
static bool print_below_rows(hdst__printer *p, const ir_expr *expr)
{
    const ir_expr *index = expr->a;
    if (!p->gpu || expr->op != IR_LT || expr->b->op != IR_LENGTH || index->op != IR_CONVERT) return false;
    if (hdst__kind_is_signed(index->a->kind) || !hdst__kind_is_integer(index->a->kind) || hdst__scalar_size(index->a->kind) > 4) return false;
    hdst__write(&p->out, "below_rows(%s", hdst__expr_text(p, index->a, HDST__WHOLE));
    hdst__write(&p->out, ", %s)", hdst__expr_text(p, expr->b, HDST__WHOLE));
    return true;
}

static void print_binary(hdst__printer *p, const ir_expr *expr)
{
    const spelling words = spelling_of(expr->op);
    p->rounds |= expr->op == IR_DIV && expr->kind == HDST__F32;
    if (print_below_rows(p, expr)) return;
    if (expr->op == IR_MIN || expr->op == IR_MAX) {
        print_min_max(p, expr);
    } else if (infix_is_right(p, expr)) {
        print_infix(p, words.infix, expr);
    } else if (expr->op == IR_DIV && expr->kind == HDST__F32) {
        p->uses_double = true;
        print_call(p, "div", HDST__F32, expr->a, expr->b);
    } else {
        print_part_call(p, words.function, expr);
    }
}

static void print_unary(hdst__printer *p, const ir_expr *expr)
{
    const bool is_float = hdst__kind_is_float(expr->kind);
    const char *prefix = expr->op == IR_NOT ? "!" : expr->op == IR_BITNOT ? "~" : "-";
    if (expr->op == IR_BITNOT) hdst__write(&p->out, "(%s)", hdst__cl_name(expr->kind));
    if (expr->op == IR_NOT || expr->op == IR_BITNOT || (expr->op == IR_NEG && is_float)) {
        hdst__write(&p->out, "%s", prefix);
        print_expr(p, expr->a, HDST__PRIMARY);
    } else if (expr->op == IR_ABS && is_float) {
        hdst__write(&p->out, "fabs(%s)", hdst__expr_text(p, expr->a, HDST__WHOLE));
    } else {
        print_part_call(p, spelling_of(expr->op).function, expr);
    }
}

static void print_sqrt(hdst__printer *p, const ir_expr *expr)
{
    p->rounds |= expr->kind == HDST__F32;
    const bool own = expr->kind == HDST__F32 && !p->options->facts.correctly_rounded && p->options->facts.has_double;
    if (own) p->uses_double = true;
    hdst__write(&p->out, own ? "sqrt_float(%s)" : "sqrt(%s)", hdst__expr_text(p, expr->a, HDST__WHOLE));
}

// --- Conversions and choices ---

static void print_convert(hdst__printer *p, const ir_expr *expr)
{
    const hdst__kind from = expr->a->kind, to = expr->kind;
    if (p->lanes) {
        // Not by convert_double16 and its like: PoCL 3.1 knows none of sixteen floats.
        hdst__write(&p->out, "__builtin_convertvector(%s, %s%" PRIu32 ")", hdst__expr_text(p, expr->a, HDST__WHOLE), hdst__cl_name(to), p->lanes);
    } else if (to == HDST__BOOL) {
        print_expr(p, expr->a, HDST__OPERAND);
        hdst__write(&p->out, " != 0");
    } else if (hdst__kind_is_float(from) && hdst__kind_is_integer(to)) {
        hdst__write(&p->out, "%s_of_%s(%s)", hdst__cl_name(to), hdst__cl_name(from), hdst__expr_text(p, expr->a, HDST__WHOLE));
    } else {
        hdst__write(&p->out, "(%s)", hdst__cl_name(to));
        print_expr(p, expr->a, HDST__PRIMARY);
    }
}

static void print_bitcast(hdst__printer *p, const ir_expr *expr)
{
    const hdst__kind from = expr->a->kind;
    if (hdst__kind_is_float(from) && expr->bits == IR_ANY_NAN) {
        hdst__write(&p->out, "as_%s(%s)", hdst__cl_name(expr->kind), hdst__expr_text(p, expr->a, HDST__WHOLE));
    } else if (hdst__kind_is_float(from)) {
        if (hdst__kind_is_signed(expr->kind)) hdst__write(&p->out, "(%s)", hdst__cl_name(expr->kind));
        hdst__write(&p->out, "bits_of_%s(%s)", hdst__cl_name(from), hdst__expr_text(p, expr->a, HDST__WHOLE));
    } else if (hdst__kind_is_float(expr->kind)) {
        hdst__write(&p->out, "as_%s(%s)", hdst__cl_name(expr->kind), hdst__expr_text(p, expr->a, HDST__WHOLE));
    } else {
        hdst__write(&p->out, "(%s)", hdst__cl_name(expr->kind));
        print_expr(p, expr->a, HDST__PRIMARY);
    }
}

// A ternary where both sides cost nothing, and of vectors; else a function, so that no side is skipped by a branch.
static void print_select(hdst__printer *p, const ir_expr *expr)
{
    const bool cheap = p->lanes || ((expr->b->op == IR_VAR || expr->b->op == IR_CONST) && (expr->c->op == IR_VAR || expr->c->op == IR_CONST));
    if (!cheap) {
        hdst__write(&p->out, "pick_%s(", hdst__cl_name(expr->kind));
    }
    // in place: texts of their own would be copied at each level of a chain of thousands
    print_expr(p, expr->a, cheap ? HDST__OPERAND : HDST__WHOLE);
    hdst__write(&p->out, cheap ? " ? " : ", ");
    print_expr(p, expr->b, cheap ? HDST__OPERAND : HDST__WHOLE);
    hdst__write(&p->out, cheap ? " : " : ", ");
    print_expr(p, expr->c, cheap ? HDST__OPERAND : HDST__WHOLE);
    if (!cheap) hdst__write(&p->out, ")");
}

// --- Leaves of the tree ---

const char *hdst__index_text(hdst__printer *p, const ir_expr *index, hdst__precedence where)
{
    if (!index) return "0";
    if (index->op == IR_CONST) return hdst__arena_printf(p->arena, "%" PRIu64, index->bits);
    return hdst__expr_text(p, index, where);
}

const char *hdst__record_text(hdst__printer *p, uint32_t record)
{
    const bool near = p->func->together || hdst__lanes_take_neighbours(p->func);
    return record ? hdst__arena_printf(p->arena, "%s + %" PRIu32 "%s", p->record, record, near ? "" : " * LANES") : p->record;
}

static void print_elem(hdst__printer *p, const ir_expr *expr)
{
    const ir_var *var = &p->func->vars[expr->var];
    const char *before = var->in_rows ? "[r]" : "", *behind = var->per_record && !var->in_rows ? "[r]" : "";
    hdst__write(&p->out, "%s%s[%s]%s", p->var_name[expr->var], before, hdst__index_text(p, expr->a, HDST__WHOLE), behind);
}

static void print_field(hdst__printer *p, const ir_expr *expr)
{
    const char *name = hdst__leaf_name(p, expr->param, expr->leaf), *element = hdst__index_text(p, expr->a, HDST__WHOLE);
    const char *instead = p->form->read ? p->form->read(p, expr) : NULL;
    if (instead) hdst__write(&p->out, "%s", instead);
    else hdst__write(&p->out, "%s(%s, %s)", name, hdst__record_text(p, expr->record), element);
    if (expr->kind == HDST__BOOL) hdst__write(&p->out, " != 0");
}

static void print_broadcast(hdst__printer *p, const ir_expr *expr)
{
    const char *name = hdst__leaf_name(p, expr->param, expr->leaf), *row = hdst__index_text(p, expr->a, HDST__WHOLE);
    const char *element = hdst__index_text(p, expr->b, HDST__WHOLE), *instead = p->form->read ? p->form->read(p, expr) : NULL;
    if (instead) hdst__write(&p->out, "%s", instead);
    else hdst__write(&p->out, expr->kind == HDST__BOOL ? "(%s(%s, %s) != 0)" : "%s(%s, %s)", name, row, element);
}

// --- Exact sums ---

static void print_fixed(hdst__printer *p, const ir_expr *expr)
{
    const char *function = expr->op == IR_FITS ? "fits" : expr->bits ? "rest" : "fixed";
    hdst__write(&p->out, "%s", hdst__fixed_text(p, function, expr->param, expr->leaf, hdst__addend_text(p, expr->param, expr->leaf, expr->a)));
}

static void print_key(hdst__printer *p, const ir_expr *expr)
{
    const hdst__accumulate_op acc = expr->op == IR_KEY_MIN ? HDST__MIN : HDST__MAX;
    hdst__write(&p->out, "%s", hdst__key_text(p, acc, expr->a->kind, hdst__expr_text(p, expr->a, HDST__WHOLE)));
}

static void print_constant(hdst__printer *p, const ir_expr *expr)
{
    const char *text = expr->kind == HDST__TEXT && p->text_copies ? hdst__text_copies_constant(p, (const hdst__text_value *)(uintptr_t)expr->bits)
                                                                  : hdst__constant_text(p->arena, expr->kind, expr->bits);
    if (p->lanes) hdst__write(&p->out, "(%s%" PRIu32 ")(%s)", hdst__cl_name(expr->kind), p->lanes, text);
    else hdst__write(&p->out, "%s", text);
}

// Makes a NaN of a float, which has any sign and payload, and gives it: a device is free to.
static bool makes_nan(const ir_expr *expr)
{
    switch (expr->op) {
    case IR_NEG: case IR_ABS: case IR_SQRT: case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_MIN: case IR_MAX: case IR_FMA:
        return hdst__kind_is_float(expr->kind);
    case IR_CONVERT: return hdst__kind_is_float(expr->kind) && hdst__kind_is_float(expr->a->kind);
    default: return false;
    }
}

static void print_text(hdst__printer *p, const ir_expr *expr)
{
    hdst__write(&p->out, "%s(%s", hdst__ir_op_name(expr->op), hdst__expr_text(p, expr->a, HDST__WHOLE));
    if (expr->op == IR_TEXT_VIEW) hdst__write(&p->out, ", %" PRIu64, expr->bits);
    if (expr->b) hdst__write(&p->out, ", %s", hdst__expr_text(p, expr->b, HDST__WHOLE));
    if (expr->c) hdst__write(&p->out, ", %s", hdst__expr_text(p, expr->c, HDST__WHOLE));
    hdst__write(&p->out, ")");
}

// Of which it is a lane's piece says the frame (codegen/opencl/templates/pieces_gpu.cl).
static void print_tokens(hdst__printer *p, const ir_expr *expr)
{
    const char *text = hdst__expr_text(p, expr->a, p->func->token_pieces ? HDST__WHOLE : HDST__PRIMARY);
    if (!p->func->token_pieces) hdst__write(&p->out, "%s", text);
    else hdst__write(&p->out, "text_piece(%s, piece_from, %" PRIu64 "UL, %" PRIu64 ")", text, expr->b->bits, expr->bits);
}

static void print_operation(hdst__printer *p, const ir_expr *expr)
{
    switch (expr->op) {
    case IR_CONST: print_constant(p, expr); break;
    case IR_VAR: hdst__write(&p->out, "%s", p->var_name[expr->var]); break;
    case IR_ELEM: print_elem(p, expr); break;
    case IR_FIELD: print_field(p, expr); break;
    case IR_BROADCAST: print_broadcast(p, expr); break;
    case IR_LENGTH: hdst__write(&p->out, "%sRows", p->param_name[expr->param]); break;
    case IR_RECORD_INDEX: hdst__write(&p->out, "first + %s", hdst__record_text(p, expr->record)); break;
    case IR_NEG: case IR_BITNOT: case IR_NOT: case IR_ABS: print_unary(p, expr); break;
    case IR_SQRT: print_sqrt(p, expr); break;
    case IR_CANONICAL: hdst__write(&p->out, "%s", hdst__canonical_text(p->arena, expr->kind, hdst__expr_text(p, expr->a, HDST__WHOLE))); break;
    case IR_ISNAN:
        hdst__write(&p->out, "isnan(%s) != 0", hdst__expr_text(p, expr->a, HDST__WHOLE));
        break;
    case IR_CTZ: print_part_call(p, "ctz", expr); break;
    case IR_TEXT_LENGTH:
        print_expr(p, expr->a, HDST__PRIMARY);
        hdst__write(&p->out, ".length");
        break;
    case IR_TEXT_BYTE: case IR_TEXT_WORD: case IR_TEXT_BITS: case IR_TEXT_SLICE: case IR_TEXT_VIEW: print_text(p, expr); break;
    case IR_TEXT_TOKENS: print_tokens(p, expr); break;
    case IR_GROUP_VALUE: hdst__write(&p->out, "%s", expr->bits == IR_PIECE_FROM ? "piece_from" : "found_at"); break;     // the frame's
    case IR_FMA:
        hdst__write(&p->out, "fma(%s", hdst__expr_text(p, expr->a, HDST__WHOLE));
        hdst__write(&p->out, ", %s", hdst__expr_text(p, expr->b, HDST__WHOLE));
        hdst__write(&p->out, ", %s)", hdst__expr_text(p, expr->c, HDST__WHOLE));
        break;
    case IR_SELECT: print_select(p, expr); break;
    case IR_CONVERT: print_convert(p, expr); break;
    case IR_BITCAST: print_bitcast(p, expr); break;
    case IR_FIXED: case IR_FITS: print_fixed(p, expr); break;
    case IR_KEY_MIN: case IR_KEY_MAX: print_key(p, expr); break;
    default: print_binary(p, expr); break;
    }
}

static void print_bare(hdst__printer *p, const ir_expr *expr)
{
    if (expr->kind == HDST__F64) p->uses_double = true;
    const bool foreign = p->options->facts.foreign_nans && !p->lanes && makes_nan(expr);
    if (foreign) {
        hdst__write(&p->out, "foreign_nan_%s(", hdst__cl_name(expr->kind));
    }
    print_operation(p, expr);
    if (foreign) hdst__write(&p->out, ")");
}

const char *hdst__expr_text(hdst__printer *p, const ir_expr *expr, hdst__precedence where)
{
    hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    print_expr(p, expr, where);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

const char *hdst__addend_text(hdst__printer *p, uint32_t param, uint32_t leaf, const ir_expr *value)
{
    if (!hdst__sums_floats(p, param, leaf) || value->kind == HDST__F32) return hdst__expr_text(p, value, HDST__WHOLE);
    if (value->op == IR_CONVERT && value->a->kind == HDST__F32) return hdst__expr_text(p, value->a, HDST__WHOLE);
    return hdst__arena_printf(p->arena, "(float)(%s)", hdst__expr_text(p, value, HDST__WHOLE));      // it is a float's value, so nothing is lost
}
