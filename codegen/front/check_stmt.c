// SPDX-License-Identifier: Apache-2.0
// Statements: scopes, assignments, loops, switches, returns.
#include "codegen/front/check.h"

#include <inttypes.h>
#include <string.h>

static void statement(hdst__checker *c, ast_stmt *s);

// --- Scopes ---

typedef struct scope { size_t count, block_start; } scope;

static scope open_scope(hdst__checker *c)
{
    scope saved = {c->scope_count, c->block_start};
    c->block_start = c->scope_count;
    return saved;
}

static void close_scope(hdst__checker *c, scope saved)
{
    for (size_t i = c->block_start; i < c->scope_count; i++) {
        const ast_decl *decl = c->scope[i];
        if (decl->kind == AST_LOCAL && !decl->used) hdst__diag_warning(c->diags, decl->span, NULL, "the variable '%s' is never read", decl->name);
    }
    c->scope_count = saved.count;
    c->block_start = saved.block_start;
}

// Puts a variable or parameter in scope; an error where the block has one of that name.
static void enter_scope(hdst__checker *c, ast_decl *decl)
{
    for (size_t i = c->block_start; i < c->scope_count; i++) {
        if (strcmp(c->scope[i]->name, decl->name) || (decl->type && hdst__check_is_poison(decl->type))) continue;   // `retrun x;` is read as a declaration
        uint32_t line, column;
        hdst__span_position(c->diags, c->scope[i]->span, &line, &column);
        hdst__diag_error(c->diags, decl->span, NULL, "'%s' is declared already, in line %u", decl->name, line);
        return;
    }
    if (c->scope_count >= HDST__LOCAL_LIMIT) {
        hdst__diag_error(c->diags, decl->span, "use an array or a helper function", "more than %d variables in sight", HDST__LOCAL_LIMIT);
        return;
    }
    HDST__PUSH(c->arena, c->scope, c->scope_count, c->scope_capacity, decl);
}

static void declare(hdst__checker *c, ast_stmt *s)
{
    ast_decl *decl = s->decl;
    decl->type = hdst__check_type(c, decl->written);
    // The value first: a variable is not in sight in its own initializer.
    if (s->value) {
        if (decl->type->kind == HDST__ARRAY && s->value->kind != AST_COMPOUND)
            hdst__diag_error(c->diags, s->value->span, "list its elements in braces, or copy them in a loop", "an array cannot be copied as a whole");
        else s->value = hdst__check_initializer(c, s->value, decl->type, hdst__arena_printf(c->arena, "'%s'", decl->name));
    } else if (decl->is_const) {
        hdst__diag_error(c->diags, decl->span, NULL, "the constant '%s' needs a value", decl->name);
    }
    enter_scope(c, decl);
}

// --- Assignments ---

static ast_expr *path_begin(ast_expr *e)
{
    while (e->kind == AST_MEMBER || e->kind == AST_INDEX) e = e->left;
    return e;
}

// Whether the path that begins here may be assigned to; reports why not.
static bool writable(hdst__checker *c, const ast_expr *begin, const ast_decl *decl)
{
    if (!decl) {
        hdst__diag_error(c->diags, begin->span, NULL, "only variables can be assigned to");
        return false;
    }
    if (decl->qualifier == AST_LOOKUP) {
        hdst__diag_error(c->diags, begin->span, "give records, which a function behind this one looks up", "the lookup '%s' stays as it is during a run",
                         decl->name);
        return false;
    }
    const char *copy = hdst__arena_printf(c->arena, "work on a copy: %s my_%s = %s;", hdst__check_type_name(c, decl->type), decl->name, decl->name);
    bool helper_number = decl->kind == AST_PARAM && c->function->kind == AST_HELPER && !decl->is_const && hdst__check_is_arithmetic(decl->type);
    if (decl->kind == AST_LOCAL && !decl->is_const) return true;
    if (helper_number) return true;
    if (decl->kind == AST_LOCAL) hdst__diag_error(c->diags, begin->span, NULL, "the constant '%s' cannot be changed", decl->name);
    else if (decl->kind == AST_PARAM) hdst__diag_error(c->diags, begin->span, copy, "the parameter '%s' is read-only", decl->name);
    else hdst__diag_error(c->diags, begin->span, NULL, "'%s' is a constant", decl->name);
    return false;
}

