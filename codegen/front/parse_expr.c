// SPDX-License-Identifier: Apache-2.0
// Expressions: precedence climbing over one operator table, with C's precedences.
#include "codegen/front/parse.h"

#include <string.h>

static ast_expr *ternary(hdst__parser *p);

static const struct operator { hdst__token_kind token; ast_op op; int precedence; } operators[] = {
    {TOKEN_LOGOR, AST_LOGOR, 1}, {TOKEN_LOGAND, AST_LOGAND, 2}, {TOKEN_PIPE, AST_OR, 3}, {TOKEN_CARET, AST_XOR, 4}, {TOKEN_AMPERSAND, AST_AND, 5},
    {TOKEN_EQ, AST_EQ, 6}, {TOKEN_NE, AST_NE, 6}, {TOKEN_LT, AST_LT, 7}, {TOKEN_LE, AST_LE, 7}, {TOKEN_GT, AST_GT, 7}, {TOKEN_GE, AST_GE, 7},
    {TOKEN_SHL, AST_SHL, 8}, {TOKEN_SHR, AST_SHR, 8}, {TOKEN_PLUS, AST_ADD, 9}, {TOKEN_MINUS, AST_SUB, 9},
    {TOKEN_STAR, AST_MUL, 10}, {TOKEN_SLASH, AST_DIV, 10}, {TOKEN_PERCENT, AST_REM, 10},
};

static const struct operator *binary_operator(hdst__token_kind kind)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].token == kind) return &operators[i];
    return NULL;
}

ast_expr *hdst__parse_new_expr(hdst__parser *p, ast_expr_kind kind, hdst__span span)
{
    ast_expr *expr = HDST__NEW(p->arena, ast_expr);
    expr->kind = kind;
    expr->span = span;
    expr->builtin = -1;
    expr->height = 1;
    return expr;
}

static ast_expr *missing(hdst__parser *p)       // stands where an error was reported
{
    return hdst__parse_new_expr(p, AST_NUMBER, hdst__parse_peek(p, 0)->span);
}

// Attaches every child, and refuses trees that are too deep for the recursion over them.
static ast_expr *attach(hdst__parser *p, ast_expr *parent, ast_expr *child)
{
    if (parent->height <= child->height) parent->height = child->height + 1;
    if (parent->height > HDST__HEIGHT_LIMIT) {
        hdst__parse_error(p, child->span, "split it into several statements", "this expression is too long");
        parent->height = 1;
        return missing(p);
    }
    return child;
}

static void add_arg(hdst__parser *p, ast_expr *call, ast_expr *arg)
{
    arg = attach(p, call, arg);
    HDST__PUSH(p->arena, call->args, call->arg_count, call->arg_capacity, arg);
}

static void add_init(hdst__parser *p, ast_expr *braces, const char *field, hdst__span span)
{
    ast_init init = {.field = field, .index = braces->arg_count, .span = span};
    size_t count = braces->arg_count;
    HDST__PUSH(p->arena, braces->inits, count, braces->init_capacity, init);
    add_arg(p, braces, hdst__parse_initializer(p));
}

ast_expr *hdst__parse_braces(hdst__parser *p, ast_type_name *type)
{
    ast_expr *braces = hdst__parse_new_expr(p, AST_COMPOUND, hdst__parse_peek(p, 0)->span);
    size_t first = p->at;
    braces->written = type;
    if (!hdst__parse_expect(p, TOKEN_LBRACE, "") || !hdst__parse_enter(p)) return braces;
    while (!p->panic && !hdst__parse_is(p, TOKEN_RBRACE)) {
        const char *field = NULL;
        hdst__span span = hdst__parse_peek(p, 0)->span;
        if (hdst__parse_is(p, TOKEN_LBRACKET)) {
            hdst__parse_error(p, span, "list the elements in order; what is left out is zero", "elements cannot be picked by [index] here");
            break;
        }
        if (hdst__parse_accept(p, TOKEN_DOT)) {
            field = hdst__parse_name(p, "the name of a field", &span);
            hdst__parse_expect(p, TOKEN_ASSIGN, "after the name of the field");
        }
        if (!p->panic) add_init(p, braces, field, span);
        if (!hdst__parse_accept(p, TOKEN_COMMA)) break;
    }
    hdst__parse_expect(p, TOKEN_RBRACE, "at the end of the list");
    hdst__parse_leave(p);
    braces->span = hdst__parse_since(p, first);
    return braces;
}

