// SPDX-License-Identifier: Apache-2.0
// Lookup tables: rows by number, t[i], and by key, t[k]; and has(), which asks for a row, or for the optional side of a join.
#include "codegen/front/builtins.h"
#include "codegen/front/check.h"

#include <string.h>

enum { MOST_NUMBERS = 16 };         // of a key: kernels hash them one by one

// --- Keys ---

static const char *wrong_leaf(hdst__kind kind)
{
    if (kind == HDST__BOOL || hdst__kind_is_integer(kind)) return NULL;
    return "a key of a lookup is a text, an integer, or a record of integers";
}

static const char *wrong_key(const hdst__type *key)
{
    if (key->kind == HDST__TEXT) return NULL;
    if (key->kind != HDST__RECORD) return wrong_leaf(key->kind);
    uint64_t numbers = 0;
    for (size_t i = 0; i < key->record->leaf_count; i++) {
        const hdst__leaf *leaf = &key->record->leaves[i];
        const char *wrong = wrong_leaf(leaf->kind);
        if (wrong) return wrong;
        numbers += leaf->elements;
    }
    return numbers > MOST_NUMBERS ? "a key of a lookup has 16 numbers at most" : NULL;
}

static hdst__record *keyed_record(hdst__checker *c, const ast_decl *table)
{
    hdst__record *keyed = HDST__NEW(c->arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(c->arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "key", .type = table->key};
    fields[1] = (hdst__field){.name = "value", .type = table->type};
    *keyed = (hdst__record){.name = hdst__arena_printf(c->arena, "row of %s", table->name), .fields = fields, .field_count = 2};
    return keyed;
}

static void poison(ast_decl *table) { table->type = table->key = &hdst__check_poison; }

// Where each key's rows begin is a table by the key.
static bool has_no_stretches(hdst__checker *c, ast_decl *table)
{
    if (!table->has_stretches || (table->key && (hdst__check_is_poison(table->key) || hdst__kind_is_integer(table->key->kind)))) return false;
    hdst__diag_error(c->diags, table->span, hdst__arena_printf(c->arena, "lookup %s %s[uint32_t][]", hdst__check_type_name(c, table->type), table->name),
                     "a table with any number of rows of a key goes by an integer");
    poison(table);
    return true;
}

void hdst__check_lookup_key(hdst__checker *c, ast_decl *table)
{
    const char *why = NULL;
    table->key = table->written_key ? hdst__check_type(c, table->written_key) : NULL;
    if (hdst__check_is_poison(table->type) || has_no_stretches(c, table)) return;
    if (!table->key || hdst__check_is_poison(table->key)) return;
    const char *wrong = wrong_key(table->key);
    hdst__record *keyed = wrong ? NULL : keyed_record(c, table);
    table->keyed = keyed;
    if (keyed && hdst__record_finish(c->arena, keyed, &why)) return;
    if (wrong) hdst__diag_error(c->diags, table->span, "of a float its bits can be one, as_uint(x); of a larger record its hash", "%s", wrong);
    else hdst__diag_error(c->diags, table->span, "look up records of fewer fields", "key and value of '%s' as one: %s", table->name, why);
    poison(table);
}

// (a, b) may stand for a record.
static ast_expr *key_value(hdst__checker *c, ast_expr *key, const hdst__type *type)
{
    if (key->kind != AST_TUPLE || hdst__check_is_poison(type) || type->kind != HDST__RECORD)
        return hdst__check_to_type(c, hdst__check_value(c, key), type, "the key");
    if (key->arg_count == type->record->field_count) return hdst__check_tuple(c, key, type);
    hdst__diag_error(c->diags, key->span, NULL, "the key '%s' has %zu fields, this gives %zu", type->record->name, type->record->field_count, key->arg_count);
    hdst__check_arguments(c, key);
    return hdst__check_poisoned(key);
}

static ast_expr *text_name(hdst__checker *c, hdst__span span, const char *name)
{
    ast_decl *decl = HDST__NEW(c->arena, ast_decl);
    ast_expr *e = HDST__NEW(c->arena, ast_expr);
    *decl = (ast_decl){.kind = AST_LOCAL, .name = name, .span = span, .type = hdst__type_scalar(HDST__TEXT)};
    *e = (ast_expr){.kind = AST_NAME, .span = span, .name = name, .decl = decl, .type = decl->type, .builtin = -1, .height = 1};
    return e;
}

// Of a key that is a text: two calls, of its word, and of whether it is the key of a row. Lowering says where both texts are.
static ast_expr *text_calls(hdst__checker *c, ast_expr *key)
{
    if (hdst__check_is_poison(key->type) || key->type->kind != HDST__TEXT) return NULL;
    ast_expr *both = HDST__NEW(c->arena, ast_expr), *asked = text_name(c, key->span, "key"), *of_row = text_name(c, key->span, "key_of_row");
    *both = (ast_expr){.kind = AST_BINARY, .span = key->span, .type = key->type, .builtin = -1, .height = 1};
    both->left = hdst__check_call_math(c, key->span, "text_number", &asked, 1);
    both->right = hdst__check_call_math(c, key->span, "text_equal", (ast_expr *[]){asked, of_row}, 2);
    return both;
}

ast_expr *hdst__check_lookup_row(hdst__checker *c, ast_expr *e, const ast_decl *table)
{
    e->right = key_value(c, e->right, table->key);
    e->third = text_calls(c, e->right);
    e->type = table->type;
    if (hdst__check_is_poison(e->right->type)) return hdst__check_poisoned(e);
    if (!table->has_stretches) return e;
    hdst__type *rows = HDST__NEW(c->arena, hdst__type);
    *rows = (hdst__type){.kind = HDST__STREAM, .element = table->type};
    e->type = rows;
    return e;
}

// --- has ---

// has(t, k) of a table whose rows go by number is `k < len(t)`; a negative number is none.
static void has_row(hdst__checker *c, ast_expr *call)
{
    call->args[1] = hdst__check_value(c, call->args[1]);
    ast_expr *key = call->args[1], *rows = HDST__NEW(c->arena, ast_expr);
    if (hdst__check_is_poison(key->type) || !hdst__kind_is_integer(key->type->kind)) {
        if (!hdst__check_is_poison(key->type))
            hdst__diag_error(c->diags, key->span, NULL, "the rows of '%s' go by number, an integer, not %s", call->args[0]->name,
                             hdst__check_type_name(c, key->type));
        hdst__check_poisoned(call);
        return;
    }
    *rows = (ast_expr){.kind = AST_CALL, .span = call->span, .name = "len", .builtin = HDST__BI_LEN, .args = call->args, .arg_count = 1,
                       .type = hdst__type_scalar(HDST__U64)};
    *call = (ast_expr){.kind = AST_BINARY, .op = AST_LT, .span = call->span, .type = call->type, .right = rows,
                       .left = hdst__check_to_kind(c, key, HDST__U64)};
}

static void has_key(hdst__checker *c, ast_expr *call, const ast_decl *table)
{
    call->builtin = HDST__BI_HAS_KEY;
    call->args[1] = key_value(c, call->args[1], table->key);
    call->third = text_calls(c, call->args[1]);
    if (hdst__check_is_poison(call->args[1]->type)) hdst__check_poisoned(call);
}

static void has_partner(hdst__checker *c, ast_expr *call, const ast_decl *side)
{
    if (c->function->pair) hdst__check_has_partner(c, call, side);
    else hdst__check_poisoned(call);        // the function has an error of its own
}

static void has(hdst__checker *c, ast_expr *call)
{
    call->type = hdst__type_scalar(HDST__BOOL);
    ast_expr *of = call->args[0];
    ast_decl *decl = of->kind == AST_NAME ? hdst__check_find(c, of->name) : NULL;
    const ast_qualifier wanted = call->arg_count == 1 ? AST_OPTIONAL : AST_LOOKUP;
    if (!decl || decl->qualifier != wanted) {
        hdst__diag_error(c->diags, of->span, NULL, "%s",
                         call->arg_count == 1 ? "has(o) asks for an optional parameter of a join" : "has(t, k) asks a lookup table for a key");
        hdst__check_poisoned(call);
        return;
    }
    of->decl = decl;
    of->type = decl->type;
    decl->used = true;
    if (call->arg_count == 1) has_partner(c, call, decl);
    else if (decl->key) has_key(c, call, decl);
    else has_row(c, call);
}

bool hdst__check_has_call(hdst__checker *c, ast_expr *call)
{
    if (strcmp(call->name, "has")) return false;
    if (hdst__check_argument_count(c, call, 1, 2)) has(c, call);
    else hdst__check_poisoned(call);
    return true;
}
