// SPDX-License-Identifier: Apache-2.0
// Texts: comparisons become calls of codegen/math/text.hk, and a loop over tokens(...) becomes a loop that looks for the next token:
//
//     for (text w : tokens(t, WORD)) body
//
//     { text of = t; uint32_t at = 0;
//       while (true) { uint32_t first = first_of_word(of, at); if (first == 0xffffffff) break; at = behind_word(of, first); text w = of[first:at]; body } }
#include "codegen/front/check.h"

#include <string.h>

// --- Making a tree that is typed ---

static ast_expr *new_expr(hdst__checker *c, ast_expr_kind kind, hdst__span span, const hdst__type *type)
{
    ast_expr *e = HDST__NEW(c->arena, ast_expr);
    *e = (ast_expr){.kind = kind, .span = span, .builtin = -1, .type = type, .height = 1};
    return e;
}

static ast_expr *call_of(hdst__checker *c, hdst__span span, const char *name, ast_expr *const *args, size_t count)
{
    ast_function *f = hdst__check_find_math(c, name);
    ast_expr *e = new_expr(c, AST_CALL, span, f->result);
    e->name = name;
    e->callee = f;
    for (size_t i = 0; i < count; i++) {
        HDST__PUSH(c->arena, e->args, e->arg_count, e->arg_capacity, args[i]);
        if (args[i]->height >= e->height) e->height = args[i]->height + 1;
    }
    return e;
}

static ast_expr *binary_of(hdst__checker *c, hdst__span span, ast_op op, ast_expr *left, ast_expr *right)
{
    ast_expr *e = new_expr(c, AST_BINARY, span, hdst__type_scalar(HDST__BOOL));
    e->op = op;
    e->op_span = span;
    e->left = left;
    e->right = right;
    e->height = left->height + 1;
    return e;
}

static ast_expr *value_of(hdst__checker *c, hdst__span span, ast_decl *decl)
{
    ast_expr *e = new_expr(c, AST_NAME, span, decl->type);
    e->name = decl->name;
    e->decl = decl;
    return e;
}

static ast_stmt *new_stmt(hdst__checker *c, ast_stmt_kind kind, hdst__span span)
{
    ast_stmt *s = HDST__NEW(c->arena, ast_stmt);
    *s = (ast_stmt){.kind = kind, .span = span};
    return s;
}

static void push(hdst__checker *c, ast_stmt *block, ast_stmt *s) { HDST__PUSH(c->arena, block->body, block->body_count, block->body_capacity, s); }

static ast_stmt *declare(hdst__checker *c, ast_decl *decl, ast_expr *value)
{
    ast_stmt *s = new_stmt(c, AST_DECLARE, value->span);
    s->decl = decl;
    s->value = value;
    return s;
}

static ast_decl *local(hdst__checker *c, hdst__span span, const char *name, hdst__kind kind)
{
    ast_decl *decl = HDST__NEW(c->arena, ast_decl);
    *decl = (ast_decl){.kind = AST_LOCAL, .name = name, .span = span, .type = hdst__type_scalar(kind), .used = true};
    return decl;
}

// --- Comparisons ---

ast_expr *hdst__check_text_comparison(hdst__checker *c, ast_expr *e)
{
    ast_expr *const args[] = {e->left, e->right};
    if (e->op == AST_EQ) return call_of(c, e->span, "text_equal", args, 2);
    if (e->op == AST_NE) {
        ast_expr *differ = new_expr(c, AST_UNARY, e->span, hdst__type_scalar(HDST__BOOL));
        differ->op = AST_NOT;
        differ->left = call_of(c, e->span, "text_equal", args, 2);
        differ->height = differ->left->height + 1;
        return differ;
    }
    return binary_of(c, e->span, e->op, call_of(c, e->span, "text_compare", args, 2), hdst__check_number(c, e->span, HDST__I32, 0));
}

// --- Tokens ---

typedef struct token_class {
    const char *first, *behind;     // functions that find where a token begins and ends
    ast_expr *characters;           // of chars(...): what separates tokens; else NULL
} token_class;

