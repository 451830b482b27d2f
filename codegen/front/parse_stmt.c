// SPDX-License-Identifier: Apache-2.0
// Statements and local declarations.
#include "codegen/front/parse.h"

#include <string.h>

static ast_stmt *statement(hdst__parser *p);

static ast_stmt *new_stmt(hdst__parser *p, ast_stmt_kind kind, hdst__span span)
{
    ast_stmt *stmt = HDST__NEW(p->arena, ast_stmt);
    stmt->kind = kind;
    stmt->span = span;
    return stmt;
}

static void add(hdst__parser *p, ast_stmt *block, ast_stmt *stmt)
{
    if (stmt) HDST__PUSH(p->arena, block->body, block->body_count, block->body_capacity, stmt);
}

// --- Declarations ---

static bool at_declaration(const hdst__parser *p)
{
    const hdst__token *a = hdst__parse_peek(p, 0), *b = hdst__parse_peek(p, 1), *c = hdst__parse_peek(p, 2), *d = hdst__parse_peek(p, 3);
    if (a->kind == TOKEN_CONST || a->kind == TOKEN_STRUCT) return true;
    if (a->kind != TOKEN_NAME) return false;
    if (b->kind == TOKEN_NAME) return true;
    // `float *p = ...`: no expression that does anything looks like this, so it was meant as a pointer
    return b->kind == TOKEN_STAR && c->kind == TOKEN_NAME && (d->kind == TOKEN_ASSIGN || d->kind == TOKEN_SEMICOLON || d->kind == TOKEN_COMMA);
}

static ast_stmt *declarator(hdst__parser *p, ast_type_name *type, bool is_const)
{
    ast_stmt *stmt = new_stmt(p, AST_DECLARE, hdst__parse_peek(p, 0)->span);
    ast_decl *decl = stmt->decl = HDST__NEW(p->arena, ast_decl);
    decl->kind = AST_LOCAL;
    decl->is_const = is_const;
    if (hdst__parse_is(p, TOKEN_STAR)) {
        hdst__parse_error(p, stmt->span, "declare a value, or an array with its size", "there are no pointers");
        return stmt;
    }
    decl->name = hdst__parse_name(p, "the name of the variable", &decl->span);
    decl->written = hdst__parse_dims(p, type);
    if (hdst__parse_accept(p, TOKEN_ASSIGN)) stmt->value = hdst__parse_initializer(p);
    return stmt;
}

// `T x;`, `const T x = 1, y[2] = {3, 4};`: one AST_DECLARE, or an AST_BLOCK of them with no scope of its own. Up to the ';' or ':'.
static ast_stmt *declaration(hdst__parser *p)
{
    bool is_const = hdst__parse_accept(p, TOKEN_CONST);
    ast_type_name *type = hdst__parse_type_name(p);
    ast_stmt *first = declarator(p, type, is_const);
    if (p->panic || !hdst__parse_is(p, TOKEN_COMMA)) return first;
    ast_stmt *several = new_stmt(p, AST_BLOCK, first->span);
    several->declares = true;
    add(p, several, first);
    while (!p->panic && hdst__parse_accept(p, TOKEN_COMMA)) add(p, several, declarator(p, type, is_const));
    return several;
}

// --- Simple statements: what may stand in the clauses of a `for` too ---

static bool assignment_operator(hdst__token_kind kind, bool *compound, ast_op *op)
{
    static const struct { hdst__token_kind token; ast_op op; } compounds[] = {
        {TOKEN_ADD_ASSIGN, AST_ADD}, {TOKEN_SUB_ASSIGN, AST_SUB}, {TOKEN_MUL_ASSIGN, AST_MUL}, {TOKEN_DIV_ASSIGN, AST_DIV}, {TOKEN_REM_ASSIGN, AST_REM},
        {TOKEN_AND_ASSIGN, AST_AND}, {TOKEN_OR_ASSIGN, AST_OR}, {TOKEN_XOR_ASSIGN, AST_XOR}, {TOKEN_SHL_ASSIGN, AST_SHL}, {TOKEN_SHR_ASSIGN, AST_SHR},
    };
    *compound = kind != TOKEN_ASSIGN;
    for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++) {
        if (compounds[i].token != kind) continue;
        *op = compounds[i].op;
        return true;
    }
    return kind == TOKEN_ASSIGN;
}