static const char *law_of(hdst__checker *c, const ast_stmt *s)
{
    if (s->compound) {
        switch (s->op) {
        case AST_ADD: case AST_SUB: return "+=";
        case AST_OR: return "|=";
        case AST_AND: return "&=";
        case AST_XOR: return "^=";
        default: break;
        }
    }
    hdst__diag_error(c->diags, s->op_span.length ? s->op_span : s->span, "there are += -= |= &= ^=, acc_min(a, v) and acc_max(a, v)",
                     s->compound ? "an accumulator cannot be changed in this way" : "an accumulator cannot be set, only added to");
    return NULL;
}

static void accumulate(hdst__checker *c, ast_stmt *s)
{
    s->accumulates = true;
    s->target = hdst__check_accum_path(c, s->target);
    s->value = hdst__check_value(c, s->value);
    const char *law = law_of(c, s);
    const hdst__type *cell = s->target->type;
    if (!law || hdst__check_is_poison(cell) || hdst__check_is_poison(s->value->type)) return;
    bool sum = s->op == AST_ADD || s->op == AST_SUB;
    if (sum ? cell->kind == HDST__BOOL : hdst__kind_is_float(cell->kind)) {
        hdst__diag_error(c->diags, s->target->span, sum ? "count in a uint64_t, or use |=" : NULL, "%s cannot be accumulated with %s",
                         hdst__check_type_name(c, cell), law);
        return;
    }
    hdst__check_accum_law(c, s->target, law, s->op_span.length ? s->op_span : s->span);
    s->value = hdst__check_to_type(c, s->value, cell, "the addend");
}

static void compound_assignment(hdst__checker *c, ast_stmt *s)
{
    ast_expr *left = HDST__NEW(c->arena, ast_expr), *stand_in = left;       // only its type matters
    *left = *s->target;
    if (left->kind == AST_NUMBER) left->kind = AST_NAME;
    const hdst__type *result;
    s->value = hdst__check_value(c, s->value);
    hdst__check_binary_types(c, s->op, s->op_span.length ? s->op_span : s->span, &stand_in, &s->value, &result);
}

static void assign(hdst__checker *c, ast_stmt *s)
{
    ast_expr *begin = path_begin(s->target);
    ast_decl *decl = begin->kind == AST_NAME ? hdst__check_find(c, begin->name) : NULL;
    if (decl && decl->kind == AST_PARAM && decl->qualifier == AST_ACCUM) {
        accumulate(c, s);
        return;
    }
    bool was_used = decl && decl->used;
    if (begin->kind != AST_NAME || decl) {
        if (!writable(c, begin, decl)) {
            hdst__check_value(c, s->value);
            return;
        }
    }
    s->target = hdst__check_expr(c, s->target);
    if (decl) {
        decl->used = was_used;      // writing is no use
        decl->assigned = true;
    }
    if (s->compound) {
        compound_assignment(c, s);
    } else if (s->target->type->kind == HDST__ARRAY) {
        hdst__diag_error(c->diags, s->span, "copy its elements in a loop", "an array cannot be copied as a whole");
        hdst__check_value(c, s->value);
    } else {
        s->value = hdst__check_initializer(c, s->value, s->target->type, "the value");
    }
}

static void call_statement(hdst__checker *c, ast_stmt *s)
{
    s->value = hdst__check_expr(c, s->value);
    if (hdst__check_is_poison(s->value->type) || s->value->type->kind == HDST__VOID) return;
    hdst__diag_warning(c->diags, s->span, "functions change nothing; assign the result or leave the call out", "the result is not used");
}

// --- Control ---

static void body(hdst__checker *c, ast_stmt *s)     // of a loop or a branch: a scope even without braces
{
    scope saved = open_scope(c);
    statement(c, s);
    close_scope(c, saved);
}

static void loop(hdst__checker *c, ast_stmt *s)
{
    scope saved = open_scope(c);
    if (s->init) statement(c, s->init);
    if (s->cond && s->kind != AST_DO) s->cond = hdst__check_condition(c, s->cond, "the condition");
    if (s->step) statement(c, s->step);
    c->loops++;
    if (s->then) body(c, s->then);
    c->loops--;
    if (s->cond && s->kind == AST_DO) s->cond = hdst__check_condition(c, s->cond, "the condition");
    close_scope(c, saved);
}

