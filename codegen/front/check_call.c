// SPDX-License-Identifier: Apache-2.0
// Calls: helper functions and the built-ins of codegen/front/builtins.h.
#include "codegen/front/builtins.h"
#include "codegen/front/check.h"

#include <string.h>

typedef enum typing {
    FLOAT, NUMERIC, TO_BOOL, BITS_F32_U32, BITS_F32_I32, BITS_32_F32, BITS_F64_U64, BITS_F64_I64, BITS_64_F64, LENGTH, TO_U64, ACCUMULATE, OVER_ARRAYS, GIVE,
    MATH, DRAW, OF_ANY, LOOSE_F32_U32, LOOSE_F32_I32, LOOSE_F64_U64, LOOSE_F64_I64,
    COUNT_BITS, VIEW, TEXT_WORD, TEXT_TOKENS, TEXT_BYTE, PARSE, CHECK, BUILD,
} typing;

static const struct builtin { const char *name; size_t args; typing typing; } builtins[] = {
#define ENTRY(id, name, args, typing) {name, args, typing},
    HDST__BUILTIN_MAP(ENTRY)
#undef ENTRY
};

static int find_builtin(const char *name)       // -1: none
{
    for (int i = 0; i < HDST__BI_COUNT; i++)
        if (!strcmp(builtins[i].name, name)) return i;
    return -1;
}

// Functions over arrays, mathematics, random numbers and hash have common names: a function of the program with the same name
// comes first.
static bool gives_way(int id)
{
    const typing t = builtins[id].typing;
    return t == OVER_ARRAYS || t == MATH || t == DRAW || t == OF_ANY || t == COUNT_BITS || t == VIEW || t == PARSE || t == BUILD;
}

// Functions that only the mathematics may call; elsewhere their names are unknown.
static bool is_inner(int id)
{
    const typing t = builtins[id].typing;
    return t == TEXT_WORD || t == TEXT_TOKENS || t == TEXT_BYTE || t == CHECK || t == LOOSE_F32_U32 || t == LOOSE_F32_I32 || t == LOOSE_F64_U64 ||
           t == LOOSE_F64_I64;
}

bool hdst__check_is_builtin(const char *name)
{
    const int id = find_builtin(name);
    return id >= 0 && !gives_way(id) && !is_inner(id);
}

void hdst__check_arguments(hdst__checker *c, ast_expr *call)
{
    for (size_t i = 0; i < call->arg_count; i++) call->args[i] = hdst__check_value(c, call->args[i]);
}

bool hdst__check_argument_count(hdst__checker *c, ast_expr *call, size_t least, size_t most)
{
    if (call->arg_count >= least && call->arg_count <= most) return true;
    const char *range = least == most ? hdst__arena_printf(c->arena, "%zu", least) : hdst__arena_printf(c->arena, "%zu to %zu", least, most);
    hdst__diag_error(c->diags, call->span, NULL, "%s takes %s argument%s, not %zu", call->name, range, most == 1 ? "" : "s", call->arg_count);
    return false;
}

static bool any_poison(const ast_expr *call)
{
    for (size_t i = 0; i < call->arg_count; i++)
        if (hdst__check_is_poison(call->args[i]->type)) return true;
    return false;
}

static ast_expr *wrong_argument(hdst__checker *c, ast_expr *call, size_t i, const char *wanted, const char *hint)
{
    hdst__diag_error(c->diags, call->args[i]->span, hint, "%s takes %s, not %s", call->name, wanted, hdst__check_type_name(c, call->args[i]->type));
    return hdst__check_poisoned(call);
}

// Converts all arguments to one floating or arithmetic type.
static ast_expr *numeric(hdst__checker *c, ast_expr *call, bool floating)
{
    hdst__kind common = HDST__BOOL;
    for (size_t i = 0; i < call->arg_count; i++) {
        const hdst__type *type = call->args[i]->type;
        if (!hdst__check_is_arithmetic(type)) return wrong_argument(c, call, i, "numbers", NULL);
        common = i == 0 ? hdst__check_promote(type->kind) : hdst__check_common(common, type->kind);
    }
    if (floating && !hdst__kind_is_float(common)) common = HDST__F64;
    for (size_t i = 0; i < call->arg_count; i++) call->args[i] = hdst__check_to_kind(c, call->args[i], common);
    call->type = hdst__type_scalar(common);
    return call;
}

// Calls a helper function written in the kernel language, chosen by the type of the arguments.
static ast_expr *mathematics(hdst__checker *c, ast_expr *call)
{
    numeric(c, call, true);
    if (hdst__check_is_poison(call->type)) return call;
    call->builtin = -1;
    call->callee = hdst__check_math_of(c, call->name, call->type->kind);
    return call;
}

