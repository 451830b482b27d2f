// SPDX-License-Identifier: Apache-2.0
// Checks of whole functions: parameters and results of each kind, that every path returns, that no helper calls itself, and what
// is not available yet.
#include "codegen/front/check.h"

#include <string.h>

enum { MAX_PARAMS = 64 };

void hdst__check_unsupported(hdst__checker *c, hdst__span span, const char *what)
{
    if (!c->function || c->function->unsupported) return;
    c->function->unsupported = what;
    c->function->unsupported_span = span;
}

// --- Parameters ---

static const char *kind_name(ast_function_kind kind)
{
    static const char *const names[] = {"helper function", "map", "filter", "flat_map", "reduce", "group", "join"};
    return names[kind];
}

static bool qualifier_allowed(ast_function_kind kind, ast_qualifier qualifier)
{
    switch (qualifier) {
    case AST_PLAIN: return kind != AST_GROUP;
    case AST_BROADCAST: case AST_LOOKUP: return kind != AST_HELPER && kind != AST_REDUCE;
    case AST_ACCUM: return kind == AST_MAP || kind == AST_FLAT_MAP;
    case AST_KEY: case AST_STREAM: return kind == AST_GROUP;
    case AST_OPTIONAL: return kind == AST_JOIN;
    }
    return false;
}

static void misplaced(hdst__checker *c, const ast_function *f, const ast_decl *p)
{
    static const char *const words[] = {"plain", "broadcast", "lookup", "accum", "key", "stream", "optional"};
    const char *hint = NULL;
    if (f->kind == AST_HELPER) hint = "a helper function takes values; pass a row: f(c[j])";
    else if (f->kind == AST_FILTER) hint = "a filter only decides; accumulate in a map";
    else if (f->kind == AST_GROUP) hint = "group name(key K k, stream V v) -> T { ... }";
    else if (f->kind == AST_REDUCE) hint = "reduce name(T a, T b) { ... }";
    hdst__diag_error(c->diags, p->span, hint, "a %s takes no %s parameter", kind_name(f->kind), words[p->qualifier]);
}

// The type of a row of a table: `broadcast T v[]`. Only the empty brackets are written.
static void table(hdst__checker *c, ast_decl *p)
{
    const ast_type_name *written = p->written;
    p->is_table = true;
    if (written->dim_count == 1 && !written->dims[0]) return;
    const char *word = p->qualifier == AST_ACCUM ? "accum" : "broadcast";
    if (written->dim_count == 1)
        hdst__diag_error(c->diags, p->span,
                         hdst__arena_printf(c->arena, "write %s %s %s[]; the program sets the number of rows", word, written->name, p->name),
                         "a table has no fixed size");
    else
        hdst__diag_error(c->diags, p->span, "put the array into a struct, and make a table of it", "a table has one dimension");
    p->type = &hdst__check_poison;
}

// false: it does not belong to this kind of function
static bool parameter(hdst__checker *c, const ast_function *f, ast_decl *p)
{
    bool tables = p->qualifier == AST_BROADCAST || p->qualifier == AST_ACCUM;
    if (!qualifier_allowed(f->kind, p->qualifier)) {
        misplaced(c, f, p);
        p->type = &hdst__check_poison;
        return false;
    }
    p->type = f->kind == AST_HELPER || !p->written->dim_count ? hdst__check_type(c, p->written) : hdst__check_base_type(c, p->written);
    if (hdst__check_is_poison(p->type)) return true;
    if (p->written->dim_count && tables) table(c, p);
    else if (p->written->dim_count && f->kind != AST_HELPER) {
        hdst__diag_error(c->diags, p->span,
                         p->qualifier == AST_PLAIN ? "an array lives in a record; what all records share is `broadcast T v[]`" : NULL,
                         "'%s' cannot be an array", p->name);
        p->type = &hdst__check_poison;
    }
    if (p->qualifier == AST_LOOKUP) hdst__check_lookup_key(c, p);
    if (p->qualifier == AST_ACCUM && (p->type->kind == HDST__TEXT || (p->type->kind == HDST__RECORD && p->type->record->has_text))) {
        hdst__diag_error(c->diags, p->span, NULL, "text cannot be accumulated");
        p->type = &hdst__check_poison;
    }
    if (p->qualifier == AST_STREAM && !hdst__check_is_poison(p->type)) {
        hdst__type *stream = HDST__NEW(c->arena, hdst__type);
        *stream = (hdst__type){.kind = HDST__STREAM, .element = p->type};
        p->type = stream;
    }
    return true;
}