ast_expr *hdst__parse_initializer(hdst__parser *p)
{
    return hdst__parse_is(p, TOKEN_LBRACE) ? hdst__parse_braces(p, NULL) : hdst__parse_expression(p);
}

static const char *const scalar_names[] = {
    "bool", "int", "unsigned", "float", "double", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "long", "short", "char", "signed", "void",      // not types here, but keywords of C: never meant as values
};
// Names that are types in C or OpenCL, but may be names of values in a program.
static const char *const type_like_names[] = {"text", "size_t", "half", "uint", "ulong", "uchar", "ushort"};

static bool is_one_of(const hdst__token *token, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && token->kind == TOKEN_NAME; i++)
        if (!strcmp(names[i], token->text)) return true;
    return false;
}

bool hdst__parse_is_type_word(const hdst__token *token) { return is_one_of(token, scalar_names, sizeof scalar_names / sizeof *scalar_names); }

// After `(NAME`: what can only follow a cast, or the star of a pointer's. (`(uint) - x` is a difference, as `(a) - x` is.)
static bool is_cast_to(const hdst__parser *p)
{
    const hdst__token_kind after = hdst__parse_peek(p, 2)->kind, operand = hdst__parse_peek(p, 3)->kind;
    if (after == TOKEN_STAR) return operand == TOKEN_RPAREN;
    return after == TOKEN_RPAREN && (operand == TOKEN_NAME || operand == TOKEN_NUMBER || operand == TOKEN_LPAREN || operand == TOKEN_TILDE ||
                                     operand == TOKEN_BANG || operand == TOKEN_TRUE || operand == TOKEN_FALSE);
}

// After '(': a cast `(float)x`, or a compound literal `(record){ ... }`. Records cannot be cast to, so any other name is an expression.
static bool at_type_in_parentheses(const hdst__parser *p)
{
    const hdst__token *name = hdst__parse_peek(p, 1);
    if (name->kind == TOKEN_STRUCT) return true;
    if (name->kind != TOKEN_NAME) return false;
    if (is_one_of(name, type_like_names, sizeof type_like_names / sizeof *type_like_names) && is_cast_to(p)) return true;
    return hdst__parse_is_type_word(name) || (hdst__parse_peek(p, 2)->kind == TOKEN_RPAREN && hdst__parse_peek(p, 3)->kind == TOKEN_LBRACE);
}

static ast_expr *unary(hdst__parser *p);

static ast_expr *cast_or_compound(hdst__parser *p)
{
    size_t first = p->at++;
    ast_type_name *type = hdst__parse_type_name(p);
    if (hdst__parse_is(p, TOKEN_STAR)) {
        hdst__parse_error(p, hdst__parse_peek(p, 0)->span, "to read the bits of a number as another type use as_uint, as_float ...", "there are no pointers");
        return missing(p);
    }
    if (!hdst__parse_expect(p, TOKEN_RPAREN, "after the type")) return missing(p);
    if (hdst__parse_is(p, TOKEN_LBRACE)) {
        ast_expr *compound = hdst__parse_braces(p, type);
        compound->span = hdst__parse_since(p, first);
        return compound;
    }
    ast_expr *cast = hdst__parse_new_expr(p, AST_CONVERT, (hdst__span){0});
    cast->written = type;
    cast->left = attach(p, cast, unary(p));
    cast->span = hdst__parse_since(p, first);
    return cast;
}

// '(' expression ')', or a tuple '(' expression ',' expression ... ')'
static ast_expr *parentheses(hdst__parser *p)
{
    if (at_type_in_parentheses(p)) return cast_or_compound(p);
    size_t first = p->at++;
    ast_expr *inner = hdst__parse_expression(p);
    if (!p->panic && hdst__parse_is(p, TOKEN_COMMA)) {
        ast_expr *tuple = hdst__parse_new_expr(p, AST_TUPLE, inner->span);
        add_arg(p, tuple, inner);
        while (!p->panic && hdst__parse_accept(p, TOKEN_COMMA)) add_arg(p, tuple, hdst__parse_expression(p));
        inner = tuple;
    }
    hdst__parse_expect(p, TOKEN_RPAREN, "to close the parenthesis");
    if (inner->kind == AST_TUPLE) inner->span = hdst__parse_since(p, first);
    return inner;
}

