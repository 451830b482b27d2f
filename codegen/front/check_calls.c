// SPDX-License-Identifier: Apache-2.0
// The graph of calls: no cycles, bounded depth and bounded size after inlining. A function that calls one which is not available
// yet is not available either.
#include "codegen/front/check.h"

enum { NEW, ACTIVE, FINISHED };
enum { MAX_CALL_DEPTH = 64 };
#define MAX_INLINED ((uint64_t)1 << 20)     // expressions of a function with its helpers inside

typedef struct walk {
    hdst__checker *c;
    ast_function *path[MAX_CALL_DEPTH];
    size_t depth;
} walk;

typedef struct visitor {
    walk *walk;
    ast_function *function;
} visitor;

static void visit_expr(ast_expr *e, hdst__expr_visitor visit, void *user)
{
    if (!e) return;
    visit(e, user);
    visit_expr(e->left, visit, user);
    visit_expr(e->right, visit, user);
    visit_expr(e->third, visit, user);
    for (size_t i = 0; i < e->arg_count; i++) visit_expr(e->args[i], visit, user);
}

void hdst__check_visit(ast_stmt *s, hdst__expr_visitor visit, void *user)
{
    if (!s) return;
    visit_expr(s->target, visit, user);
    visit_expr(s->value, visit, user);
    visit_expr(s->cond, visit, user);
    hdst__check_visit(s->init, visit, user);
    hdst__check_visit(s->step, visit, user);
    hdst__check_visit(s->then, visit, user);
    hdst__check_visit(s->otherwise, visit, user);
    for (size_t i = 0; i < s->body_count; i++) hdst__check_visit(s->body[i], visit, user);
}

static void visit_function(walk *w, ast_function *f);

static void report_cycle(walk *w, const ast_expr *call, const ast_function *callee)
{
    hdst__checker *c = w->c;
    size_t first = 0;
    while (first < w->depth && w->path[first] != callee) first++;
    const char *cycle = callee->name;
    for (size_t i = first + 1; i < w->depth; i++) cycle = hdst__arena_printf(c->arena, "%s -> %s", cycle, w->path[i]->name);
    hdst__diag_error(c->diags, call->span, "write a loop", "there is no recursion: %s -> %s", cycle, callee->name);
}

static void visit_call(ast_expr *e, void *user)
{
    visitor *v = user;
    ast_function *callee = e->callee;
    v->function->inlined_size++;
    if (e->kind != AST_CALL || !callee) return;
    if (callee->reached == ACTIVE) {
        report_cycle(v->walk, e, callee);
        return;
    }
    if (callee->reached == NEW) {
        if (v->walk->depth >= MAX_CALL_DEPTH) {
            hdst__diag_error(v->walk->c->diags, e->span, NULL, "helper functions call one another more than %d deep", MAX_CALL_DEPTH);
            return;
        }
        visit_function(v->walk, callee);
    }
    v->function->inlined_size += callee->inlined_size;
    if (v->function->inlined_size > MAX_INLINED) v->function->inlined_size = MAX_INLINED + 1;
    if (!callee->unsupported || v->function->unsupported) return;
    v->function->unsupported = hdst__arena_printf(v->walk->c->arena, "%s in '%s'", callee->unsupported, callee->name);
    v->function->unsupported_span = callee->unsupported_span;
}

static void visit_function(walk *w, ast_function *f)
{
    f->reached = ACTIVE;
    w->path[w->depth++] = f;
    visitor v = {w, f};
    hdst__check_visit(f->body, visit_call, &v);
    if (f->inlined_size > MAX_INLINED)
        hdst__diag_error(w->c->diags, f->span, "helper functions are copied to where they are called",
                         "'%s' grows too large with its helper functions", f->name);
    w->depth--;
    f->reached = FINISHED;
}

void hdst__check_recursion(hdst__checker *c)
{
    walk w = {.c = c};
    for (size_t i = 0; i < c->module->function_count; i++)
        if (c->module->functions[i]->reached == NEW) visit_function(&w, c->module->functions[i]);
}
