// SPDX-License-Identifier: Apache-2.0
// Types of expressions. Each function returns the node that replaces the one it was given.
#include "codegen/front/check.h"
#include "codegen/ir/eval.h"
#include "record/scalar_convert.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- Names ---

// Constants of C's headers, with the types that they have in C.
static const struct known { const char *name; hdst__kind kind; double real; uint64_t bits; } known_constants[] = {
    {"INFINITY", HDST__F32, INFINITY, 0}, {"NAN", HDST__F32, NAN, 0}, {"FLT_MAX", HDST__F32, 0x1.fffffep127, 0}, {"FLT_MIN", HDST__F32, 0x1p-126, 0},
    {"FLT_EPSILON", HDST__F32, 0x1p-23, 0}, {"DBL_MAX", HDST__F64, 0x1.fffffffffffffp1023, 0}, {"DBL_MIN", HDST__F64, 0x1p-1022, 0},
    {"DBL_EPSILON", HDST__F64, 0x1p-52, 0}, {"M_PI", HDST__F64, 3.14159265358979323846, 0}, {"M_E", HDST__F64, 2.71828182845904523536, 0},
    {"INT8_MIN", HDST__I32, 0, (uint64_t)INT8_MIN}, {"INT8_MAX", HDST__I32, 0, INT8_MAX}, {"UINT8_MAX", HDST__I32, 0, UINT8_MAX},
    {"INT16_MIN", HDST__I32, 0, (uint64_t)INT16_MIN}, {"INT16_MAX", HDST__I32, 0, INT16_MAX}, {"UINT16_MAX", HDST__I32, 0, UINT16_MAX},
    {"INT32_MIN", HDST__I32, 0, (uint64_t)INT32_MIN}, {"INT32_MAX", HDST__I32, 0, INT32_MAX}, {"UINT32_MAX", HDST__U32, 0, UINT32_MAX},
    {"INT64_MIN", HDST__I64, 0, (uint64_t)INT64_MIN}, {"INT64_MAX", HDST__I64, 0, INT64_MAX}, {"UINT64_MAX", HDST__U64, 0, UINT64_MAX},
};

static ast_expr *known_constant(hdst__checker *c, const ast_expr *e)
{
    for (size_t i = 0; i < sizeof known_constants / sizeof *known_constants; i++) {
        const struct known *k = &known_constants[i];
        if (strcmp(k->name, e->name)) continue;
        uint64_t bits = k->bits;
        if (hdst__kind_is_float(k->kind)) {
            memcpy(&bits, &k->real, sizeof bits);
            bits = isnan(k->real) ? k->kind == HDST__F32 ? 0x7fc00000 : 0x7ff8000000000000u : hdst__scalar_convert(k->kind, HDST__F64, bits);
        }
        return hdst__check_number(c, e->span, k->kind, bits);
    }
    return NULL;
}

ast_decl *hdst__check_find(hdst__checker *c, const char *name)
{
    for (size_t i = c->scope_count; i-- > 0;)
        if (!strcmp(c->scope[i]->name, name)) return c->scope[i];
    return hdst__name_map_find(&c->globals, name);
}

static const char *name_hint(hdst__checker *c, const char *name)
{
    for (size_t i = 0; i < c->schema_param_count; i++)
        if (!strcmp(c->schema_params[i], name)) return hdst__arena_printf(c->arena, "the schema has it; declare it here too: param uint32_t %s;", name);
    if (hdst__name_map_find(&c->functions, name)) return hdst__arena_printf(c->arena, "'%s' is a function: call it", name);
    if (hdst__name_map_find(&c->records, name) || hdst__name_map_find(&c->structs_by_name, name))
        return hdst__arena_printf(c->arena, "'%s' is a record type; a value is written (%s){ ... }", name, name);
    if (c->diags->errors >= HDST__DIAG_LIMIT) return NULL;
    size_t count = 0;
    const size_t known = sizeof known_constants / sizeof *known_constants;
    const char **names = HDST__NEW_ARRAY(c->arena, const char *, c->scope_count + c->module->global_count + known + 2);
    for (size_t i = c->scope_count; i-- > 0;) names[count++] = c->scope[i]->name;
    for (size_t i = 0; i < c->module->global_count; i++) names[count++] = c->module->globals[i]->name;
    for (size_t i = 0; i < known; i++) names[count++] = known_constants[i].name;
    names[count++] = "true";
    names[count++] = "false";
    return hdst__check_near(c, name, names, count);
}

