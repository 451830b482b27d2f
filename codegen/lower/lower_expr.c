// SPDX-License-Identifier: Apache-2.0
// Expressions become trees without side effects. What can fail gets a check in front; what must run only sometimes (a check or
// a helper on the right of `&&`, in a branch of `?:`) becomes an `if` with a variable, so that the order from left to right
// stays.
#include "codegen/lower/lower_state.h"
#include "codegen/lower/steady.h"
#include "codegen/ir/text_value.h"
#include "record/scalar_convert.h"

#include <string.h>

void hdst__lower_push(lowerer *l, ir_stmt *stmt) { hdst__ir_push(l->func, l->block, stmt); }

ir_expr *hdst__lower_bool(lowerer *l, bool value) { return hdst__ir_const(l->func, HDST__BOOL, value); }

ir_expr *hdst__lower_convert(lowerer *l, hdst__kind kind, ir_expr *e)
{
    if (e->op == IR_CONST && e->kind != kind) {
        ir_expr *folded = hdst__ir_const(l->func, kind, hdst__scalar_convert(kind, e->kind, e->bits));
        folded->span = e->span;
        return folded;
    }
    return hdst__ir_convert(l->func, kind, e);
}

static ir_expr *set_temporary(lowerer *l, const char *name, ir_expr *e)
{
    uint32_t var = hdst__ir_add_var(l->func, name, e->kind, 0);
    hdst__lower_push(l, hdst__ir_set(l->func, var, e));
    return hdst__ir_var(l->func, var);
}

ir_expr *hdst__lower_simple(lowerer *l, const char *name, ir_expr *e)
{
    return e->op == IR_CONST || e->op == IR_VAR ? e : set_temporary(l, name, e);
}

// --- Checks ---

void hdst__lower_push_check(lowerer *l, ir_check_kind kind, hdst__span span, const char *what, ir_expr *cond, ir_expr *index, ir_expr *limit)
{
    ir_stmt *stmt = hdst__ir_stmt(l->func, IR_CHECK, span);
    stmt->check = hdst__ir_add_check(l->func, (ir_check){.kind = kind, .span = span, .what = what, .diags = l->func->diags});
    stmt->cond = cond;
    stmt->index = index;
    stmt->index2 = limit;
    hdst__lower_push(l, stmt);
}

ir_expr *hdst__lower_checked_index(lowerer *l, ir_check_kind kind, const ast_expr *at, const char *what, ir_expr *limit)
{
    ir_expr *index = hdst__lower_value(l, at->right);
    if (index->op == IR_CONST && limit->op == IR_CONST && hdst__scalar_convert(HDST__U64, index->kind, index->bits) < limit->bits) return index;
    index = hdst__lower_simple(l, "index", index);
    ir_expr *wide = hdst__lower_convert(l, HDST__U64, index);
    ir_expr *below = hdst__ir_binary(l->func, IR_LT, HDST__BOOL, wide, limit);
    hdst__lower_push_check(l, kind, at->right->span, what, hdst__ir_copy(l->func, below), hdst__ir_copy(l->func, wide), hdst__ir_copy(l->func, limit));
    return hdst__ir_select(l->func, below, hdst__ir_copy(l->func, index), hdst__ir_const(l->func, index->kind, 0));
}

static ir_expr *checked_divisor(lowerer *l, hdst__span span, ir_expr *divisor)
{
    if (divisor->op == IR_CONST && divisor->bits) return divisor;
    divisor = hdst__lower_simple(l, "divisor", divisor);
    ir_expr *zero = hdst__ir_const(l->func, divisor->kind, 0);
    hdst__lower_push_check(l, IR_CHECK_DIVISION, span, NULL, hdst__ir_binary(l->func, IR_NE, HDST__BOOL, hdst__ir_copy(l->func, divisor), zero), NULL, NULL);
    return divisor;
}

// --- Places ---

static const char *place_name(const ast_expr *e)
{
    while (e->kind == AST_INDEX) e = e->left;
    return e->name ? e->name : "array";
}

static ir_expr *length_of(lowerer *l, uint32_t param)
{
    ir_expr *e = hdst__ir_const(l->func, HDST__U64, 0);
    e->op = IR_LENGTH;
    e->param = param;
    return e;
}

