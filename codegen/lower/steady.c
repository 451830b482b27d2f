// SPDX-License-Identifier: Apache-2.0
// What stays the same while a loop runs (codegen/lower/steady.h).
#include "codegen/lower/steady.h"

bool hdst__lower_assigns(const ast_stmt *s, const ast_decl *decl)
{
    if (!s) return false;
    if (s->kind == AST_ASSIGN) {
        const ast_expr *root = s->target;
        while (root->kind == AST_MEMBER || root->kind == AST_INDEX) root = root->left;
        if (root->decl == decl) return true;
    }
    for (size_t i = 0; i < s->body_count; i++)
        if (hdst__lower_assigns(s->body[i], decl)) return true;
    return hdst__lower_assigns(s->init, decl) || hdst__lower_assigns(s->step, decl) || hdst__lower_assigns(s->then, decl) ||
           hdst__lower_assigns(s->otherwise, decl);
}

static bool declares(const ast_stmt *s, const ast_decl *decl)
{
    if (!s) return false;
    if (s->decl == decl) return true;
    for (size_t i = 0; i < s->body_count; i++)
        if (declares(s->body[i], decl)) return true;
    return declares(s->init, decl) || declares(s->then, decl) || declares(s->otherwise, decl);
}

// --- Rows of a key ---

bool hdst__is_key_rows(const ast_expr *e) { return e->kind == AST_INDEX && e->type->kind == HDST__STREAM; }

static bool is_steady(const ast_expr *e, const ast_stmt *loop)
{
    switch (e->kind) {
    case AST_NUMBER: return true;
    case AST_NAME: return !declares(loop, e->decl) && !hdst__lower_assigns(loop, e->decl);
    case AST_MEMBER: case AST_CONVERT: return is_steady(e->left, loop);
    default: return false;
    }
}

static bool is_same(const ast_expr *a, const ast_expr *b)
{
    if (a->kind != b->kind || !hdst__type_equal(a->type, b->type)) return false;
    switch (a->kind) {
    case AST_NUMBER: return a->number.bits == b->number.bits;
    case AST_NAME: return a->decl == b->decl;
    case AST_MEMBER: return a->field == b->field && is_same(a->left, b->left);
    case AST_CONVERT: return is_same(a->left, b->left);
    default: return false;
    }
}

bool hdst__same_key_rows(const ast_expr *a, const ast_expr *b) { return a->left->decl == b->left->decl && is_same(a->right, b->right); }

typedef struct search {
    const ast_stmt *loop;
    void (*see)(void *user, const ast_expr *rows);
    void *user;
} search;

static void look_at(const search *s, const ast_expr *e)
{
    if (!e) return;
    if (hdst__is_key_rows(e) && is_steady(e->right, s->loop)) s->see(s->user, e);
    look_at(s, e->left);
    look_at(s, e->right);
    look_at(s, e->third);
    for (size_t i = 0; i < e->arg_count; i++) look_at(s, e->args[i]);
}

static void look_through(const search *s, const ast_stmt *in)
{
    if (!in) return;
    look_at(s, in->target);
    look_at(s, in->value);
    look_at(s, in->cond);
    const ast_stmt *const inner[] = {in->init, in->step, in->then, in->otherwise};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) look_through(s, inner[i]);
    for (size_t i = 0; i < in->body_count; i++) look_through(s, in->body[i]);
}

void hdst__steady_key_rows(const ast_stmt *loop, void (*see)(void *user, const ast_expr *rows), void *user)
{
    const search s = {loop, see, user};
    look_through(&s, loop);
}