// `x++` is `x += 1`
static ast_stmt *step_by_one(hdst__parser *p, ast_expr *target, hdst__token_kind kind, size_t first)
{
    ast_stmt *stmt = new_stmt(p, AST_ASSIGN, hdst__parse_since(p, first));
    stmt->target = target;
    stmt->compound = true;
    stmt->op = kind == TOKEN_INCREMENT ? AST_ADD : AST_SUB;
    stmt->value = hdst__parse_new_expr(p, AST_NUMBER, stmt->span);
    stmt->value->type = hdst__type_scalar(HDST__I32);
    stmt->value->number.bits = 1;
    return stmt;
}

static void useless(hdst__parser *p, const ast_expr *expr)
{
    bool comparison = expr->kind == AST_BINARY && expr->op == AST_EQ;
    if (hdst__parse_is(p, TOKEN_COMMA) || expr->kind == AST_TUPLE)
        hdst__parse_error(p, hdst__parse_peek(p, 0)->span, "write two statements", "there is no comma operator");
    else if (hdst__parse_is(p, TOKEN_SEMICOLON))
        hdst__parse_error(p, expr->span, comparison ? "write = to assign" : "assign it, return it or accumulate it", "this statement does nothing");
    else
        hdst__parse_error(p, hdst__parse_peek(p, 0)->span, hdst__parse_instead(p, hdst__parse_peek(p, 0)), "expected an assignment or ';', found %s",
                          hdst__parse_found(p, hdst__parse_peek(p, 0)));
}

static ast_stmt *without_comma(hdst__parser *p)
{
    size_t first = p->at;
    hdst__token_kind kind = hdst__parse_peek(p, 0)->kind;
    if (kind == TOKEN_INCREMENT || kind == TOKEN_DECREMENT) {
        p->at++;
        return step_by_one(p, hdst__parse_target(p), kind, first);
    }
    ast_expr *target = hdst__parse_target(p);
    if (p->panic) return NULL;
    kind = hdst__parse_peek(p, 0)->kind;
    if (kind == TOKEN_INCREMENT || kind == TOKEN_DECREMENT) {
        p->at++;
        return step_by_one(p, target, kind, first);
    }
    ast_stmt *stmt = new_stmt(p, AST_ASSIGN, target->span);
    if (assignment_operator(kind, &stmt->compound, &stmt->op)) {
        stmt->op_span = hdst__parse_peek(p, 0)->span;
        p->at++;
        stmt->target = target;
        stmt->value = hdst__parse_expression(p);
        stmt->span = hdst__parse_since(p, first);
    } else if (target->kind == AST_CALL) {
        stmt->kind = AST_EXPR;
        stmt->value = target;
    } else {
        useless(p, target);
    }
    return stmt;
}

static ast_stmt *assignment_or_call(hdst__parser *p)
{
    ast_stmt *stmt = without_comma(p);
    if (hdst__parse_is(p, TOKEN_COMMA)) hdst__parse_error(p, hdst__parse_peek(p, 0)->span, "write two statements", "there is no comma operator");
    return stmt;
}

// --- Control ---

static ast_expr *condition(hdst__parser *p, const char *after)
{
    hdst__parse_expect(p, TOKEN_LPAREN, after);
    ast_expr *cond = p->panic ? NULL : hdst__parse_expression(p);
    hdst__parse_expect(p, TOKEN_RPAREN, "after the condition");
    return cond;
}