// for (text w : tokens(t, class))
static void token_loop(hdst__checker *c, ast_stmt *s, scope saved)
{
    ast_stmt *const turn = s->then;
    if (s->decl->type->kind != HDST__TEXT && !hdst__check_is_poison(s->decl->type))
        hdst__diag_error(c->diags, s->decl->written->span, NULL, "the loop gives text, not %s", hdst__check_type_name(c, s->decl->type));
    hdst__check_token_loop(c, s);
    enter_scope(c, s->decl);
    s->decl->used = true;
    c->loops++;
    if (turn) body(c, turn);
    c->loops--;
    close_scope(c, saved);
}

static void for_in(hdst__checker *c, ast_stmt *s)
{
    scope saved = open_scope(c);
    s->decl->type = hdst__check_type(c, s->decl->written);
    if (hdst__check_is_tokens(c, s->value)) {
        token_loop(c, s, saved);
        return;
    }
    ast_decl *stream = s->value->kind == AST_NAME ? hdst__check_find(c, s->value->name) : NULL;
    if (stream && stream->kind == AST_PARAM && stream->qualifier == AST_STREAM) {
        s->value->decl = stream;
        s->value->type = stream->type;
        stream->used = true;
    } else {
        s->value = s->value->kind == AST_INDEX ? hdst__check_expr(c, s->value) : hdst__check_value(c, s->value);
    }
    const hdst__type *type = s->value->type;
    if (!hdst__check_is_poison(type) && type->kind != HDST__STREAM)
        hdst__diag_error(c->diags, s->value->span, "for arrays write for (uint32_t i = 0; i < len(a); i++)",
                         "this loop goes over a stream, the rows t[k] of a lookup V t[K][], or tokens(...), not %s", hdst__check_type_name(c, type));
    else if (!hdst__check_is_poison(type) && !hdst__check_is_poison(s->decl->type) && !hdst__type_equal(type->element, s->decl->type))
        hdst__diag_error(c->diags, s->decl->written->span, NULL, "the loop gives %s, not %s", hdst__check_type_name(c, type->element),
                         hdst__check_type_name(c, s->decl->type));
    enter_scope(c, s->decl);
    s->decl->used = true;
    c->loops++;
    if (s->then) body(c, s->then);
    c->loops--;
    close_scope(c, saved);
}

static void case_label(hdst__checker *c, ast_stmt *s, hdst__kind kind, hdst__name_map *seen)
{
    uint64_t bits;
    const char *key = "default";
    if (s->value) {
        s->value = hdst__check_value(c, s->value);
        if (hdst__check_is_poison(s->value->type)) return;
        if (s->value->type->kind > HDST__U64) {
            hdst__diag_error(c->diags, s->value->span, NULL, "a case must be an integer, not %s", hdst__check_type_name(c, s->value->type));
            return;
        }
        s->value = hdst__check_to_kind(c, s->value, kind);
        if (!hdst__check_constant(c, s->value, &bits, false)) return;
        s->value = hdst__check_number(c, s->value->span, kind, bits);
        key = hdst__arena_printf(c->arena, "%" PRId64, (int64_t)bits);
    }
    ast_stmt *first = hdst__name_map_add(seen, c->arena, key, s);
    if (!first) return;
    uint32_t line, column;
    hdst__span_position(c->diags, first->span, &line, &column);
    hdst__diag_error(c->diags, s->value ? s->value->span : s->span, NULL, "this case is in line %u already", line);
}