static lower_place row_place(lowerer *l, const ast_expr *e, const lower_binding *table)
{
    if (table->decl->key) return hdst__lower_lookup_row(l, e, table);
    lower_place place = table->place;
    place.row = hdst__lower_checked_index(l, IR_CHECK_TABLE_INDEX, e, table->decl->name, length_of(l, place.first));
    return place;
}

static lower_place index_place(lowerer *l, const ast_expr *e)
{
    if (e->left->kind == AST_NAME) {
        const lower_binding *binding = hdst__lower_find(l, e->left->decl);
        if (binding && binding->is_table) return row_place(l, e, binding);
    }
    if (hdst__is_key_rows(e->left)) return hdst__lower_row_of_key(l, e);
    lower_place array = hdst__lower_place(l, e->left);
    ir_expr *limit = hdst__ir_const(l->func, HDST__U64, array.type->count);
    ir_expr *index = hdst__lower_checked_index(l, IR_CHECK_INDEX, e, place_name(e->left), limit);
    return hdst__lower_element(l, &array, index);
}

static void const_bits(const ast_expr *e, uint64_t *bits)
{
    if (e->kind == AST_NUMBER) {
        *bits = e->number.bits;
        return;
    }
    const hdst__type *element = e->type->element;
    uint64_t inner = 1;
    for (const hdst__type *t = element; t->kind == HDST__ARRAY; t = t->element) inner *= t->count;
    for (size_t i = 0; i < e->arg_count; i++) const_bits(e->args[i], bits + (e->inits ? e->inits[i].index : i) * inner);
}

// A constant array of the file: a variable with initial values, made at its first use.
static lower_place const_place(lowerer *l, const ast_decl *decl)
{
    lower_place place = hdst__lower_new_local(l, decl->name, decl->type);
    if (decl->kind != AST_CONST) return place;      // a local whose declaration was not lowered any more: the function is too large, which is reported
    ir_var *var = &l->func->vars[place.first];
    uint64_t *bits = HDST__NEW_ARRAY(l->arena, uint64_t, var->elements);
    const_bits(decl->value, bits);
    var->init = bits;
    hdst__lower_bind(l, decl, place, false);
    return place;
}

lower_place hdst__lower_place(lowerer *l, const ast_expr *e)
{
    switch (e->kind) {
    case AST_NAME: {
        const lower_binding *binding = hdst__lower_find(l, e->decl);
        return binding ? binding->place : const_place(l, e->decl);
    }
    case AST_MEMBER: {
        lower_place outer = hdst__lower_place(l, e->left);
        return hdst__lower_field(&outer, e->field);
    }
    case AST_INDEX:
        if (hdst__lower_is_of_text(l, e)) break;
        return index_place(l, e);
    case AST_CALL:
        if (e->callee) return hdst__lower_call(l, e);
        break;
    default: break;
    }
    lower_place place = hdst__lower_new_local(l, "value", e->type);
    hdst__lower_into(l, &place, e);
    return place;
}

// --- Values of records and arrays ---

static const hdst__field *field_of(const ast_expr *e, size_t i)
{
    return e->kind == AST_COMPOUND && e->inits && e->inits[i].target ? e->inits[i].target : &e->type->record->fields[i];
}

static lower_place part_of(lowerer *l, const lower_place *to, const ast_expr *e, size_t i)
{
    if (e->type->kind == HDST__ARRAY) {
        uint64_t index = e->inits ? e->inits[i].index : i;
        return hdst__lower_element(l, to, hdst__ir_const(l->func, HDST__U32, index));
    }
    return hdst__lower_field(to, field_of(e, i));
}

// Fields that are not named are zero.
static void zero_others(lowerer *l, const lower_place *to, const ast_expr *e)
{
    const hdst__record *record = e->type->record;
    for (size_t f = 0; f < record->field_count; f++) {
        bool named = false;
        for (size_t i = 0; i < e->arg_count; i++) named |= field_of(e, i) == &record->fields[f];
        lower_place field = hdst__lower_field(to, &record->fields[f]);
        if (!named) hdst__lower_zero(l, &field);
    }
}

static void compound_into(lowerer *l, const lower_place *to, const ast_expr *e)
{
    if (e->type->kind == HDST__RECORD) zero_others(l, to, e);
    else if (e->arg_count < e->type->count) hdst__lower_zero(l, to);
    for (size_t i = 0; i < e->arg_count; i++) {
        lower_place part = part_of(l, to, e, i);
        hdst__lower_into(l, &part, e->args[i]);
    }
}