static ast_expr *number(hdst__parser *p)
{
    const hdst__token *token = hdst__parse_peek(p, 0);
    ast_expr *expr = hdst__parse_new_expr(p, AST_NUMBER, token->span);
    p->at++;
    expr->type = hdst__type_scalar(token->kind == TOKEN_NUMBER ? token->number_kind : HDST__BOOL);
    expr->number.bits = token->kind == TOKEN_NUMBER ? token->bits : token->kind == TOKEN_TRUE;
    return expr;
}

// "a" "b" is one text, as in C
static ast_expr *string(hdst__parser *p)
{
    size_t first = p->at, length = 0;
    for (const hdst__token *token = &p->tokens[p->at]; token->kind == TOKEN_STRING; token++) length += token->length;
    char *bytes = hdst__arena_alloc(p->arena, length + 1), *to = bytes;
    for (; hdst__parse_is(p, TOKEN_STRING); p->at++) {
        memcpy(to, hdst__parse_peek(p, 0)->text, hdst__parse_peek(p, 0)->length);
        to += hdst__parse_peek(p, 0)->length;
    }
    ast_expr *expr = hdst__parse_new_expr(p, AST_STRING, hdst__parse_since(p, first));
    expr->name = bytes;
    expr->length = length;
    return expr;
}

static ast_expr *name_or_call(hdst__parser *p)
{
    const hdst__token *token = hdst__parse_peek(p, 0);
    size_t first = p->at++;
    ast_expr *expr = hdst__parse_new_expr(p, AST_NAME, token->span);
    expr->name = token->text;
    if (!hdst__parse_accept(p, TOKEN_LPAREN)) return expr;
    expr->kind = AST_CALL;
    while (!p->panic && !hdst__parse_is(p, TOKEN_RPAREN)) {
        add_arg(p, expr, hdst__parse_expression(p));
        if (!hdst__parse_accept(p, TOKEN_COMMA)) break;
    }
    hdst__parse_expect(p, TOKEN_RPAREN, "after the arguments");
    expr->span = hdst__parse_since(p, first);
    return expr;
}

static ast_expr *primary(hdst__parser *p)
{
    const hdst__token *token = hdst__parse_peek(p, 0);
    switch (token->kind) {
    case TOKEN_NUMBER: case TOKEN_TRUE: case TOKEN_FALSE: return number(p);
    case TOKEN_STRING: return string(p);
    case TOKEN_NAME: return name_or_call(p);
    case TOKEN_LPAREN: return parentheses(p);
    case TOKEN_LBRACE:
        hdst__parse_error(p, token->span, "name its type: (point){ ... }", "a list in braces needs a type here");
        return missing(p);
    default:
        if (!hdst__parse_refused_word(p))
            hdst__parse_error(p, token->span, NULL, "expected an expression, found %s", hdst__token_name(token->kind));
        return missing(p);
    }
}

static ast_expr *postfix(hdst__parser *p)
{
    size_t first = p->at;
    ast_expr *expr = primary(p);
    while (!p->panic) {
        const hdst__token *token = hdst__parse_peek(p, 0);
        ast_expr *outer;
        if (token->kind == TOKEN_LBRACKET) {
            p->at++;
            outer = hdst__parse_new_expr(p, AST_INDEX, token->span);
            outer->left = attach(p, outer, expr);
            outer->right = attach(p, outer, hdst__parse_expression(p));
            if (hdst__parse_is(p, TOKEN_COLON)) {
                p->at++;
                outer->third = attach(p, outer, hdst__parse_expression(p));
            }
            hdst__parse_expect(p, TOKEN_RBRACKET, "after the index");
        } else if (token->kind == TOKEN_DOT) {
            p->at++;
            outer = hdst__parse_new_expr(p, AST_MEMBER, token->span);
            outer->left = attach(p, outer, expr);
            outer->name = hdst__parse_name(p, "the name of a field", &outer->name_span);
        } else if (token->kind == TOKEN_ARROW) {
            hdst__parse_error(p, token->span, "write '.': records are never behind pointers", "there are no pointers");
            return expr;
        } else {
            break;
        }
        outer->span = hdst__parse_since(p, first);
        expr = outer;
    }
    return expr;
}