static bool class_of(hdst__checker *c, ast_expr *e, token_class *class)
{
    if (e->kind == AST_NAME && !strcmp(e->name, "WORD") && !hdst__check_find(c, e->name)) {
        *class = (token_class){"first_of_word", "behind_word", NULL};
        return true;
    }
    if (e->kind == AST_NAME && !strcmp(e->name, "SPACE") && !hdst__check_find(c, e->name)) {
        *class = (token_class){"first_of_space", "behind_space", NULL};
        return true;
    }
    if (e->kind == AST_CALL && !strcmp(e->name, "chars") && e->arg_count == 1) {
        ast_expr *characters = hdst__check_to_type(c, hdst__check_value(c, e->args[0]), hdst__type_scalar(HDST__TEXT), "what chars() takes");
        *class = (token_class){"first_of_chars", "behind_chars", characters};
        return !hdst__check_is_poison(characters->type);
    }
    hdst__diag_error(c->diags, e->span,
                     "WORD: letters, digits, '_' and what is not ASCII; SPACE: what blanks separate; chars(\",;\"): what any of these separates",
                     "tokens() takes WORD, SPACE or chars(\"...\")");
    return false;
}

bool hdst__check_is_tokens(const hdst__checker *c, const ast_expr *e)
{
    return e->kind == AST_CALL && !strcmp(e->name, "tokens") && !hdst__name_map_find(&c->functions, e->name);
}

// Turns the loop `s` over tokens(text, class) into the loop above; false after an error. Its own body is to be checked by the caller, with `s->decl` in sight.
bool hdst__check_token_loop(hdst__checker *c, ast_stmt *s)
{
    ast_expr *call = s->value;
    const hdst__span at = call->span;
    token_class class;
    if (!hdst__check_argument_count(c, call, 2, 2)) return false;
    ast_expr *text = hdst__check_to_type(c, hdst__check_value(c, call->args[0]), hdst__type_scalar(HDST__TEXT), "what tokens() goes over");
    if (!class_of(c, call->args[1], &class) || hdst__check_is_poison(text->type)) return false;
    ast_decl *of = local(c, at, "tokens_of", HDST__TEXT), *separators = local(c, at, "separators", HDST__TEXT);
    ast_decl *place = local(c, at, "behind_token", HDST__U32), *first = local(c, at, "first_of_token", HDST__U32);
    place->assigned = true;
    ast_stmt *turn = new_stmt(c, AST_BLOCK, s->span), *loop = new_stmt(c, AST_WHILE, s->span), *leave = new_stmt(c, AST_IF, s->span);
    ast_stmt *next = new_stmt(c, AST_ASSIGN, s->span);
    ast_expr *find[] = {value_of(c, at, of), value_of(c, at, place), value_of(c, at, separators)};
    ast_expr *end[] = {value_of(c, at, of), value_of(c, at, first), value_of(c, at, separators)};
    const size_t args = class.characters ? 3 : 2;
    push(c, turn, declare(c, first, call_of(c, at, class.first, find, args)));
    leave->cond = binary_of(c, at, AST_EQ, value_of(c, at, first), hdst__check_number(c, at, HDST__U32, UINT32_MAX));
    leave->then = new_stmt(c, AST_BREAK, s->span);
    push(c, turn, leave);
    next->target = value_of(c, at, place);
    next->value = call_of(c, at, class.behind, end, args);
    push(c, turn, next);
    ast_expr *token = new_expr(c, AST_INDEX, at, hdst__type_scalar(HDST__TEXT));
    token->left = value_of(c, at, of);
    token->right = value_of(c, at, first);
    token->third = value_of(c, at, place);
    token->height = 2;
    push(c, turn, declare(c, s->decl, token));
    push(c, turn, s->then);
    loop->cond = hdst__check_number(c, at, HDST__BOOL, 1);
    loop->then = turn;
    s->kind = AST_BLOCK;
    s->then = NULL;
    s->value = NULL;
    push(c, s, declare(c, of, text));
    if (class.characters) push(c, s, declare(c, separators, class.characters));
    push(c, s, declare(c, place, hdst__check_number(c, at, HDST__U32, 0)));
    push(c, s, loop);
    return true;
}