// Resolves a name. It may be indexed, or its length may be taken, so the caller checks whether it may be read.
static ast_expr *resolve_name(hdst__checker *c, ast_expr *e)
{
    ast_decl *decl = hdst__check_find(c, e->name);
    if (!decl) {
        ast_expr *known = known_constant(c, e);
        if (known) return known;
        if (hdst__check_later_name(c, e)) return e;
        hdst__diag_error(c->diags, e->span, name_hint(c, e->name), "unknown name '%s'", e->name);
        return hdst__check_poisoned(e);
    }
    decl->used = true;
    e->decl = decl;
    if (decl->kind == AST_LOCAL || decl->kind == AST_PARAM) {
        e->type = decl->type;
        return e;
    }
    if (!hdst__check_global(c, decl)) return hdst__check_poisoned(e);
    e->type = decl->type;
    return decl->type->kind == HDST__ARRAY ? e : hdst__check_number(c, e->span, decl->type->kind, decl->bits);
}

static ast_expr *unreadable(hdst__checker *c, ast_expr *e, const char *hint, const char *what)
{
    hdst__diag_error(c->diags, e->span, hint, "%s", hdst__arena_printf(c->arena, what, e->name));
    return hdst__check_poisoned(e);
}

static ast_expr *name(hdst__checker *c, ast_expr *e)
{
    e = resolve_name(c, e);
    const ast_decl *decl = e->kind == AST_NAME && !hdst__check_is_poison(e->type) ? e->decl : NULL;
    if (!decl || decl->kind != AST_PARAM) return e;
    if (decl->qualifier == AST_ACCUM) return unreadable(c, e, "keep what you need in a variable of your own", "the accumulator '%s' can only be written to");
    if (decl->qualifier == AST_STREAM) return unreadable(c, e, "read it with for (T v : s)", "'%s' is a stream");
    if (decl->is_table)
        return unreadable(c, e, hdst__arena_printf(c->arena, "read a row: %s[%s]%s; len(%s) is their number", e->name, decl->key ? "key" : "i",
                                                   decl->has_stretches ? "[i]" : "", e->name),
                          "'%s' is a table");
    return e;
}

ast_decl *hdst__check_root(const ast_expr *expr)
{
    while (expr->kind == AST_MEMBER || expr->kind == AST_INDEX) expr = expr->left;
    return expr->kind == AST_NAME ? expr->decl : NULL;
}

// --- Paths ---

// A field of a left side that is typed already.
static ast_expr *member(hdst__checker *c, ast_expr *e)
{
    const hdst__type *type = e->left->type;
    if (hdst__check_is_poison(type)) return hdst__check_poisoned(e);
    if (type->kind != HDST__RECORD) {
        const bool has_elements = type->kind == HDST__ARRAY || type->kind == HDST__STREAM;
        hdst__diag_error(c->diags, e->name_span, has_elements ? "pick an element first: [i]" : NULL, "%s has no fields", hdst__check_type_name(c, type));
        return hdst__check_poisoned(e);
    }
    e->field = hdst__record_field(type->record, e->name);
    if (e->field) {
        e->type = e->field->type;
        return e;
    }
    const char **names = HDST__NEW_ARRAY(c->arena, const char *, type->record->field_count);
    for (size_t i = 0; i < type->record->field_count; i++) names[i] = type->record->fields[i].name;
    const char *hint = hdst__check_near_or_all(c, "its fields are", e->name, names, type->record->field_count);
    hdst__diag_error(c->diags, e->name_span, hint, "the record '%s' has no field '%s'", type->record->name, e->name);
    return hdst__check_poisoned(e);
}

// Checks and promotes an index. A constant one is compared with `count` (0: not known here).
static ast_expr *index_value(hdst__checker *c, ast_expr *index, uint64_t count)
{
    index = hdst__check_value(c, index);
    if (hdst__check_is_poison(index->type)) return index;
    hdst__kind kind = index->type->kind;
    if (!hdst__kind_is_integer(kind) && kind != HDST__BOOL) {
        hdst__diag_error(c->diags, index->span, hdst__kind_is_float(kind) ? "write a cast: (uint32_t)" : NULL, "an index must be an integer, not %s",
                         hdst__check_type_name(c, index->type));
        return hdst__check_poisoned(index);
    }
    index = hdst__check_to_kind(c, index, hdst__check_promote(kind));
    uint64_t value;
    if (!hdst__check_constant(c, index, &value, true)) return index;
    bool negative = hdst__kind_is_signed(index->type->kind) && (int64_t)value < 0;
    if (negative) hdst__diag_error(c->diags, index->span, NULL, "the index %" PRId64 " is negative", (int64_t)value);
    else if (count && value >= count)
        hdst__diag_error(c->diags, index->span, NULL, "the index %" PRIu64 " is out of range: the array has %" PRIu64 " elements", value, count);
    return index;
}

