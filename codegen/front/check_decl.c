// SPDX-License-Identifier: Apache-2.0
// Declarations of the file level: types as written, records, params, constants, enum values. Each is resolved when it is first needed, so order does
// not matter; one that needs itself is an error.
#include "codegen/front/check.h"
#include "codegen/ir/eval.h"
#include "record/scalar_convert.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { UNTOUCHED, IN_PROGRESS, DONE, FAILED };
#define MAX_ARRAY ((uint64_t)1 << 32)
#define MAX_BYTES ((uint64_t)1 << 40)

// --- Poison and names ---

const hdst__type hdst__check_poison = {.kind = HDST__VOID};

bool hdst__check_is_poison(const hdst__type *type) { return type == &hdst__check_poison; }

ast_expr *hdst__check_poisoned(ast_expr *expr)
{
    expr->type = &hdst__check_poison;
    return expr;
}

const char *hdst__check_type_name(hdst__checker *c, const hdst__type *type)
{
    const char *name = hdst__type_name(c->arena, type);
    return strncmp(name, "struct ", 7) ? name : name + 7;
}

const char *hdst__check_near_or_all(hdst__checker *c, const char *what, const char *name, const char *const *names, size_t count)
{
    char hint[240];
    if (c->diags->errors >= HDST__DIAG_LIMIT) return NULL;       // it would not be shown
    hdst__suggest(hint, sizeof hint, what, name, names, count);
    return *hint ? hdst__arena_strdup(c->arena, hint) : NULL;
}

const char *hdst__check_near(hdst__checker *c, const char *name, const char *const *names, size_t count)
{
    if (c->diags->errors >= HDST__DIAG_LIMIT) return NULL;       // it would not be shown
    const char *near = hdst__nearest_name(name, names, count < HDST__NEAR_NAMES ? count : HDST__NEAR_NAMES);
    return near ? hdst__arena_printf(c->arena, "did you mean '%s'?", near) : NULL;
}

// The scope of the function that first needs a declaration of the file level: set aside while the declaration is resolved.
typedef struct outside {
    ast_function *function;
    size_t scope_count, block_start;
} outside;

// Limits the depth, because the checker recurses.
static bool enter(hdst__checker *c, hdst__span span, outside *saved)
{
    if (c->depth >= HDST__DEPENDENCE_LIMIT) {
        hdst__diag_error(c->diags, span, "declare first what others use", "more than %d declarations depend on one another in a row", HDST__DEPENDENCE_LIMIT);
        return false;
    }
    c->depth++;
    *saved = (outside){c->function, c->scope_count, c->block_start};
    c->function = NULL;
    c->scope_count = c->block_start = 0;
    return true;
}

static void leave(hdst__checker *c, const outside *saved)
{
    c->depth--;
    c->function = saved->function;
    c->scope_count = saved->scope_count;
    c->block_start = saved->block_start;
}

// --- Types ---

static const struct type_word { const char *name; hdst__kind kind; } type_words[] = {
    {"bool", HDST__BOOL}, {"int8_t", HDST__I8}, {"int16_t", HDST__I16}, {"int32_t", HDST__I32}, {"int64_t", HDST__I64}, {"uint8_t", HDST__U8},
    {"uint16_t", HDST__U16}, {"uint32_t", HDST__U32}, {"uint64_t", HDST__U64}, {"float", HDST__F32}, {"double", HDST__F64}, {"text", HDST__TEXT},
    {"int", HDST__I32}, {"unsigned", HDST__U32}, {"unsigned int", HDST__U32}, {"signed", HDST__I32}, {"signed int", HDST__I32},
};

// Types of C and OpenCL whose size is not the same everywhere, with what to write.
static const struct { const char *name, *instead; } foreign_types[] = {
    {"long", "int64_t"}, {"long long", "int64_t"}, {"long int", "int64_t"}, {"unsigned long", "uint64_t"}, {"unsigned long long", "uint64_t"},
    {"short", "int16_t"}, {"unsigned short", "uint16_t"}, {"char", "int8_t (or text)"}, {"signed char", "int8_t"}, {"unsigned char", "uint8_t"},
    {"size_t", "uint64_t"}, {"uint", "uint32_t"}, {"ulong", "uint64_t"}, {"uchar", "uint8_t"}, {"ushort", "uint16_t"}, {"half", "float"}, {"string", "text"},
    {"long double", "double"}, {"int8", "int8_t"}, {"int16", "int16_t"}, {"int32", "int32_t"}, {"int64", "int64_t"}, {"uint8", "uint8_t"},
    {"uint16", "uint16_t"},
    {"uint32", "uint32_t"}, {"uint64", "uint64_t"}, {"float32", "float"}, {"float64", "double"}, {"ptrdiff_t", "int64_t"}, {"intptr_t", "int64_t"},
    {"float2", "float and an array: float x[2]"}, {"float4", "float and an array: float x[4]"}, {"_Bool", "bool"},
};