static size_t count(const ast_function *f, ast_qualifier qualifier)
{
    size_t n = 0;
    for (size_t i = 0; i < f->param_count; i++) n += f->params[i]->qualifier == qualifier;
    return n;
}

// The input records of an operator are its first parameters. false: they are not.
static bool records(hdst__checker *c, ast_function *f)
{
    size_t plain = count(f, AST_PLAIN), wanted = 1;
    const char *shape = NULL;
    switch (f->kind) {
    case AST_HELPER: return true;
    case AST_GROUP:
        wanted = plain = count(f, AST_KEY) + count(f, AST_STREAM);
        if (count(f, AST_KEY) != 1 || count(f, AST_STREAM) < 1 || count(f, AST_STREAM) > 2) wanted = 2, plain = 0;
        shape = "group name(key K k, stream V v) -> T { ... }, or with two streams for hdst_co_group";
        break;
    case AST_JOIN: wanted = 2, plain += count(f, AST_OPTIONAL), shape = "join name(A a, optional B b) -> T { ... }"; break;
    case AST_REDUCE: wanted = 2, shape = "reduce name(T a, T b) { ... }"; break;
    default: shape = hdst__arena_printf(c->arena, "%s name(T a, ...) { ... }", kind_name(f->kind)); break;
    }
    if (plain != wanted) {
        const char *on = f->kind == AST_GROUP ? "a key and one or two streams" : wanted == 1 ? "one record" : "two records";
        hdst__diag_error(c->diags, f->span, shape, "a %s works on %s", kind_name(f->kind), on);
        return false;
    }
    bool first = true;
    for (size_t i = 0; i < wanted; i++) {
        ast_qualifier q = f->params[i]->qualifier;
        if (q != AST_BROADCAST && q != AST_LOOKUP && q != AST_ACCUM) continue;
        hdst__diag_error(c->diags, f->params[i]->span, shape, "the record%s come%s first", wanted == 1 ? "" : "s", wanted == 1 ? "s" : "");
        first = false;
    }
    return first;
}

// Whether it is a function over records of two datasets, whose types are good.
static bool takes_two(const ast_function *f)
{
    for (size_t i = 0; i < f->param_count; i++)
        if (hdst__check_is_poison(f->params[i]->type)) return false;
    return f->kind == AST_JOIN || (f->kind == AST_GROUP && count(f, AST_STREAM) == 2);
}

// --- Results ---

static void output(hdst__checker *c, ast_function *f)
{
    if (f->tuple) {
        for (size_t i = 0; i < f->tuple->field_count; i++) {
            ast_qualifier q = f->tuple->fields[i]->qualifier;
            if (q != AST_PLAIN && q != AST_KEY) hdst__diag_error(c->diags, f->tuple->fields[i]->span, NULL, "only `key` stands in front of an output field");
        }
        const hdst__record *record = hdst__check_struct(c, f->tuple);
        f->result = record ? hdst__type_record(c->arena, record) : &hdst__check_poison;
    } else {
        f->result = f->written_result ? hdst__check_type(c, f->written_result) : hdst__type_scalar(HDST__VOID);
    }
}

static void result(hdst__checker *c, ast_function *f)
{
    bool has_output = f->written_result || f->tuple;
    if (f->kind == AST_FILTER || f->kind == AST_REDUCE) {
        const char *gives = f->kind == AST_FILTER ? "a filter gives the records that it keeps" : "a reduce gives a record of the type that it takes";
        if (has_output) hdst__diag_error(c->diags, f->span, "leave the -> out", "%s", gives);
        f->result = f->kind == AST_FILTER ? hdst__type_scalar(HDST__BOOL) : f->param_count ? f->params[0]->type : &hdst__check_poison;
        return;
    }
    if (f->kind == AST_HELPER && !strcmp(f->written_result->name, "void")) {
        hdst__diag_error(c->diags, f->written_result->span, "return a number or a record", "a helper function changes nothing, so it must return a value");
        return;
    }
    output(c, f);
    if (f->kind == AST_MAP && !has_output && !count(f, AST_ACCUM))
        hdst__diag_error(c->diags, f->span, "map name(T a) -> U, or an `accum` parameter",
                         "the map '%s' gives nothing: it has neither an output nor accumulators", f->name);
    if ((f->kind == AST_FLAT_MAP || f->kind == AST_GROUP || f->kind == AST_JOIN) && !has_output) {
        hdst__diag_error(c->diags, f->span, "-> T, or -> (key K name, T name)", "a %s needs an output", kind_name(f->kind));
        f->result = &hdst__check_poison;
    }
}

