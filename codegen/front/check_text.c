// SPDX-License-Identifier: Apache-2.0
// Texts: comparisons become calls of codegen/math/text.hk, and a loop over tokens(...) becomes a loop that looks for the next token:
//
//     for (text w : tokens(t, WORD)) body
//
//     { text of = with_words(t); token_cursor at = before_tokens();
//       while (true) { at = next_token(of, at, 0, ""); if (at.first == 0xffffffff) break; text w = of[at.first:at.behind]; body } }
#include "codegen/front/check.h"

#include <string.h>

// --- Making a tree that is typed ---

static ast_expr *new_expr(hdst__checker *c, ast_expr_kind kind, hdst__span span, const hdst__type *type)
{
    ast_expr *e = HDST__NEW(c->arena, ast_expr);
    *e = (ast_expr){.kind = kind, .span = span, .builtin = -1, .type = type, .height = 1};
    return e;
}

ast_expr *hdst__check_call_math(hdst__checker *c, hdst__span span, const char *name, ast_expr *const *args, size_t count)
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

static ast_decl *local(hdst__checker *c, hdst__span span, const char *name, const hdst__type *type)
{
    ast_decl *decl = HDST__NEW(c->arena, ast_decl);
    *decl = (ast_decl){.kind = AST_LOCAL, .name = name, .span = span, .type = type, .used = true};
    return decl;
}

// --- Comparisons ---

ast_expr *hdst__check_text_comparison(hdst__checker *c, ast_expr *e)
{
    ast_expr *const args[] = {e->left, e->right};
    if (e->op == AST_EQ) return hdst__check_call_math(c, e->span, "text_equal", args, 2);
    if (e->op == AST_NE) {
        ast_expr *differ = new_expr(c, AST_UNARY, e->span, hdst__type_scalar(HDST__BOOL));
        differ->op = AST_NOT;
        differ->left = hdst__check_call_math(c, e->span, "text_equal", args, 2);
        differ->height = differ->left->height + 1;
        return differ;
    }
    return binary_of(c, e->span, e->op, hdst__check_call_math(c, e->span, "text_compare", args, 2), hdst__check_number(c, e->span, HDST__I32, 0));
}

ast_expr *hdst__check_text_hash(hdst__checker *c, ast_expr *call)
{
    return hdst__check_call_math(c, call->span, "text_hash", call->args, 1);
}

// --- Tokens ---

typedef struct token_class {
    uint64_t number;                // as in text.hk
    ast_expr *separators;           // what chars(...) takes; else the empty text
} token_class;

static ast_expr *empty_text(hdst__checker *c, hdst__span span)
{
    ast_expr *e = new_expr(c, AST_STRING, span, hdst__type_scalar(HDST__TEXT));
    e->name = "";
    return e;
}