// What is read as the type of a declaration when it is misspelt: `retrun x;`, `filtre f(p a)`.
static const char *const statement_words[] = {"return", "emit", "map", "filter", "flat_map", "reduce", "group", "join"};

static const char *type_hint(hdst__checker *c, const char *name)
{
    if (!strcmp(name, "emit")) return "write emit(...);";
    if (!strcmp(name, "var") || !strcmp(name, "let")) return "write the type: float, int32_t ...";
    for (size_t i = 0; i < sizeof foreign_types / sizeof *foreign_types; i++)
        if (!strcmp(foreign_types[i].name, name)) return hdst__arena_printf(c->arena, "write %s", foreign_types[i].instead);
    if (c->diags->errors >= HDST__DIAG_LIMIT) return NULL;
    size_t words = sizeof type_words / sizeof *type_words, count = 0;
    const char **names =
        HDST__NEW_ARRAY(c->arena, const char *, words + c->struct_count + c->module->record_count + sizeof statement_words / sizeof *statement_words);
    for (size_t i = 0; i < c->struct_count; i++) names[count++] = c->structs[i]->name;
    for (size_t i = 0; i < c->module->record_count; i++) names[count++] = c->module->records[i]->name;
    for (size_t i = 0; i < words; i++) names[count++] = type_words[i].name;
    for (size_t i = 0; i < sizeof statement_words / sizeof *statement_words; i++) names[count++] = statement_words[i];
    const char *near = hdst__check_near(c, name, names, count);
    return near ? near : "declare it with `struct`, or import the schema that has it: import \"file.yaml\";";
}

const hdst__type *hdst__check_base_type(hdst__checker *c, const ast_type_name *written)
{
    if (!*written->name) return &hdst__check_poison;        // the parser has reported
    if (!written->after_struct)
        for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
            if (!strcmp(type_words[i].name, written->name)) return hdst__type_scalar(type_words[i].kind);
    ast_struct *declared = hdst__name_map_find(&c->structs_by_name, written->name);
    const hdst__record *record = declared ? hdst__check_struct(c, declared) : hdst__name_map_find(&c->records, written->name);
    if (declared && !record) return &hdst__check_poison;
    if (record) return hdst__type_record(c->arena, record);
    if (!strcmp(written->name, "void")) hdst__diag_error(c->diags, written->span, NULL, "void is not a type of values");
    else hdst__diag_error(c->diags, written->span, type_hint(c, written->name), "unknown type '%s'", written->name);
    return &hdst__check_poison;
}

const hdst__type *hdst__check_type(hdst__checker *c, const ast_type_name *written)
{
    const hdst__type *type = hdst__check_base_type(c, written);
    if (written->dim_count > HDST__LEAF_DIMS) {
        hdst__diag_error(c->diags, written->span, NULL, "an array of more than %d dimensions", HDST__LEAF_DIMS);
        return &hdst__check_poison;
    }
    for (size_t i = written->dim_count; i-- > 0;) {
        uint64_t count;
        if (!written->dims[i]) {
            hdst__diag_error(c->diags, written->span, "only broadcast and accum tables are written with []", "the array needs its size");
            return &hdst__check_poison;
        }
        if (!hdst__check_constant_size(c, written->dims[i], "the size of an array", 1, MAX_ARRAY, &count)) type = &hdst__check_poison;
        if (hdst__check_is_poison(type)) continue;          // the other sizes are still looked at
        type = hdst__type_array(c->arena, type, count);
        if (hdst__type_size(type) > MAX_BYTES) {
            hdst__diag_error(c->diags, written->dims[i]->span, NULL, "the array is larger than 2^40 bytes");
            type = &hdst__check_poison;
        }
    }
    return type;
}

// --- Records ---

static bool fields(hdst__checker *c, ast_struct *s, hdst__record *record)
{
    hdst__field *made = HDST__NEW_ARRAY(c->arena, hdst__field, s->field_count + 1);
    bool good = s->field_count > 0 && s->field_count <= HDST__FIELD_LIMIT;
    if (!s->field_count) hdst__diag_error(c->diags, s->span, NULL, "the record '%s' has no fields", s->name);
    else if (!good) hdst__diag_error(c->diags, s->span, NULL, "the record '%s' has more than %d fields", s->name, HDST__FIELD_LIMIT);
    if (!good) return false;
    for (size_t i = 0; i < s->field_count; i++) {
        ast_decl *field = s->fields[i];
        made[i] = (hdst__field){.name = field->name, .type = hdst__check_type(c, field->written), .is_key = field->qualifier == AST_KEY};
        if (hdst__check_is_poison(made[i].type)) good = false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(made[j].name, field->name)) continue;
            hdst__diag_error(c->diags, field->span, NULL, "the field '%s' is declared twice", field->name);
            good = false;
        }
    }
    record->fields = made;
    record->field_count = s->field_count;
    return good;
}