static void reduce_signature(hdst__checker *c, ast_function *f)
{
    if (f->param_count == 2 && !hdst__check_is_poison(f->params[0]->type) && !hdst__check_is_poison(f->params[1]->type) &&
        !hdst__type_equal(f->params[0]->type, f->params[1]->type))
        hdst__diag_error(c->diags, f->params[1]->span, NULL, "a reduce takes two of one type, not %s and %s",
                         hdst__check_type_name(c, f->params[0]->type), hdst__check_type_name(c, f->params[1]->type));
    if (!f->identity || hdst__check_is_poison(f->result)) return;
    f->identity = hdst__check_list(c, f->identity, f->result, "the identity");
}

void hdst__check_signature(hdst__checker *c, ast_function *f)
{
    if (f->result) return;
    f->result = &hdst__check_poison;
    ast_function *around = c->function;
    c->function = f;
    if (f->param_count > MAX_PARAMS) {
        hdst__diag_error(c->diags, f->span, NULL, "'%s' has more than %d parameters", f->name, MAX_PARAMS);
        f->param_count = MAX_PARAMS;
    }
    bool good = true;
    for (size_t i = 0; i < f->param_count; i++) good &= parameter(c, f, f->params[i]);
    if (good && records(c, f) && takes_two(f)) hdst__check_pair(c, f);
    result(c, f);
    if (f->kind == AST_REDUCE) reduce_signature(c, f);
    c->function = around;
}

// --- Whether the end can be reached ---

// Whether a break leaves this statement; a break of an inner loop or switch does not.
static bool breaks(const ast_stmt *s)
{
    if (!s) return false;
    switch (s->kind) {
    case AST_BREAK: return true;
    case AST_IF: return breaks(s->then) || breaks(s->otherwise);
    case AST_BLOCK:
        for (size_t i = 0; i < s->body_count; i++)
            if (breaks(s->body[i])) return true;
        return false;
    default: return false;
    }
}

static bool always(const ast_expr *cond) { return !cond || (cond->kind == AST_NUMBER && cond->number.bits); }

static bool completes(const ast_stmt *s);

static bool switch_completes(const ast_stmt *s)
{
    bool has_default = false, reached = false;
    for (size_t i = 0; i < s->body_count; i++) {
        const ast_stmt *inner = s->body[i];
        if (inner->kind == AST_CASE) {
            reached = true;
            has_default |= !inner->value;
        } else {
            if (breaks(inner)) return true;
            reached = reached && completes(inner);
        }
    }
    return reached || !has_default;
}

static bool completes(const ast_stmt *s)
{
    switch (s->kind) {
    case AST_RETURN: case AST_BREAK: case AST_CONTINUE: return false;
    case AST_IF: return !s->otherwise || completes(s->then) || completes(s->otherwise);
    case AST_WHILE: case AST_FOR: return !always(s->cond) || breaks(s->then);
    case AST_DO: return !always(s->cond) || breaks(s->then);
    case AST_SWITCH: return switch_completes(s);
    case AST_BLOCK:
        for (size_t i = 0; i < s->body_count; i++)
            if (!completes(s->body[i])) return false;
        return true;
    default: return true;
    }
}

// An external kernel reads and writes records; it has no accumulators.
static void check_declared(hdst__checker *c, const ast_function *f)
{
    for (size_t i = 0; i < f->param_count; i++) {
        if (f->params[i]->qualifier == AST_ACCUM)
            hdst__diag_error(c->diags, f->params[i]->span, "let it give records, and accumulate in a map behind it",
                             "a map without a body has no accumulators");
        else if (f->params[i]->key)
            hdst__diag_error(c->diags, f->params[i]->span, "look them up in a map in front of it", "a function without a body has no lookups by key");
    }
}

void hdst__check_function(hdst__checker *c, ast_function *f)
{
    hdst__check_signature(c, f);
    if (!f->body) {
        check_declared(c, f);
        return;
    }
    c->function = f;
    c->scope_count = c->block_start = 0;
    c->loops = c->switches = 0;
    c->laws = (hdst__name_map){0};
    c->record_return = c->bare_return = (hdst__span){0};
    f->emits = f->kind == AST_FLAT_MAP;
    hdst__check_body(c, f);
    hdst__check_emits(c, f);
    bool must_return = !f->emits && !hdst__check_is_poison(f->result) && f->result->kind != HDST__VOID;
    if (must_return && completes(f->body))
        hdst__diag_error(c->diags, f->span, f->kind == AST_GROUP ? "or emit(...) any number of records" : NULL, "'%s' must return %s on every path", f->name,
                         f->kind == AST_FILTER ? "true or false" : hdst__check_type_name(c, f->result));
    c->function = NULL;
}