static bool unary_operator(hdst__token_kind kind, ast_op *op)
{
    switch (kind) {
    case TOKEN_MINUS: *op = AST_NEG; return true;
    case TOKEN_PLUS: *op = AST_PLUS; return true;
    case TOKEN_BANG: *op = AST_NOT; return true;
    case TOKEN_TILDE: *op = AST_BITNOT; return true;
    default: return false;
    }
}

static ast_expr *unary(hdst__parser *p)
{
    const hdst__token *token = hdst__parse_peek(p, 0);
    ast_op op;
    if (token->kind == TOKEN_STAR || token->kind == TOKEN_AMPERSAND) {
        hdst__parse_error(p, token->span, "records, arrays and tables are named directly", "there are no pointers");
        return missing(p);
    }
    if (token->kind == TOKEN_INCREMENT || token->kind == TOKEN_DECREMENT) {
        hdst__parse_error(p, token->span, "write it as a statement of its own", "%s is a statement here, not a value", hdst__token_name(token->kind));
        return missing(p);
    }
    if (!hdst__parse_enter(p)) return missing(p);
    ast_expr *expr;
    if (unary_operator(token->kind, &op)) {
        size_t first = p->at++;
        expr = hdst__parse_new_expr(p, AST_UNARY, token->span);
        expr->op = op;
        expr->left = attach(p, expr, unary(p));
        expr->span = hdst__parse_since(p, first);
    } else {
        expr = postfix(p);
    }
    hdst__parse_leave(p);
    return expr;
}

static ast_expr *binary(hdst__parser *p, int lowest)
{
    ast_expr *left = unary(p);
    for (;;) {
        const struct operator *operator = p->panic ? NULL : binary_operator(hdst__parse_peek(p, 0)->kind);
        if (!operator || operator->precedence < lowest) return left;
        ast_expr *expr = hdst__parse_new_expr(p, AST_BINARY, left->span);
        expr->op = operator->op;
        expr->op_span = hdst__parse_peek(p, 0)->span;
        p->at++;
        expr->left = attach(p, expr, left);
        expr->right = attach(p, expr, binary(p, operator->precedence + 1));
        expr->span = hdst__span_join(left->span, expr->right->span);
        left = expr;
    }
}

static ast_expr *ternary(hdst__parser *p)
{
    if (!hdst__parse_enter(p)) return missing(p);
    ast_expr *cond = binary(p, 1);
    if (!p->panic && hdst__parse_accept(p, TOKEN_QUESTION)) {
        ast_expr *expr = hdst__parse_new_expr(p, AST_TERNARY, cond->span);
        expr->left = attach(p, expr, cond);
        expr->right = attach(p, expr, hdst__parse_expression(p));
        hdst__parse_expect(p, TOKEN_COLON, "between the two values of '?'");
        expr->third = attach(p, expr, ternary(p));
        expr->span = hdst__span_join(cond->span, expr->third->span);
        cond = expr;
    }
    hdst__parse_leave(p);
    return cond;
}

ast_expr *hdst__parse_target(hdst__parser *p) { return ternary(p); }

static bool is_assignment(hdst__token_kind kind)
{
    return kind == TOKEN_ASSIGN || (kind >= TOKEN_ADD_ASSIGN && kind <= TOKEN_XOR_ASSIGN) || kind == TOKEN_SHL_ASSIGN || kind == TOKEN_SHR_ASSIGN;
}

ast_expr *hdst__parse_expression(hdst__parser *p)
{
    ast_expr *expr = ternary(p);
    const hdst__token *token = hdst__parse_peek(p, 0);
    if (is_assignment(token->kind))
        hdst__parse_error(p, token->span, token->kind == TOKEN_ASSIGN ? "compare with ==, assign in a statement of its own" : "make it a statement of its own",
                          "an assignment is a statement, not a value");
    else if (token->kind == TOKEN_INCREMENT || token->kind == TOKEN_DECREMENT)
        hdst__parse_error(p, token->span, "write it as a statement of its own", "%s is a statement here, not a value", hdst__token_name(token->kind));
    return expr;
}