static ast_stmt *if_statement(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_IF, hdst__parse_peek(p, 0)->span);
    p->at++;
    stmt->cond = condition(p, "after 'if'");
    if (p->panic) return stmt;
    stmt->then = statement(p);
    if (!p->panic && hdst__parse_accept(p, TOKEN_ELSE)) stmt->otherwise = statement(p);
    return stmt;
}

static ast_stmt *while_statement(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_WHILE, hdst__parse_peek(p, 0)->span);
    p->at++;
    stmt->cond = condition(p, "after 'while'");
    if (!p->panic) stmt->then = statement(p);
    return stmt;
}

static ast_stmt *do_statement(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_DO, hdst__parse_peek(p, 0)->span);
    p->at++;
    stmt->then = statement(p);
    if (!p->panic) hdst__parse_expect(p, TOKEN_WHILE, "after the body of 'do'");
    if (!p->panic) stmt->cond = condition(p, "after 'while'");
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after 'do ... while (...)'");
    return stmt;
}

// for (T v : stream) body; at the ':'
static ast_stmt *for_in(hdst__parser *p, ast_stmt *stmt)
{
    stmt->kind = AST_FOR_IN;
    stmt->decl = stmt->init->decl;
    if (stmt->init->value) hdst__parse_error(p, stmt->init->value->span, NULL, "the variable of this loop takes its values from behind the ':'");
    stmt->init = NULL;
    p->at++;
    if (!p->panic) stmt->value = hdst__parse_expression(p);
    hdst__parse_expect(p, TOKEN_RPAREN, "after what the loop goes over");
    if (!p->panic) stmt->then = statement(p);
    return stmt;
}

static ast_stmt *for_statement(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_FOR, hdst__parse_peek(p, 0)->span);
    p->at++;
    hdst__parse_expect(p, TOKEN_LPAREN, "after 'for'");
    if (!p->panic && !hdst__parse_is(p, TOKEN_SEMICOLON)) stmt->init = at_declaration(p) ? declaration(p) : assignment_or_call(p);
    if (!p->panic && hdst__parse_is(p, TOKEN_COLON) && stmt->init && stmt->init->kind == AST_DECLARE) return for_in(p, stmt);
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the first part of 'for'");
    if (!p->panic && !hdst__parse_is(p, TOKEN_SEMICOLON)) stmt->cond = hdst__parse_expression(p);
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the condition of 'for'");
    if (!p->panic && !hdst__parse_is(p, TOKEN_RPAREN)) stmt->step = assignment_or_call(p);
    hdst__parse_expect(p, TOKEN_RPAREN, "after the parts of 'for'");
    if (!p->panic) stmt->then = statement(p);
    return stmt;
}

static ast_stmt *switch_statement(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_SWITCH, hdst__parse_peek(p, 0)->span);
    p->at++;
    stmt->cond = condition(p, "after 'switch'");
    if (p->panic) return stmt;
    ast_stmt *block = hdst__parse_block(p);
    stmt->body = block->body;
    stmt->body_count = block->body_count;
    return stmt;
}

static ast_stmt *case_label(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_CASE, hdst__parse_peek(p, 0)->span);
    bool is_default = hdst__parse_is(p, TOKEN_DEFAULT);
    p->at++;
    if (!is_default) stmt->value = hdst__parse_expression(p);
    hdst__parse_expect(p, TOKEN_COLON, is_default ? "after 'default'" : "after the value of 'case'");
    return stmt;
}

static ast_stmt *jump(hdst__parser *p)
{
    const hdst__token *token = hdst__parse_peek(p, 0);
    size_t first = p->at++;
    ast_stmt_kind kind = token->kind == TOKEN_BREAK ? AST_BREAK : token->kind == TOKEN_CONTINUE ? AST_CONTINUE : AST_RETURN;
    ast_stmt *stmt = new_stmt(p, kind, token->span);
    if (kind == AST_RETURN && !hdst__parse_is(p, TOKEN_SEMICOLON)) stmt->value = hdst__parse_expression(p);
    if (!p->panic) stmt->span = hdst__parse_since(p, first);
    hdst__parse_expect(p, TOKEN_SEMICOLON, kind == AST_RETURN ? "after 'return'" : "");
    return stmt;
}