static void into_block(lowerer *l, ir_block *block, const lower_place *to, const ast_expr *e)
{
    ir_block *outer = l->block;
    l->block = block;
    hdst__lower_into(l, to, e);
    l->block = outer;
}

static void ternary_into(lowerer *l, const lower_place *to, const ast_expr *e)
{
    ir_stmt *test = hdst__ir_if(l->func, hdst__lower_value(l, e->left));
    into_block(l, &test->then, to, e->right);
    into_block(l, &test->otherwise, to, e->third);
    hdst__lower_push(l, test);
}

void hdst__lower_into(lowerer *l, const lower_place *to, const ast_expr *e)
{
    if (e->is_given && e->type->kind == HDST__TEXT) {
        hdst__lower_built_text(l, to, e);
    } else if (hdst__kind_is_scalar(e->type->kind)) {
        hdst__lower_store(l, to, hdst__lower_value(l, e));
    } else if (e->kind == AST_COMPOUND || e->kind == AST_TUPLE) {
        compound_into(l, to, e);
    } else if (e->kind == AST_TERNARY) {
        ternary_into(l, to, e);
    } else {
        lower_place from = hdst__lower_place(l, e);
        hdst__lower_copy(l, to, &from);
    }
}

// --- Scalars ---

static ir_op binary_op(ast_op op)
{
    switch (op) {
    case AST_ADD: return IR_ADD;
    case AST_SUB: return IR_SUB;
    case AST_MUL: return IR_MUL;
    case AST_DIV: return IR_DIV;
    case AST_REM: return IR_REM;
    case AST_SHL: return IR_SHL;
    case AST_SHR: return IR_SHR;
    case AST_AND: return IR_AND;
    case AST_OR: return IR_OR;
    case AST_XOR: return IR_XOR;
    case AST_LT: return IR_LT;
    case AST_LE: return IR_LE;
    case AST_GT: return IR_GT;
    case AST_GE: return IR_GE;
    case AST_EQ: return IR_EQ;
    default: return IR_NE;
    }
}

ir_expr *hdst__lower_arithmetic(lowerer *l, ast_op op, hdst__span span, ir_expr *left, ir_expr *right)
{
    if ((op == AST_DIV || op == AST_REM) && !hdst__kind_is_float(left->kind)) right = checked_divisor(l, span, right);
    ir_op name = binary_op(op);
    bool compares = name >= IR_LT && name <= IR_NE;
    ir_expr *e = hdst__ir_binary(l->func, name, compares ? HDST__BOOL : left->kind, left, right);
    e->span = span;
    return e;
}

// Lowers e into a block of its own, which stays empty if e needs no statements.
static ir_expr *apart(lowerer *l, ir_block *block, const ast_expr *e)
{
    ir_block *outer = l->block;
    l->block = block;
    ir_expr *value = hdst__lower_value(l, e);
    l->block = outer;
    return value;
}

static ir_expr *logical(lowerer *l, const ast_expr *e)
{
    bool is_and = e->op == AST_LOGAND;
    ir_expr *left = hdst__lower_value(l, e->left);
    ir_block block = {0};
    ir_expr *right = apart(l, &block, e->right);
    if (!block.count) return hdst__ir_binary(l->func, is_and ? IR_AND : IR_OR, HDST__BOOL, left, right);
    ir_expr *result = set_temporary(l, is_and ? "both" : "either", left);
    ir_expr *cond = hdst__ir_var(l->func, result->var);
    ir_stmt *test = hdst__ir_if(l->func, is_and ? cond : hdst__ir_unary(l->func, IR_NOT, HDST__BOOL, cond));
    test->then = block;
    hdst__ir_push(l->func, &test->then, hdst__ir_set(l->func, result->var, right));
    hdst__lower_push(l, test);
    return result;
}