static void switch_statement(hdst__checker *c, ast_stmt *s)
{
    hdst__kind kind = HDST__I32;
    hdst__name_map seen = {0};
    s->cond = hdst__check_value(c, s->cond);
    if (!hdst__check_is_poison(s->cond->type)) {
        if (s->cond->type->kind > HDST__U64)
            hdst__diag_error(c->diags, s->cond->span, NULL, "a switch needs an integer, not %s", hdst__check_type_name(c, s->cond->type));
        else kind = hdst__check_promote(s->cond->type->kind), s->cond = hdst__check_to_kind(c, s->cond, kind);
    }
    scope saved = open_scope(c);
    c->switches++;
    for (size_t i = 0; i < s->body_count; i++) {
        ast_stmt *inner = s->body[i];
        if (inner->kind == AST_CASE) {
            case_label(c, inner, kind, &seen);
            continue;
        }
        if (i == 0) hdst__diag_error(c->diags, inner->span, NULL, "nothing leads to a statement before the first case");
        if (inner->kind == AST_DECLARE || (inner->kind == AST_BLOCK && inner->declares))
            hdst__diag_error(c->diags, inner->span, "put the statements of the case in braces", "a case cannot declare a variable that the next one would see");
        statement(c, inner);
    }
    c->switches--;
    close_scope(c, saved);
}

static void return_statement(hdst__checker *c, ast_stmt *s)
{
    const ast_function *f = c->function;
    const hdst__type *type = f->result;
    if (f->kind == AST_GROUP) *(s->value ? &c->record_return : &c->bare_return) = s->span;
    if (!s->value) {
        if (type->kind != HDST__VOID && f->kind != AST_FLAT_MAP && f->kind != AST_GROUP)
            hdst__diag_error(c->diags, s->span, NULL, "'%s' must return %s", f->name, hdst__check_type_name(c, type));
        return;
    }
    hdst__check_mark_given(c, s->value);
    if (f->kind == AST_FLAT_MAP) {
        hdst__diag_error(c->diags, s->span, "write emit(...); any number of times", "a flat_map emits its records");
    } else if (!hdst__check_is_poison(type) && type->kind == HDST__VOID) {
        hdst__diag_error(c->diags, s->value->span, "declare the output: map name(...) -> T", "'%s' has no output", f->name);
        if (s->value->kind != AST_TUPLE) hdst__check_value(c, s->value);
    } else if (s->value->kind == AST_TUPLE && type->kind == HDST__RECORD) {
        s->value = hdst__check_tuple(c, s->value, type);
    } else if (f->kind == AST_FILTER) {
        s->value = hdst__check_condition(c, s->value, "what a filter returns");
    } else {
        s->value = hdst__check_initializer(c, s->value, type, "the result");
    }
}

static void jump(hdst__checker *c, const ast_stmt *s)
{
    bool is_break = s->kind == AST_BREAK;
    if (c->loops || (is_break && c->switches)) return;
    hdst__diag_error(c->diags, s->span, NULL, is_break ? "'break' is not inside a loop or switch" : "'continue' is not inside a loop");
}

static void block(hdst__checker *c, ast_stmt *s)
{
    if (s->declares) {
        for (size_t i = 0; i < s->body_count; i++) declare(c, s->body[i]);
        return;
    }
    scope saved = open_scope(c);
    for (size_t i = 0; i < s->body_count; i++) statement(c, s->body[i]);
    close_scope(c, saved);
}

static void statement(hdst__checker *c, ast_stmt *s)
{
    switch (s->kind) {
    case AST_BLOCK: block(c, s); break;
    case AST_DECLARE: declare(c, s); break;
    case AST_ASSIGN: assign(c, s); break;
    case AST_IF:
        s->cond = hdst__check_condition(c, s->cond, "the condition");
        body(c, s->then);
        if (s->otherwise) body(c, s->otherwise);
        break;
    case AST_WHILE: case AST_DO: case AST_FOR: loop(c, s); break;
    case AST_FOR_IN: for_in(c, s); break;
    case AST_SWITCH: switch_statement(c, s); break;
    case AST_CASE: hdst__diag_error(c->diags, s->span, NULL, "a case stands directly in the braces of its switch"); break;
    case AST_BREAK: case AST_CONTINUE: jump(c, s); break;
    case AST_RETURN: return_statement(c, s); break;
    case AST_EXPR: call_statement(c, s); break;
    }
}

void hdst__check_body(hdst__checker *c, ast_function *f)
{
    // Parameters and the outermost variables share a scope, as in C.
    scope saved = open_scope(c);
    for (size_t i = 0; i < f->param_count; i++) enter_scope(c, f->params[i]);
    for (size_t i = 0; i < f->body->body_count; i++) statement(c, f->body->body[i]);
    close_scope(c, saved);
}