const hdst__record *hdst__check_struct(hdst__checker *c, ast_struct *s)
{
    if (s->resolving == DONE) return s->record;
    if (s->resolving == IN_PROGRESS) hdst__diag_error(c->diags, s->span, NULL, "the record '%s' contains itself", s->name);
    if (s->resolving != UNTOUCHED) return NULL;
    outside saved;
    if (!enter(c, s->span, &saved)) return NULL;
    s->resolving = IN_PROGRESS;
    hdst__record *record = HDST__NEW(c->arena, hdst__record);
    *record = (hdst__record){.name = s->name, .source = s->span.source, .offset = s->span.offset};
    const char *why;
    bool good = fields(c, s, record);
    if (good && !hdst__record_finish(c->arena, record, &why)) {
        hdst__diag_error(c->diags, s->span, NULL, "the record '%s' %s", s->name, why);
        good = false;
    }
    leave(c, &saved);
    s->resolving = good ? DONE : FAILED;
    if (!good) return NULL;
    s->record = record;
    hdst__name_map_add(&c->records, c->arena, record->name, record);
    if (!c->in_math) HDST__PUSH(c->arena, c->module->records, c->module->record_count, c->module->record_capacity, record);
    return record;
}

// --- Params, constants, enum values ---

static bool constant_value(hdst__checker *c, ast_decl *decl)
{
    decl->value = hdst__check_initializer(c, decl->value, decl->type, "the value");
    if (hdst__check_is_poison(decl->value->type)) return false;
    return hdst__check_constant(c, decl->value, &decl->bits, false);
}

// Replaces every element of a constant array's list by its number.
static bool constant_elements(hdst__checker *c, ast_expr *list)
{
    bool good = true;
    for (size_t i = 0; i < list->arg_count; i++) {
        ast_expr *element = list->args[i];
        uint64_t bits;
        if (element->kind == AST_COMPOUND) good &= constant_elements(c, element);
        else if (!hdst__check_constant(c, element, &bits, false)) good = false;
        else list->args[i] = hdst__check_number(c, element->span, element->type->kind, bits);
    }
    return good;
}

static bool constant(hdst__checker *c, ast_decl *decl)
{
    decl->type = hdst__check_type(c, decl->written);
    const hdst__type *element = decl->type;
    while (element->kind == HDST__ARRAY) element = element->element;
    if (hdst__check_is_poison(element)) return false;
    if (!hdst__check_is_arithmetic(element)) {
        hdst__diag_error(c->diags, decl->span, NULL, "a constant is a number or an array of numbers, not %s", hdst__check_type_name(c, element));
        return false;
    }
    if (decl->type->kind != HDST__ARRAY) return constant_value(c, decl);
    decl->value = hdst__check_initializer(c, decl->value, decl->type, "the value");
    return !hdst__check_is_poison(decl->value->type) && constant_elements(c, decl->value);
}

// As in C, a float is no value of an enum, though it could be converted.
static bool whole_value(hdst__checker *c, ast_decl *decl)
{
    const hdst__type *type = decl->value->type;
    if (hdst__check_is_poison(type)) return false;
    if (type->kind == HDST__BOOL || hdst__kind_is_integer(type->kind)) {
        decl->value = hdst__check_to_kind(c, decl->value, HDST__I32);
        return true;
    }
    hdst__diag_error(c->diags, decl->value->span, NULL, "the value of '%s' must be an integer, not %s", decl->name, hdst__check_type_name(c, type));
    return false;
}

static bool enum_value(hdst__checker *c, ast_decl *decl)
{
    decl->type = hdst__type_scalar(HDST__I32);
    if (decl->value) {
        decl->value = hdst__check_value(c, decl->value);
        return whole_value(c, decl) && hdst__check_constant(c, decl->value, &decl->bits, false);
    }
    if (!decl->previous) return true;
    if (!hdst__check_global(c, decl->previous)) return false;
    if ((int64_t)decl->previous->bits == INT32_MAX) {
        hdst__diag_error(c->diags, decl->span, "give it a value", "the value of '%s' does not fit int32_t: '%s' is the largest already", decl->name,
                         decl->previous->name);
        return false;
    }
    decl->bits = hdst__eval_binary(IR_ADD, HDST__I32, decl->previous->bits, 1);
    return true;
}

