// SPDX-License-Identifier: Apache-2.0
// emit(...): one more output record of a flat_map, or of a group. It stands alone, as a statement; its arguments are the fields, or the record. A group
// that has one gives any number of records, and then returns none.
#include "codegen/front/check.h"

#include <string.h>

static ast_expr *misplaced(hdst__checker *c, ast_expr *call)
{
    const bool in_map = c->function && c->function->kind == AST_MAP;
    hdst__diag_error(c->diags, call->span,
                     in_map ? "return the record; for any number of records write flat_map"
                            : c->function && c->function->kind == AST_HELPER ? "return the record, and emit it in the flat_map" : NULL,
                     in_map ? "a map gives one record for each record" : "only a flat_map or a group emits records");
    hdst__check_arguments(c, call);
    return hdst__check_poisoned(call);
}

ast_expr *hdst__check_emit(hdst__checker *c, ast_expr *call)
{
    ast_function *f = c->function;
    if (!f || (f->kind != AST_FLAT_MAP && f->kind != AST_GROUP)) return misplaced(c, call);
    f->emits = true;
    call->type = hdst__type_scalar(HDST__VOID);
    const hdst__type *result = f->result;
    for (size_t i = 0; i < call->arg_count; i++) hdst__check_mark_given(c, call->args[i]);
    if (hdst__check_is_poison(result)) {
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    if (result->kind == HDST__RECORD && (call->arg_count != 1 || f->result_is_tuple)) {
        if (hdst__check_is_poison(hdst__check_tuple(c, call, result)->type)) return call;
        call->type = hdst__type_scalar(HDST__VOID);
        return call;
    }
    if (!hdst__check_argument_count(c, call, 1, 1)) {
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    call->args[0] = hdst__check_initializer(c, call->args[0], result, "what is emitted");
    return call;
}

void hdst__check_emits(hdst__checker *c, const ast_function *f)
{
    if (f->kind != AST_GROUP || hdst__check_is_poison(f->result)) return;
    if (f->emits && c->record_return.length)
        hdst__diag_error(c->diags, c->record_return, "emit(...) here, too", "'%s' emits its records, so it returns none", f->name);
    if (!f->emits && c->bare_return.length)
        hdst__diag_error(c->diags, c->bare_return, NULL, "'%s' must return %s", f->name, hdst__check_type_name(c, f->result));
}

// --- text(b, n) ---
//
// The first n bytes of an array of bytes, as a text that a map, flat_map, group or join gives. It stands where its record is put together, in emit(...) or
// return: so no text refers to bytes that change, and its bytes go into the record (codegen/lower/lower_text.c).

static bool is_call_of_text(const hdst__checker *c, const ast_expr *e)
{
    return e->kind == AST_CALL && !strcmp(e->name, "text") && !hdst__name_map_find(&c->functions, e->name);
}

void hdst__check_mark_given(hdst__checker *c, ast_expr *e)
{
    if (is_call_of_text(c, e)) e->is_given = true;
    if (e->kind != AST_TUPLE && e->kind != AST_COMPOUND) return;
    for (size_t i = 0; i < e->arg_count; i++) hdst__check_mark_given(c, e->args[i]);
}

static bool fails(hdst__checker *c, hdst__span span, const char *hint, const char *what)
{
    hdst__diag_error(c->diags, span, hint, "%s", what);
    return false;
}

// The bytes of texts are further leaves of what the function writes.
static const char *too_much(const hdst__record *record)
{
    size_t leaves = record->leaf_count;
    for (size_t i = 0; i < record->leaf_count; i++) {
        if (record->leaves[i].kind != HDST__TEXT) continue;
        if (record->leaves[i].elements > 1) return "a record with an array of texts takes no text(b, n)";
        leaves += 2;
    }
    return leaves > HDST__FIELD_LIMIT || record->size > UINT64_C(1) << 32 ? "so large a record takes no text(b, n)" : NULL;
}

// Of a function whose records nobody takes before they are read again, or that gives none.
static const char *where_instead(const ast_function *f)
{
    if (f && f->kind == AST_HELPER) return "fill an array in the map, and give text(b, n) there";
    return f && f->kind == AST_REDUCE ? "what a reduce gives is what it takes next; make the text in a map behind it" : NULL;
}

static bool may_stand_here(hdst__checker *c, const ast_expr *call)
{
    const ast_function *f = c->function;
    if (!f || (f->kind != AST_MAP && f->kind != AST_FLAT_MAP && f->kind != AST_GROUP && f->kind != AST_JOIN))
        return fails(c, call->span, where_instead(f), "only what a map, flat_map, group or join gives can be a text(b, n)");
    if (!call->is_given)
        return fails(c, call->span, "inside of the function work with the array: b[i]",
                     "text(b, n) stands by itself in emit(...) or return, as a field of the record");
    const char *why = f->result->kind == HDST__RECORD ? too_much(f->result->record) : NULL;
    return why ? fails(c, call->span, NULL, why) : true;
}

static bool arguments_fit(hdst__checker *c, ast_expr *call)
{
    const hdst__type *array = call->args[0]->type, *n = call->args[1]->type;
    if (hdst__check_is_poison(array) || hdst__check_is_poison(n)) return false;
    const bool bytes = array->kind == HDST__ARRAY && array->element->kind == HDST__U8;
    if (!bytes) return fails(c, call->args[0]->span, "uint8_t b[32];", "text(b, n) takes an array of uint8_t");
    if (array->count > HDST__BUILT_LIMIT)
        return fails(c, call->args[0]->span, NULL, hdst__arena_printf(c->arena, "a text is built in at most %d bytes", HDST__BUILT_LIMIT));
    if (!hdst__kind_is_integer(n->kind)) return fails(c, call->args[1]->span, NULL, "the length of a text is an integer");
    return true;
}

ast_expr *hdst__check_built_text(hdst__checker *c, ast_expr *call)
{
    hdst__check_arguments(c, call);
    if (!may_stand_here(c, call) || !arguments_fit(c, call)) return hdst__check_poisoned(call);
    const uint64_t bytes = call->args[0]->type->count;
    if (c->function->buffer_bytes < bytes) c->function->buffer_bytes = bytes;
    call->type = hdst__type_scalar(HDST__TEXT);
    return call;
}