static ast_expr *text_index(hdst__checker *c, ast_expr *e)
{
    e->right = index_value(c, e->right, 0);
    if (e->third) e->third = index_value(c, e->third, 0);
    e->type = hdst__type_scalar(e->third ? HDST__TEXT : HDST__U8);
    return e;
}

// An element of a left side that is typed already; `table`: the number of rows is known only at run time.
static ast_expr *element(hdst__checker *c, ast_expr *e, bool table)
{
    const hdst__type *type = e->left->type;
    if (hdst__check_is_poison(type)) {
        hdst__check_value(c, e->right);
        return hdst__check_poisoned(e);
    }
    if (!table && type->kind == HDST__TEXT) return text_index(c, e);
    const bool has_elements = table || type->kind == HDST__ARRAY || type->kind == HDST__STREAM;
    if (!has_elements || e->third) {
        const char *name = hdst__check_type_name(c, type);
        if (e->third) hdst__diag_error(c->diags, e->span, NULL, "only a text can be sliced, not %s", name);
        else hdst__diag_error(c->diags, e->span, NULL, "%s cannot be indexed", name);
        return hdst__check_poisoned(e);
    }
    e->right = index_value(c, e->right, table ? 0 : type->count);
    e->type = table ? type : type->element;
    return hdst__check_is_poison(e->right->type) ? hdst__check_poisoned(e) : e;
}

ast_expr *hdst__check_path_step(hdst__checker *c, ast_expr *e)
{
    return e->kind == AST_MEMBER ? member(c, e) : element(c, e, false);
}

static ast_expr *index_expr(hdst__checker *c, ast_expr *e)
{
    if (e->left->kind != AST_NAME) {
        e->left = hdst__check_expr(c, e->left);
        return element(c, e, false);
    }
    const ast_decl *table = hdst__check_find(c, e->left->name);
    bool is_table = table && table->kind == AST_PARAM && table->is_table && table->qualifier != AST_ACCUM;
    e->left = is_table ? resolve_name(c, e->left) : name(c, e->left);
    if (is_table && table->key && !e->third) return hdst__check_lookup_row(c, e, table);
    return element(c, e, is_table);
}

// --- Operators ---