static const hdst__param_value *given_value(hdst__checker *c, const char *name)
{
    for (size_t i = 0; i < c->options->param_count; i++)
        if (!strcmp(c->options->params[i].name, name)) return &c->options->params[i];
    return NULL;
}

static double as_double(hdst__kind kind, uint64_t bits)
{
    double value;
    const uint64_t wide = hdst__scalar_convert(HDST__F64, kind, bits);
    memcpy(&value, &wide, sizeof value);
    return value;
}

// Floats round; nothing else may change, and nothing finite become infinite.
static bool survives(hdst__kind from, uint64_t before, hdst__kind kind, uint64_t after)
{
    const double given = as_double(from, before), taken = as_double(kind, after);
    if (hdst__kind_is_float(kind)) return !isfinite(given) || isfinite(taken);
    const bool is_signed = hdst__kind_is_signed(kind);
    if (from == HDST__F64) return given == taken && given < (is_signed ? 0x1p63 : 0x1p64); // the largest integers are no doubles: 2^63 would seem to survive
    const bool was_negative = from == HDST__I64 && (int64_t)before < 0, is_negative = is_signed && (int64_t)after < 0;
    return before == after && was_negative == is_negative;
}

static const char *given_text(hdst__checker *c, const hdst__param_value *given)
{
    if (given->is_real) return hdst__arena_printf(c->arena, "%.17g", given->real);
    if (given->is_unsigned) return hdst__arena_printf(c->arena, "%" PRIu64, given->bits);
    return hdst__arena_printf(c->arena, "%" PRId64, (int64_t)given->bits);
}

static bool convert_given(hdst__checker *c, ast_decl *decl, const hdst__param_value *given)
{
    const hdst__kind kind = decl->type->kind, from = given->is_real ? HDST__F64 : given->is_unsigned ? HDST__U64 : HDST__I64;
    uint64_t bits = given->bits;
    if (given->is_real) memcpy(&bits, &given->real, sizeof bits);
    decl->bits = hdst__scalar_convert(kind, from, bits);
    if (survives(from, bits, kind, decl->bits)) return true;
    hdst__diag_error(c->diags, decl->span, NULL, "the param '%s' was set to %s, which does not fit %s", decl->name, given_text(c, given),
                     hdst__scalar_c_name(kind));
    return false;
}

static bool global_param(hdst__checker *c, ast_decl *decl)
{
    decl->type = hdst__check_type(c, decl->written);
    if (hdst__check_is_poison(decl->type)) return false;
    if (!hdst__check_is_arithmetic(decl->type)) {
        hdst__diag_error(c->diags, decl->span, "what changes from run to run is a `broadcast` parameter of a function", "a param is a number or bool, not %s",
                         hdst__check_type_name(c, decl->type));
        return false;
    }
    const hdst__param_value *given = given_value(c, decl->name);
    bool good = decl->value ? constant_value(c, decl) : true;       // a default is checked even when it is not used
    if (given) return convert_given(c, decl, given);
    if (decl->value) return good;
    if (!c->options->assume_params) {
        const char *hint = "HDST_PARAM(\"%s\", 2) in C, --param %s=2 on the command line, or a default: = 2;";
        hdst__diag_error(c->diags, decl->span, hdst__arena_printf(c->arena, hint, decl->name, decl->name), "the param '%s' has no value", decl->name);
        return false;
    }
    hdst__diag_note(c->diags, decl->span, "the param '%s' has no value; taken as 4", decl->name);
    decl->bits = hdst__scalar_convert(decl->type->kind, HDST__I32, 4);
    return true;
}

bool hdst__check_global(hdst__checker *c, ast_decl *decl)
{
    if (decl->resolving == DONE || decl->resolving == FAILED) return decl->resolving == DONE;
    if (decl->resolving == IN_PROGRESS) {
        hdst__diag_error(c->diags, decl->span, NULL, "the value of '%s' depends on itself", decl->name);
        return false;
    }
    outside saved;
    if (!enter(c, decl->span, &saved)) return false;
    decl->resolving = IN_PROGRESS;
    bool good = decl->kind == AST_CONST ? constant(c, decl) : decl->kind == AST_ENUM_VALUE ? enum_value(c, decl) : global_param(c, decl);
    leave(c, &saved);
    decl->resolving = good ? DONE : FAILED;
    return good;
}

void hdst__check_params(hdst__checker *c)
{
    // Enum values in order, as each counts on from the one before.
    for (size_t i = 0; i < c->module->global_count; i++)
        if (c->module->globals[i]->kind == AST_ENUM_VALUE) hdst__check_global(c, c->module->globals[i]);
    for (size_t i = 0; i < c->module->global_count; i++)
        if (c->module->globals[i]->kind == AST_GLOBAL_PARAM) hdst__check_global(c, c->module->globals[i]);
}