static ast_expr *bit_cast(hdst__checker *c, ast_expr *call, bool from_float, hdst__kind from, hdst__kind to)
{
    hdst__kind kind = call->args[0]->type->kind;
    bool good = from_float ? kind == from : hdst__kind_is_integer(kind) && hdst__scalar_size(hdst__check_promote(kind)) == hdst__scalar_size(from);
    if (!good) {
        const char *bits = hdst__scalar_size(from) == 4 ? "a 32-bit integer" : "a 64-bit integer";
        const char *wanted = from_float ? hdst__arena_printf(c->arena, "a %s", hdst__scalar_c_name(from)) : bits;
        return wrong_argument(c, call, 0, wanted, "it gives the same bits another type; to convert a value write a cast");
    }
    if (!from_float) call->args[0] = hdst__check_to_kind(c, call->args[0], hdst__check_promote(kind));
    call->type = hdst__type_scalar(to);
    return call;
}

static ast_expr *length(hdst__checker *c, ast_expr *call)
{
    ast_expr *arg = call->args[0];
    const hdst__type *type = NULL;
    ast_decl *decl = arg->kind == AST_NAME ? hdst__check_find(c, arg->name) : NULL;
    if (decl && decl->kind == AST_PARAM && (decl->is_table || decl->qualifier == AST_STREAM)) {
        if (decl->qualifier == AST_STREAM) {
            hdst__diag_error(c->diags, arg->span, "count in the loop over it", "the length of a stream is not known before its end");
            return hdst__check_poisoned(call);
        }
        arg->decl = decl;
        arg->type = decl->type;
        decl->used = true;
        call->type = hdst__type_scalar(HDST__U64);
        return call;
    }
    call->args[0] = arg->kind == AST_INDEX ? hdst__check_expr(c, arg) : hdst__check_value(c, arg);
    type = call->args[0]->type;
    if (hdst__check_is_poison(type)) return hdst__check_poisoned(call);
    if (type->kind == HDST__STREAM && arg->kind == AST_INDEX) {
        call->type = hdst__type_scalar(HDST__U64);
        return call;
    }
    if (type->kind == HDST__ARRAY) return hdst__check_number(c, call->span, HDST__U64, type->count);
    if (type->kind != HDST__TEXT) return wrong_argument(c, call, 0, "a table, an array or a text", NULL);
    call->type = hdst__type_scalar(HDST__U64);
    return call;
}

// acc_min(cell, v), acc_max(cell, v): statements
static ast_expr *accumulate(hdst__checker *c, ast_expr *call)
{
    call->args[0] = hdst__check_accum_path(c, call->args[0]);
    call->args[1] = hdst__check_value(c, call->args[1]);
    call->type = hdst__type_scalar(HDST__VOID);
    const hdst__type *cell = call->args[0]->type;
    if (hdst__check_is_poison(cell) || hdst__check_is_poison(call->args[1]->type)) return hdst__check_poisoned(call);
    hdst__check_accum_law(c, call->args[0], call->name, call->span);
    call->args[1] = hdst__check_to_type(c, call->args[1], cell, "the value");
    return call;
}

// dot(a, b), sum(a)
static ast_expr *over_arrays(hdst__checker *c, ast_expr *call)
{
    const hdst__type *first = call->args[0]->type;
    for (size_t i = 0; i < call->arg_count; i++) {
        const hdst__type *type = call->args[i]->type;
        if (type->kind != HDST__ARRAY || !hdst__check_is_arithmetic(type->element))
            return wrong_argument(c, call, i, "an array of numbers",
                                  type->kind == HDST__ARRAY && type->element->kind == HDST__ARRAY ? "call it for one row after another" : NULL);
    }
    if (call->arg_count == 2 && !hdst__type_equal(first, call->args[1]->type)) {
        const bool sizes = first->count != call->args[1]->type->count;
        hdst__diag_error(c->diags, call->span, sizes ? NULL : "copy one of them into an array of the other's type",
                         "dot takes two arrays of one %s, not %s and %s", sizes ? "size" : "type", hdst__check_type_name(c, first),
                         hdst__check_type_name(c, call->args[1]->type));
        return hdst__check_poisoned(call);
    }
    call->type = hdst__type_scalar(hdst__check_promote(first->element->kind));
    return call;
}