static ast_stmt *simple(hdst__parser *p)
{
    if (hdst__parse_refused_word(p) || hdst__parse_unknown_statement(p)) return NULL;
    bool declares = at_declaration(p);
    ast_stmt *stmt = declares ? declaration(p) : assignment_or_call(p);
    hdst__parse_expect(p, TOKEN_SEMICOLON, declares ? "after the declaration" : "after the statement");
    return stmt;
}

static ast_stmt *empty(hdst__parser *p)
{
    ast_stmt *stmt = new_stmt(p, AST_BLOCK, hdst__parse_peek(p, 0)->span);
    p->at++;
    return stmt;
}

static ast_stmt *one_statement(hdst__parser *p)
{
    switch (hdst__parse_peek(p, 0)->kind) {
    case TOKEN_LBRACE: return hdst__parse_block(p);
    case TOKEN_IF: return if_statement(p);
    case TOKEN_WHILE: return while_statement(p);
    case TOKEN_DO: return do_statement(p);
    case TOKEN_FOR: return for_statement(p);
    case TOKEN_SWITCH: return switch_statement(p);
    case TOKEN_CASE: case TOKEN_DEFAULT: return case_label(p);
    case TOKEN_BREAK: case TOKEN_CONTINUE: case TOKEN_RETURN: return jump(p);
    case TOKEN_SEMICOLON: return empty(p);
    case TOKEN_ELSE:
        hdst__parse_error(p, hdst__parse_peek(p, 0)->span, "several statements behind an 'if' need braces", "there is no 'if' that this 'else' belongs to");
        return NULL;
    default: return simple(p);
    }
}

static ast_stmt *statement(hdst__parser *p)
{
    if (!hdst__parse_enter(p)) return NULL;
    ast_stmt *stmt = one_statement(p);
    hdst__parse_leave(p);
    return stmt ? stmt : new_stmt(p, AST_BLOCK, hdst__parse_peek(p, 0)->span);
}

// Where the block has no end panic goes on: what is missing there follows from the first error.
void hdst__parse_recover(hdst__parser *p)
{
    for (int depth = 0;; p->at++) {
        hdst__token_kind kind = hdst__parse_peek(p, 0)->kind;
        if (kind == TOKEN_END || (depth == 0 && hdst__parse_at_item(p))) return;
        if (kind == TOKEN_RBRACE && depth == 0) break;
        if (kind == TOKEN_LBRACE) depth++;
        if ((kind == TOKEN_RBRACE && --depth == 0) || (kind == TOKEN_SEMICOLON && depth == 0)) {
            p->at++;
            break;
        }
    }
    p->panic = false;
}

static void missing_brace(hdst__parser *p, const hdst__token *open)
{
    const hdst__token *found = hdst__parse_peek(p, 0);
    uint32_t line, column;
    hdst__span_position(p->diags, open->span, &line, &column);
    hdst__parse_error(p, found->span, NULL, "expected '}' before %s, to close the '{' of line %u",
                      hdst__parse_found(p, found), line);
}

ast_stmt *hdst__parse_block(hdst__parser *p)
{
    const hdst__token *open = hdst__parse_peek(p, 0);
    ast_stmt *block = new_stmt(p, AST_BLOCK, open->span);
    if (!hdst__parse_expect(p, TOKEN_LBRACE, "")) return block;
    while (!p->panic && !hdst__parse_is(p, TOKEN_RBRACE) && !hdst__parse_is(p, TOKEN_END) && !hdst__parse_at_item(p)) {
        add(p, block, statement(p));
        if (p->panic) hdst__parse_recover(p);
    }
    if (!p->panic && !hdst__parse_accept(p, TOKEN_RBRACE)) missing_brace(p, open);
    return block;
}