static bool class_of(hdst__checker *c, ast_expr *e, token_class *class)
{
    if (e->kind == AST_NAME && !strcmp(e->name, "WORD") && !hdst__check_find(c, e->name)) {
        *class = (token_class){0, empty_text(c, e->span)};
        return true;
    }
    if (e->kind == AST_NAME && !strcmp(e->name, "SPACE") && !hdst__check_find(c, e->name)) {
        *class = (token_class){1, empty_text(c, e->span)};
        return true;
    }
    if (e->kind == AST_CALL && !strcmp(e->name, "chars") && e->arg_count == 1) {
        *class = (token_class){2, hdst__check_to_type(c, hdst__check_value(c, e->args[0]), hdst__type_scalar(HDST__TEXT), "what chars() takes")};
        return !hdst__check_is_poison(class->separators->type);
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

static ast_expr *member_of(hdst__checker *c, hdst__span span, ast_decl *decl, const char *name)
{
    ast_expr *e = new_expr(c, AST_MEMBER, span, hdst__type_scalar(HDST__U32));
    e->left = value_of(c, span, decl);
    e->name = name;
    e->name_span = span;
    e->field = hdst__record_field(decl->type->record, name);
    e->height = 2;
    return e;
}

static ast_stmt *assign(hdst__checker *c, ast_decl *decl, ast_expr *value)
{
    ast_stmt *s = new_stmt(c, AST_ASSIGN, value->span);
    s->target = value_of(c, value->span, decl);
    s->value = value;
    decl->assigned = true;
    return s;
}

static ast_stmt *leave_without_token(hdst__checker *c, hdst__span span, ast_decl *at)
{
    ast_stmt *leave = new_stmt(c, AST_IF, span);
    leave->cond = binary_of(c, span, AST_EQ, member_of(c, span, at, "first"), hdst__check_number(c, span, HDST__U32, UINT32_MAX));
    leave->then = new_stmt(c, AST_BREAK, span);
    return leave;
}

// of[at.first:at.behind]
static ast_expr *token_at(hdst__checker *c, hdst__span span, ast_decl *of, ast_decl *at)
{
    ast_expr *token = new_expr(c, AST_INDEX, span, hdst__type_scalar(HDST__TEXT));
    token->left = value_of(c, span, of);
    token->right = member_of(c, span, at, "first");
    token->third = member_of(c, span, at, "behind");
    token->height = 3;
    return token;
}

// Tokens are behind one another, at least a byte between them: as many as half of the bytes, and one.
static ast_expr *most_tokens(hdst__checker *c, hdst__span span, ast_decl *of)
{
    ast_expr *of_text[] = {value_of(c, span, of)};
    return hdst__check_call_math(c, span, "most_tokens", of_text, 1);
}

// The text, marked as one whose tokens the loop takes.
static ast_expr *with_tokens(hdst__checker *c, hdst__span span, ast_expr *text, uint64_t class)
{
    static const char *const marks[] = {"with_words", "with_fields"};
    ast_expr *const of_text[] = {text};
    return class < sizeof marks / sizeof *marks ? hdst__check_call_math(c, span, marks[class], of_text, 1) : text;
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
    ast_expr *begin = hdst__check_call_math(c, at, "before_tokens", NULL, 0);
    ast_decl *of = local(c, at, "tokens_of", hdst__type_scalar(HDST__TEXT)), *separators = local(c, at, "separators", hdst__type_scalar(HDST__TEXT));
    ast_decl *cursor = local(c, at, "token", begin->type);
    ast_stmt *turn = new_stmt(c, AST_BLOCK, s->span), *loop = new_stmt(c, AST_WHILE, s->span);
    ast_expr *next[] = {value_of(c, at, of), value_of(c, at, cursor), hdst__check_number(c, at, HDST__U32, class.number), value_of(c, at, separators)};
    push(c, turn, assign(c, cursor, hdst__check_call_math(c, at, "next_token", next, 4)));
    push(c, turn, leave_without_token(c, s->span, cursor));
    push(c, turn, declare(c, s->decl, token_at(c, at, of, cursor)));
    push(c, turn, s->then);
    loop->cond = hdst__check_number(c, at, HDST__BOOL, 1);
    loop->value = most_tokens(c, at, of);
    loop->then = turn;
    s->kind = AST_BLOCK;
    s->then = NULL;
    s->value = NULL;
    push(c, s, declare(c, of, with_tokens(c, at, text, class.number)));
    push(c, s, declare(c, separators, class.separators));
    push(c, s, declare(c, cursor, begin));
    push(c, s, loop);
    return true;
}

// --- What hdst does not support yet ---
//
// Tokens that are no loop's. They are typed like the rest, so that a program can be checked; a function that uses them is marked as not available yet.

typedef enum later_typing {
    TOKENS, CHARACTERS,
} later_typing;

static const struct later { const char *name; size_t least, most; later_typing typing; } later[] = {
    {"tokens", 2, 2, TOKENS}, {"chars", 1, 1, CHARACTERS},
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
    }
    call->type = hdst__type_scalar(kind);
}

bool hdst__check_later_call(hdst__checker *c, ast_expr *call)
{
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (strcmp(later[i].name, call->name)) continue;
        hdst__check_unsupported(c, call->span, hdst__arena_printf(c->arena, "%s()", call->name));
        if (!hdst__check_argument_count(c, call, later[i].least, later[i].most)) hdst__check_poisoned(call);
        else typed(c, call, later[i].typing);
        return true;
    }
    return false;
}