// hash(x)
static ast_expr *of_any(hdst__checker *c, ast_expr *call)
{
    const hdst__type *type = call->args[0]->type, *base = hdst__type_base(type);
    if (type->kind == HDST__TEXT) return hdst__check_text_hash(c, call);
    if (base->kind == HDST__TEXT || (base->kind == HDST__RECORD && base->record->has_text))
        return wrong_argument(c, call, 0, "a text alone, or what holds none", "take the texts one by one: hash(hash(r.name) ^ r.number)");
    if (base->kind != HDST__RECORD && !hdst__kind_is_scalar(base->kind)) return wrong_argument(c, call, 0, "a number, a record or an array", NULL);
    call->type = hdst__type_scalar(HDST__U64);
    return call;
}

// ctz(x): converts to 32 or 64 bits without a sign
static ast_expr *count_bits(hdst__checker *c, ast_expr *call)
{
    const hdst__kind kind = call->args[0]->type->kind;
    if (!hdst__kind_is_integer(kind)) return wrong_argument(c, call, 0, "an integer", NULL);
    call->args[0] = hdst__check_to_kind(c, call->args[0], hdst__scalar_size(kind) > 4 ? HDST__U64 : HDST__U32);
    call->type = hdst__type_scalar(HDST__U32);
    return call;
}

static ast_expr *of_text(hdst__checker *c, ast_expr *call, hdst__kind result)
{
    if (call->args[0]->type->kind != HDST__TEXT) return wrong_argument(c, call, 0, "a text", NULL);
    if (call->arg_count > 1) call->args[1] = hdst__check_to_kind(c, call->args[1], HDST__U32);
    if (call->arg_count > 2) call->args[2] = hdst__check_to_kind(c, call->args[2], HDST__U64);
    call->type = hdst__type_scalar(result);
    return call;
}

static ast_expr *builtin_call(hdst__checker *c, ast_expr *call, int id)
{
    const struct builtin *b = &builtins[id];
    call->builtin = id;
    if (b->typing == GIVE) return hdst__check_emit(c, call);
    if (!hdst__check_argument_count(c, call, b->args, b->args)) return hdst__check_poisoned(call);
    if (b->typing == LENGTH) return length(c, call);
    if (b->typing == ACCUMULATE) return accumulate(c, call);
    if (b->typing == BUILD) return hdst__check_built_text(c, call);
    hdst__check_arguments(c, call);
    if (any_poison(call)) return hdst__check_poisoned(call);
    switch (b->typing) {
    case FLOAT: return numeric(c, call, true);
    case NUMERIC: return numeric(c, call, false);
    case TO_BOOL:
        numeric(c, call, true);
        if (!hdst__check_is_poison(call->type)) call->type = hdst__type_scalar(HDST__BOOL);
        return call;
    case BITS_F32_U32: case LOOSE_F32_U32: return bit_cast(c, call, true, HDST__F32, HDST__U32);
    case BITS_F32_I32: case LOOSE_F32_I32: return bit_cast(c, call, true, HDST__F32, HDST__I32);
    case BITS_32_F32: return bit_cast(c, call, false, HDST__U32, HDST__F32);
    case BITS_F64_U64: case LOOSE_F64_U64: return bit_cast(c, call, true, HDST__F64, HDST__U64);
    case BITS_F64_I64: case LOOSE_F64_I64: return bit_cast(c, call, true, HDST__F64, HDST__I64);
    case BITS_64_F64: return bit_cast(c, call, false, HDST__U64, HDST__F64);
    case TO_U64: call->type = hdst__type_scalar(HDST__U64); return call;
    case OVER_ARRAYS: return over_arrays(c, call);
    case MATH: return mathematics(c, call);
    case OF_ANY: return of_any(c, call);
    case COUNT_BITS: return count_bits(c, call);
    case VIEW: return of_text(c, call, HDST__TEXT);
    case TEXT_WORD: return of_text(c, call, HDST__U64);
    case TEXT_TOKENS: return of_text(c, call, HDST__TEXT);
    case TEXT_BYTE: return of_text(c, call, HDST__U8);
    case CHECK: return of_text(c, call, HDST__VOID);
    case LENGTH: case ACCUMULATE: case GIVE: case DRAW: case PARSE: case BUILD: break;     // elsewhere
    }
    return call;
}