static ir_expr *ternary(lowerer *l, const ast_expr *e)
{
    ir_expr *cond = hdst__lower_value(l, e->left);
    ir_block yes = {0}, no = {0};
    ir_expr *a = apart(l, &yes, e->right), *b = apart(l, &no, e->third);
    if (!yes.count && !no.count) return hdst__ir_select(l->func, cond, a, b);
    uint32_t var = hdst__ir_add_var(l->func, "choice", a->kind, 0);
    ir_stmt *test = hdst__ir_if(l->func, cond);
    test->then = yes;
    test->otherwise = no;
    hdst__ir_push(l->func, &test->then, hdst__ir_set(l->func, var, a));
    hdst__ir_push(l->func, &test->otherwise, hdst__ir_set(l->func, var, b));
    hdst__lower_push(l, test);
    return hdst__ir_var(l->func, var);
}

static ir_expr *unary(lowerer *l, const ast_expr *e)
{
    ir_expr *a = hdst__lower_value(l, e->left);
    switch (e->op) {
    case AST_NEG: return hdst__ir_unary(l->func, IR_NEG, a->kind, a);
    case AST_NOT: return hdst__ir_unary(l->func, IR_NOT, HDST__BOOL, a);
    case AST_BITNOT: return hdst__ir_unary(l->func, IR_BITNOT, a->kind, a);
    default: return a;
    }
}

static ir_expr *infinity(lowerer *l, hdst__kind kind)
{
    return hdst__ir_const(l->func, kind, kind == HDST__F32 ? 0x7f800000u : 0x7ff0000000000000u);
}

static bool is_table(const lowerer *l, const ast_expr *e)
{
    const lower_binding *binding = e->kind == AST_NAME ? hdst__lower_find(l, e->decl) : NULL;
    return binding && binding->is_table;
}

static ir_expr *view(lowerer *l, ir_expr *text, hdst__text_view view)
{
    ir_expr *e = hdst__ir_unary(l->func, IR_TEXT_VIEW, HDST__TEXT, text);
    e->bits = view;
    return e;
}

static ir_expr *text_bits(lowerer *l, ir_expr *const arg[3])
{
    ir_expr *e = hdst__ir_binary(l->func, IR_TEXT_BITS, HDST__U64, arg[0], arg[1]);
    e->c = arg[2];
    return e;
}

// text_tokens(t, which bytes, ranges): what it is called with are constants (codegen/math/text.hk).
static ir_expr *text_tokens(lowerer *l, ir_expr *const arg[3])
{
    ir_expr *e = hdst__ir_binary(l->func, IR_TEXT_TOKENS, HDST__TEXT, arg[0], arg[2]);
    e->bits = arg[1]->bits;
    return e;
}

static ir_expr *table_length(lowerer *l, const lower_binding *table)
{
    return table->decl->key && !table->decl->has_stretches ? hdst__lower_lookup_length(l, table) : length_of(l, table->place.first);
}

