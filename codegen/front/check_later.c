// SPDX-License-Identifier: Apache-2.0
// Functions of the language that hdst does not support yet, and has(o) of joins. They are typed like the rest, so that a program can be checked; a
// function that uses one is marked as not available yet.
#include "codegen/front/builtins.h"
#include "codegen/front/check.h"

#include <string.h>

typedef enum later_typing {
    TOKENS, HAS, CHARACTERS,
} later_typing;

static const struct later { const char *name; size_t least, most; later_typing typing; } later[] = {
    {"tokens", 2, 2, TOKENS}, {"chars", 1, 1, CHARACTERS}, {"has", 1, 2, HAS},
};

bool hdst__check_later_name(hdst__checker *c, ast_expr *name)
{
    if (strcmp(name->name, "WORD") && strcmp(name->name, "SPACE")) return false;
    hdst__check_unsupported(c, name->span, "tokens");
    name->type = hdst__type_scalar(HDST__TEXT);
    return true;
}

static void all_texts(hdst__checker *c, ast_expr *call)
{
    for (size_t i = 0; i < call->arg_count; i++) call->args[i] = hdst__check_to_type(c, call->args[i], hdst__type_scalar(HDST__TEXT), "the argument");
}

// has(t, k) of a table whose rows go by number is `k < len(t)`; a negative number is none.
static void has_row(hdst__checker *c, ast_expr *call)
{
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

// has(o) of an optional side of a join, has(t, k) of a lookup table
static void has(hdst__checker *c, ast_expr *call)
{
    call->type = hdst__type_scalar(HDST__BOOL);
    ast_expr *of = call->args[0];
    ast_decl *decl = of->kind == AST_NAME ? hdst__check_find(c, of->name) : NULL;
    ast_qualifier wanted = call->arg_count == 1 ? AST_OPTIONAL : AST_LOOKUP;
    if (!decl || decl->qualifier != wanted) {
        hdst__diag_error(c->diags, of->span, NULL, "%s",
                         call->arg_count == 1 ? "has(o) asks for an optional parameter of a join" : "has(t, k) asks a lookup table for a key");
        hdst__check_poisoned(call);
        return;
    }
    of->decl = decl;
    of->type = decl->type;
    decl->used = true;
    if (call->arg_count == 1) {
        if (c->function->pair) hdst__check_has_partner(c, call, decl);
        else hdst__check_poisoned(call);        // the function has an error of its own
        return;
    }
    call->args[1] = hdst__check_value(c, call->args[1]);
    if (!decl->key) has_row(c, call);
    else hdst__check_unsupported(c, call->span, "has()");
    if (decl->key) call->args[1] = hdst__check_to_type(c, call->args[1], decl->key, "the key");
}

static void typed(hdst__checker *c, ast_expr *call, later_typing typing)
{
    static const hdst__type text = {.kind = HDST__TEXT}, words = {.kind = HDST__STREAM, .element = &text};
    for (size_t i = 0; i < call->arg_count; i++) call->args[i] = hdst__check_value(c, call->args[i]);
    hdst__kind kind = HDST__VOID;
    switch (typing) {
    case TOKENS:
        all_texts(c, call);
        call->type = &words;
        return;
    case CHARACTERS: kind = HDST__TEXT; all_texts(c, call); break;
    case HAS: break;    // see below
    }
    call->type = hdst__type_scalar(kind);
}

bool hdst__check_later_call(hdst__checker *c, ast_expr *call)
{
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (strcmp(later[i].name, call->name)) continue;
        if (later[i].typing != HAS) hdst__check_unsupported(c, call->span, hdst__arena_printf(c->arena, "%s()", call->name));
        if (!hdst__check_argument_count(c, call, later[i].least, later[i].most)) hdst__check_poisoned(call);
        else if (later[i].typing == HAS) has(c, call);
        else typed(c, call, later[i].typing);
        return true;
    }
    return false;
}