static const char *op_text(ast_op op)
{
    static const char *const texts[] = {"-", "+", "!", "~", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
    return texts[op];
}

static ast_expr *unary(hdst__checker *c, ast_expr *e)
{
    if (e->op == AST_NOT) {
        e->left = hdst__check_condition(c, e->left, "the operand of '!'");
        e->type = hdst__check_is_poison(e->left->type) ? e->left->type : hdst__type_scalar(HDST__BOOL);
        return e;
    }
    e->left = hdst__check_value(c, e->left);
    const hdst__type *type = e->left->type;
    if (hdst__check_is_poison(type)) return hdst__check_poisoned(e);
    bool good = e->op == AST_BITNOT ? type->kind <= HDST__U64 : hdst__check_is_arithmetic(type);
    if (!good) {
        hdst__diag_error(c->diags, e->span, NULL, "'%s' cannot be applied to %s", op_text(e->op), hdst__check_type_name(c, type));
        return hdst__check_poisoned(e);
    }
    e->left = hdst__check_to_kind(c, e->left, hdst__check_promote(type->kind));
    e->type = e->left->type;
    if (e->left->kind != AST_NUMBER || e->op != AST_NEG) return e;
    return hdst__check_number(c, e->span, e->type->kind, hdst__eval_unary(IR_NEG, e->type->kind, e->type->kind, e->left->number.bits));
}

static bool is_comparison(ast_op op) { return op >= AST_LT && op <= AST_NE; }

// `0.5 * x` with a float x is arithmetic in double: rarely meant, and slow on most GPUs.
static void warn_double(hdst__checker *c, const ast_expr *number, const ast_expr *other)
{
    if (number->kind != AST_NUMBER || number->type->kind != HDST__F64 || other->type->kind != HDST__F32) return;
    const char *text = hdst__arena_strndup(c->arena, c->diags->sources[number->span.source].text + number->span.offset, number->span.length);
    bool literal = isdigit((unsigned char)text[strspn(text, "- .")]);
    hdst__diag_warning(c->diags, number->span, hdst__arena_printf(c->arena, literal ? "write %sf" : "write (float)%s", text),
                       "%s is a double, so this is computed in double", text);
}

static bool may_be_negative(const ast_expr *e)
{
    if (!hdst__kind_is_signed(e->type->kind)) return false;
    return e->kind != AST_NUMBER || (int64_t)e->number.bits < 0;
}

static void warn_sign(hdst__checker *c, hdst__span span, const ast_expr *a, const ast_expr *b, hdst__kind common)
{
    if (!hdst__kind_is_integer(common) || hdst__kind_is_signed(common) || (!may_be_negative(a) && !may_be_negative(b))) return;
    const ast_expr *negative = may_be_negative(a) ? a : b;
    hdst__diag_warning(c->diags, span, "cast one side", "%s is compared as %s: a negative number counts as a large one",
                       hdst__check_type_name(c, negative->type), hdst__scalar_c_name(common));
}

static void warn_zero(hdst__checker *c, hdst__span span, const ast_expr *divisor)
{
    if (divisor->kind == AST_NUMBER && hdst__kind_is_integer(divisor->type->kind) && divisor->number.bits == 0)
        hdst__diag_error(c->diags, span, NULL, "division by zero");
}

// Converts both sides and finds the type of the result. For `x op= v` the statement checker passes a placeholder for x.
void hdst__check_binary_types(hdst__checker *c, ast_op op, hdst__span span, ast_expr **left, ast_expr **right, const hdst__type **result)
{
    ast_expr *a = *left, *b = *right;
    *result = &hdst__check_poison;
    if (hdst__check_is_poison(a->type) || hdst__check_is_poison(b->type)) return;
    if (is_comparison(op) && a->type->kind == HDST__TEXT && b->type->kind == HDST__TEXT) {
        *result = hdst__type_scalar(HDST__BOOL);
        return;
    }
    bool good = hdst__check_is_arithmetic(a->type) && hdst__check_is_arithmetic(b->type);
    bool integers = op == AST_REM || (op >= AST_SHL && op <= AST_XOR);
    if (good && integers) good = a->type->kind <= HDST__U64 && b->type->kind <= HDST__U64;
    if (!good) {
        const char *hint = op == AST_REM && hdst__check_is_arithmetic(a->type) && hdst__check_is_arithmetic(b->type)
            ? "fmod is not available yet; x - y * (int64_t)(x / y) is close" : NULL;
        hdst__diag_error(c->diags, span, hint, "'%s' cannot be applied to %s and %s", op_text(op), hdst__check_type_name(c, a->type),
                         hdst__check_type_name(c, b->type));
        return;
    }
    if (op == AST_SHL || op == AST_SHR) {
        *left = hdst__check_to_kind(c, a, hdst__check_promote(a->type->kind));
        *right = b->kind == AST_NUMBER ? hdst__check_number(c, b->span, HDST__U32, hdst__scalar_convert(HDST__U32, b->type->kind, b->number.bits))
            : hdst__check_to_kind(c, b, HDST__U32);
        *result = (*left)->type;
        return;
    }
    hdst__kind common = hdst__check_common(a->type->kind, b->type->kind);
    warn_double(c, a, b);
    warn_double(c, b, a);
    if (is_comparison(op)) warn_sign(c, span, a, b, common);
    if ((op == AST_DIV || op == AST_REM) && hdst__kind_is_integer(common)) warn_zero(c, span, b);      // x / 0 of a float is an infinity
    *left = hdst__check_to_kind(c, a, common);
    *right = hdst__check_to_kind(c, b, common);
    *result = hdst__type_scalar(is_comparison(op) ? HDST__BOOL : common);
}

static ast_expr *binary(hdst__checker *c, ast_expr *e)
{
    if (e->op == AST_LOGAND || e->op == AST_LOGOR) {
        const char *what = e->op == AST_LOGAND ? "an operand of '&&'" : "an operand of '||'";
        e->left = hdst__check_condition(c, e->left, what);
        e->right = hdst__check_condition(c, e->right, what);
        bool poison = hdst__check_is_poison(e->left->type) || hdst__check_is_poison(e->right->type);
        e->type = poison ? &hdst__check_poison : hdst__type_scalar(HDST__BOOL);
        return e;
    }
    e->left = hdst__check_value(c, e->left);
    e->right = hdst__check_value(c, e->right);
    hdst__check_binary_types(c, e->op, e->op_span, &e->left, &e->right, &e->type);
    const bool texts = e->left->type->kind == HDST__TEXT && e->right->type->kind == HDST__TEXT && !hdst__check_is_poison(e->type);
    return texts ? hdst__check_text_comparison(c, e) : e;
}

static ast_expr *ternary(hdst__checker *c, ast_expr *e)
{
    e->left = hdst__check_condition(c, e->left, "the condition of '?'");
    e->right = hdst__check_value(c, e->right);
    e->third = hdst__check_value(c, e->third);
    const hdst__type *a = e->right->type, *b = e->third->type;
    if (hdst__check_is_poison(a) || hdst__check_is_poison(b) || hdst__check_is_poison(e->left->type)) return hdst__check_poisoned(e);
    if (hdst__check_is_arithmetic(a) && hdst__check_is_arithmetic(b)) {
        hdst__kind common = a->kind == b->kind ? a->kind : hdst__check_common(a->kind, b->kind);
        warn_double(c, e->right, e->third);
        warn_double(c, e->third, e->right);
        e->right = hdst__check_to_kind(c, e->right, common);
        e->third = hdst__check_to_kind(c, e->third, common);
        e->type = hdst__type_scalar(common);
    } else if (hdst__type_equal(a, b) && a->kind != HDST__ARRAY) {
        e->type = a;
    } else {
        hdst__diag_error(c->diags, e->span, a->kind == HDST__ARRAY ? "use an if" : NULL, "'?' cannot choose between %s and %s",
                         hdst__check_type_name(c, a), hdst__check_type_name(c, b));
        return hdst__check_poisoned(e);
    }
    return e;
}

static ast_expr *cast(hdst__checker *c, ast_expr *e)
{
    const hdst__type *type = hdst__check_base_type(c, e->written);
    e->left = hdst__check_value(c, e->left);
    if (hdst__check_is_poison(type) || hdst__check_is_poison(e->left->type)) return hdst__check_poisoned(e);
    if (!hdst__check_is_arithmetic(type) || !hdst__check_is_arithmetic(e->left->type)) {
        hdst__diag_error(c->diags, e->span, type->kind == HDST__RECORD ? "build a record with braces: (name){ ... }" : NULL,
                         "%s cannot be cast to %s", hdst__check_type_name(c, e->left->type), hdst__check_type_name(c, type));
        return hdst__check_poisoned(e);
    }
    e->type = type;
    if (e->left->kind != AST_NUMBER) return e;
    return hdst__check_number(c, e->span, type->kind, hdst__scalar_convert(type->kind, e->left->type->kind, e->left->number.bits));
}

static ast_expr *compound(hdst__checker *c, ast_expr *e)
{
    const hdst__type *type = e->written ? hdst__check_base_type(c, e->written) : &hdst__check_poison;
    if (!hdst__check_is_poison(type) && type->kind != HDST__RECORD) {
        hdst__diag_error(c->diags, e->span, "braces build records", "%s is not a record", hdst__check_type_name(c, type));
        type = &hdst__check_poison;
    }
    return hdst__check_list(c, e, type, "the record");
}

ast_expr *hdst__check_expr(hdst__checker *c, ast_expr *e)
{
    switch (e->kind) {
    case AST_NUMBER: return e->type ? e : hdst__check_poisoned(e);      // no type: the parser reported
    case AST_NAME: return name(c, e);
    case AST_UNARY: return unary(c, e);
    case AST_BINARY: return binary(c, e);
    case AST_TERNARY: return ternary(c, e);
    case AST_CONVERT: return cast(c, e);
    case AST_MEMBER:
        e->left = hdst__check_expr(c, e->left);
        return member(c, e);
    case AST_INDEX: return index_expr(c, e);
    case AST_CALL: return hdst__check_call(c, e);
    case AST_COMPOUND: return compound(c, e);
    case AST_STRING:
        e->type = hdst__type_scalar(HDST__TEXT);
        return e;
    case AST_TUPLE:
        hdst__diag_error(c->diags, e->span, "(a, b) builds the output of a function declared with -> (T name, U name)", "there is no comma operator");
        return hdst__check_poisoned(e);
    }
    return hdst__check_poisoned(e);
}

ast_expr *hdst__check_value(hdst__checker *c, ast_expr *e)
{
    e = hdst__check_expr(c, e);
    if (!hdst__check_is_poison(e->type) && e->type->kind == HDST__STREAM && e->kind == AST_INDEX) {
        const char *name = e->left->name;
        return unreadable(c, e->left, hdst__arena_printf(c->arena, "for (T row : %s[k]), len(%s[k]) and %s[k][i] read them", name, name, name),
                          "'%s' has any number of rows of a key");
    }
    if (hdst__check_is_poison(e->type) || e->type->kind != HDST__VOID) return e;
    hdst__diag_error(c->diags, e->span, NULL, "%s gives no value", e->kind == AST_CALL ? hdst__arena_printf(c->arena, "%s()", e->name) : "this");
    return hdst__check_poisoned(e);
}