static ir_expr *builtin(lowerer *l, const ast_expr *e)
{
    hdst__kind kind = e->type->kind;
    if (e->builtin == HDST__BI_LEN && e->args[0]->type->kind == HDST__TEXT && !is_table(l, e->args[0])) return hdst__lower_text_length(l, e->args[0]);
    if (e->builtin == HDST__BI_LEN && hdst__is_key_rows(e->args[0])) return hdst__lower_key_rows_length(l, e->args[0]);
    if (e->builtin == HDST__BI_LEN) return table_length(l, hdst__lower_find(l, e->args[0]->decl));
    if (e->builtin == HDST__BI_HAS_KEY) return hdst__lower_has_key(l, e);
    if (e->builtin == HDST__BI_RECORD_INDEX) {
        ir_expr *index = hdst__ir_const(l->func, HDST__U64, 0);
        index->op = IR_RECORD_INDEX;
        return index;
    }
    if (e->builtin == HDST__BI_DOT || e->builtin == HDST__BI_SUM) return hdst__lower_over_arrays(l, e);
    if (e->builtin == HDST__BI_HASH) return hdst__lower_hash(l, e);
    ir_expr *arg[3] = {0};
    for (size_t i = 0; i < e->arg_count && i < 3; i++) arg[i] = hdst__lower_value(l, e->args[i]);
    switch ((hdst__builtin)e->builtin) {
    case HDST__BI_SQRT: return hdst__ir_unary(l->func, IR_SQRT, kind, arg[0]);
    case HDST__BI_FABS: return hdst__ir_unary(l->func, IR_ABS, kind, arg[0]);
    case HDST__BI_ABS: return hdst__kind_is_float(kind) || hdst__kind_is_signed(kind) ? hdst__ir_unary(l->func, IR_ABS, kind, arg[0]) : arg[0];
    case HDST__BI_MIN: return hdst__ir_binary(l->func, IR_MIN, kind, arg[0], arg[1]);
    case HDST__BI_MAX: return hdst__ir_binary(l->func, IR_MAX, kind, arg[0], arg[1]);
    case HDST__BI_FMA: {
        ir_expr *fma = hdst__ir_binary(l->func, IR_FMA, kind, arg[0], arg[1]);
        fma->c = arg[2];
        return fma;
    }
    case HDST__BI_CTZ: return hdst__lower_convert(l, HDST__U32, hdst__ir_unary(l->func, IR_CTZ, arg[0]->kind, arg[0]));
    case HDST__BI_LOWER: return view(l, arg[0], HDST__TEXT_LOWER);
    case HDST__BI_UPPER: return view(l, arg[0], HDST__TEXT_UPPER);
    case HDST__BI_TEXT_BITS: return text_bits(l, arg);
    case HDST__BI_TEXT_TOKENS: return text_tokens(l, arg);
    case HDST__BI_TEXT_WORD: return hdst__ir_binary(l->func, IR_TEXT_WORD, kind, arg[0], arg[1]);
    case HDST__BI_TEXT_BYTE: return hdst__ir_binary(l->func, IR_TEXT_BYTE, kind, arg[0], arg[1]);
    case HDST__BI_ISNAN: return hdst__ir_unary(l->func, IR_ISNAN, HDST__BOOL, arg[0]);
    case HDST__BI_ISINF: {
        ir_expr *size = hdst__ir_unary(l->func, IR_ABS, arg[0]->kind, arg[0]);
        return hdst__ir_binary(l->func, IR_EQ, HDST__BOOL, size, infinity(l, size->kind));
    }
    case HDST__BI_LOOSE_UINT: case HDST__BI_LOOSE_INT: case HDST__BI_LOOSE_ULONG: case HDST__BI_LOOSE_LONG: {
        ir_expr *cast = hdst__ir_unary(l->func, IR_BITCAST, kind, arg[0]);
        cast->bits = IR_ANY_NAN;
        return cast;
    }
    default: return hdst__ir_unary(l->func, IR_BITCAST, kind, arg[0]);      // as_uint ...
    }
}

// A conversion written in the source stays even between equal types: no fma is placed across it.
static ir_expr *conversion(lowerer *l, const ast_expr *e)
{
    ir_expr *a = hdst__lower_value(l, e->left);
    if (!e->implied && a->kind == e->type->kind && hdst__kind_is_float(a->kind) && a->op != IR_CONST)
        return hdst__ir_unary(l->func, IR_CONVERT, a->kind, a);
    return hdst__lower_convert(l, e->type->kind, a);
}

static ir_expr *load(lowerer *l, const ast_expr *e)
{
    lower_place place = hdst__lower_place(l, e);
    return hdst__lower_load(l, &place);
}

static ir_expr *value_of(lowerer *l, const ast_expr *e)
{
    switch (e->kind) {
    case AST_NUMBER: return hdst__ir_const(l->func, e->type->kind, e->number.bits);
    case AST_STRING: return hdst__lower_text_constant(l, e);
    case AST_INDEX: return hdst__lower_is_of_text(l, e) ? hdst__lower_text_index(l, e) : load(l, e);
    case AST_UNARY: return unary(l, e);
    case AST_BINARY:
        if (e->op == AST_LOGAND || e->op == AST_LOGOR) return logical(l, e);
        {
            ir_expr *left = hdst__lower_value(l, e->left);
            return hdst__lower_arithmetic(l, e->op, e->span, left, hdst__lower_value(l, e->right));
        }
    case AST_TERNARY: return ternary(l, e);
    case AST_CONVERT: return conversion(l, e);
    case AST_CALL: return e->callee ? load(l, e) : builtin(l, e);
    case AST_COMPOUND: case AST_TUPLE:      // of a record that wraps one number
        return hdst__lower_value(l, e->args[0]);
    default: return load(l, e);
    }
}

ir_expr *hdst__lower_value(lowerer *l, const ast_expr *e)
{
    ir_expr *value = value_of(l, e);
    value->span = e->span;
    return value;
}