// Functions of C and OpenCL that people reach for, and what there is instead; NULL: as the one above.
static const struct { const char *name, *instead; } foreign_calls[] = {
    {"printf", "a kernel cannot print: return or emit what you want to see, or let a check fail and use `hdst replay`, which shows every step of a record"},
    {"fprintf", NULL}, {"print", NULL}, {"puts", NULL}, {"putchar", NULL}, {"cout", NULL},
    {"malloc", "a kernel has no memory of its own: declare an array with its size, float x[8];"}, {"calloc", NULL}, {"realloc", NULL},
    {"free", NULL}, {"alloca", NULL},
    {"rand", "random numbers depend on an index and a stream only, so that every device draws the same: rng, uniform, normal, exponential"},
    {"srand", NULL}, {"random", NULL},
    {"drand48", NULL},
    {"get_global_id", "a function is about one record; record_index() is its number"}, {"get_local_id", NULL}, {"get_group_id", NULL},
    {"get_global_size", NULL},
    {"atomic_add", "accumulators are added to by all records at once: declare `accum T name` and write name += x"}, {"atomic_inc", NULL}, {"atomicAdd", NULL},
    {"barrier", "records do not wait for one another; what they share is accumulated or reduced"}, {"__syncthreads", NULL},
    {"assert", "to end a run at a record that must not be, let a check fail: an index out of range or a division by zero names the record"},
    {"abort", NULL}, {"exit", NULL},
    {"memcpy", "a record is assigned as a value, a = b; an array element by element: for (uint32_t i = 0; i < len(a); i++) a[i] = b[i];"},
    {"memset", "a new record or array is all zero: T x = {0};"},
    {"source_index", "lines have it in a field: struct line { text text; uint32_t source; uint64_t offset, line; };"}, {"source_offset", NULL},
    {"line_number", NULL},
    {"fopen", "a kernel opens no files: bind what it needs to a broadcast parameter"}, {"scanf", NULL},
};

static const char *instead_of(const char *name)
{
    const char *instead = NULL;
    for (size_t i = 0; i < sizeof foreign_calls / sizeof *foreign_calls; i++) {
        if (foreign_calls[i].instead) instead = foreign_calls[i].instead;
        if (!strcmp(foreign_calls[i].name, name)) return instead;
    }
    return NULL;
}

static const char *call_hint(hdst__checker *c, const char *name)
{
    const char *instead = instead_of(name);
    if (instead) return instead;
    if (c->diags->errors >= HDST__DIAG_LIMIT) return NULL;
    size_t count = 0;
    const char **names = HDST__NEW_ARRAY(c->arena, const char *, HDST__BI_COUNT + c->module->function_count);
    for (int i = 0; i < HDST__BI_COUNT; i++)
        if (!is_inner(i)) names[count++] = builtins[i].name;
    for (size_t i = 0; i < c->module->function_count; i++) names[count++] = c->module->functions[i]->name;
    return hdst__check_near(c, name, names, count);
}

static ast_expr *helper_call(hdst__checker *c, ast_expr *call, ast_function *f)
{
    if (f->kind != AST_HELPER) {
        hdst__diag_error(c->diags, call->span, "put what both need in a helper function", "'%s' is run over datasets; it cannot be called", f->name);
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    hdst__check_signature(c, f);
    hdst__check_arguments(c, call);
    call->type = f->result;
    call->callee = f;
    if (!hdst__check_argument_count(c, call, f->param_count, f->param_count)) return call;
    for (size_t i = 0; i < call->arg_count; i++)
        call->args[i] = hdst__check_to_type(c, call->args[i], f->params[i]->type, hdst__arena_printf(c->arena, "argument %zu of '%s'", i + 1, f->name));
    return call;
}

// parse_int(t), parse_int(t, otherwise)
static ast_expr *parsed(hdst__checker *c, ast_expr *call)
{
    if (!hdst__check_argument_count(c, call, 1, 2)) {
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    return helper_call(c, call, hdst__check_find_math(c, call->arg_count == 1 ? call->name : hdst__arena_printf(c->arena, "%s_or", call->name)));
}

ast_expr *hdst__check_call(hdst__checker *c, ast_expr *call)
{
    const int found = find_builtin(call->name), id = found >= 0 && is_inner(found) && !c->in_math ? -1 : found;
    ast_function *f = NULL;
    if (id < 0 || gives_way(id)) f = c->in_math ? hdst__check_find_math(c, call->name) : hdst__name_map_find(&c->functions, call->name);
    if (!f && id >= 0 && builtins[id].typing == DRAW) f = hdst__check_find_math(c, call->name);
    if (f) return helper_call(c, call, f);
    if (id >= 0 && builtins[id].typing == PARSE) return parsed(c, call);
    if (id >= 0) return builtin_call(c, call, id);
    if (hdst__check_has_call(c, call) || hdst__check_later_call(c, call)) return call;
    const char *hint = hdst__name_map_find(&c->records, call->name) || hdst__name_map_find(&c->structs_by_name, call->name)
        ? hdst__arena_printf(c->arena, "a record is built with braces: (%s){ ... }", call->name) : call_hint(c, call->name);
    hdst__diag_error(c->diags, (hdst__span){call->span.source, call->span.offset, (uint32_t)strlen(call->name)}, hint, "unknown function '%s'", call->name);
    hdst__check_arguments(c, call);
    return hdst__check_poisoned(call);
}
