// SPDX-License-Identifier: Apache-2.0
// The text that a filter's records have at least (codegen/ir/needed_text.h): a call that looks for a text is the condition of all that the function does.
#include "codegen/ir/needed_text.h"

enum {
    DEEPEST = 32,                   // variables that are followed
    MOST_CONDITIONS = 1000,         // that are looked at: what takes more has no text
};

typedef struct condition {
    const ir_func *func;
    const ir_search *search;
    uint32_t left;                  // conditions that may still be looked at
} condition;

// --- Values ---

// What a variable has been given, through other variables; NULL: that depends.
static const ir_expr *origin(const ir_func *func, const ir_expr *e)
{
    for (int i = 0; e && i < DEEPEST; i++) {
        if (e->op == IR_VAR) e = hdst__ir_only_value(func, e->var);
        else if (e->op == IR_SELECT && e->a->op == IR_CONST) e = e->a->bits ? e->b : e->c;
        else return e;
    }
    return NULL;
}

static bool is_first(const ir_expr *index) { return !index || hdst__ir_is_const(index, 0); }

// --- Conditions ---

static bool implies(condition *c, const ir_expr *cond, const ir_stmt *at);

static bool is_result(const condition *c, const ir_expr *e) { return e->op == IR_VAR && e->var == c->search->result; }

// find(t, what) >= 0, > -1, != -1
static bool is_found(const condition *c, const ir_expr *e)
{
    if (!c->search->is_place || !is_result(c, e->a) || e->b->op != IR_CONST) return false;
    return e->b->bits == (e->op == IR_GE ? 0 : UINT64_MAX);
}

// What is known of a bool variable on the way to a statement: whether the text is there if it holds.
typedef struct walk {
    uint32_t var;
    const ir_stmt *to;
    bool arrived, holds;
} walk;

static void walk_block(condition *c, const ir_block *block, bool there, walk *w);

// In a loop any value may be the last one's.
static void walk_loop(condition *c, ir_block *const *nested, int count, bool there, walk *w)
{
    for (int n = 0; n < count; n++)
        for (size_t i = 0; i < nested[n]->count; i++) {
            ir_block *inner[HDST__IR_NESTED];
            const ir_stmt *stmt = nested[n]->items[i];
            if (hdst__ir_writes(stmt, w->var)) w->holds &= there || (stmt->kind == IR_SET && implies(c, stmt->value, stmt));
            walk_loop(c, inner, hdst__ir_nested((ir_stmt *)stmt, inner), there, w);
            w->arrived |= stmt == w->to;
        }
}

static void walk_if(condition *c, const ir_stmt *stmt, bool there, walk *w)
{
    const bool holds = w->holds, is_own = stmt->cond->op == IR_VAR && stmt->cond->var == w->var;
    walk_block(c, &stmt->then, there || implies(c, stmt->cond, stmt), w);
    if (w->arrived) return;
    const bool then = w->holds;
    w->holds = holds || is_own;             // where it does not hold, nothing is said of it
    walk_block(c, &stmt->otherwise, there, w);
    if (!w->arrived) w->holds &= then;
}

static void walk_block(condition *c, const ir_block *block, bool there, walk *w)
{
    for (size_t i = 0; i < block->count && !w->arrived; i++) {
        const ir_stmt *stmt = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        w->arrived = stmt == w->to;
        if (w->arrived) return;
        if (stmt->kind == IR_IF) walk_if(c, stmt, there, w);
        else if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) walk_loop(c, nested, hdst__ir_nested((ir_stmt *)stmt, nested), there, w);
        else if (hdst__ir_writes(stmt, w->var)) w->holds = there || (stmt->kind == IR_SET && implies(c, stmt->value, stmt));
    }
}

static bool variable_implies(condition *c, uint32_t var, const ir_stmt *at)
{
    walk w = {.var = var, .to = at, .holds = true};
    walk_block(c, &c->func->body, false, &w);
    return w.arrived && w.holds;
}

// Whether a condition of a statement holds only where the text is there.
static bool implies(condition *c, const ir_expr *cond, const ir_stmt *at)
{
    if (!cond || c->left == 0) return false;
    c->left--;
    switch (cond->op) {
    case IR_CONST: return cond->bits == 0;
    case IR_VAR: return is_result(c, cond) ? !c->search->is_place : variable_implies(c, cond->var, at);
    case IR_AND: return implies(c, cond->a, at) || implies(c, cond->b, at);
    case IR_OR: return implies(c, cond->a, at) && implies(c, cond->b, at);
    case IR_SELECT: return (implies(c, cond->a, at) || implies(c, cond->b, at)) && implies(c, cond->c, at);
    case IR_GE: case IR_GT: case IR_NE: return is_found(c, cond);
    default: return false;
    }
}

// --- Statements ---

// Whether they do nothing that is seen, unless the text is there.
static bool does_nothing(condition *c, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        const int count = hdst__ir_nested(stmt, nested);
        if (stmt->kind == IR_EMIT && !implies(c, stmt->cond, stmt)) return false;
        if (stmt->kind == IR_CHECK || stmt->kind == IR_ACCUM) return false;
        for (int n = 0; n < count; n++) {
            const bool then = stmt->kind == IR_IF && nested[n] == &stmt->then;
            if (!(then && implies(c, stmt->cond, stmt)) && !does_nothing(c, nested[n])) return false;
        }
    }
    return true;
}

// --- Texts ---

static bool takes_field(const ir_func *func, uint32_t var, hdst__needed_text *needed)
{
    const ir_expr *text = origin(func, &(ir_expr){.op = IR_VAR, .var = var});
    needed->small_letters = text && text->op == IR_TEXT_VIEW;
    if (needed->small_letters && text->bits != HDST__TEXT_LOWER) return false;
    if (needed->small_letters) text = origin(func, text->a);
    if (!text || text->op != IR_FIELD || !is_first(text->a)) return false;
    needed->leaf = text->leaf;
    return func->params[text->param].record->leaves[text->leaf].elements == 1;
}

static bool takes_text(const ir_func *func, uint32_t var, hdst__needed_text *needed)
{
    const ir_expr *what = origin(func, &(ir_expr){.op = IR_VAR, .var = var});
    if (!what || (what->op != IR_CONST && what->op != IR_BROADCAST)) return false;
    needed->text = what->op == IR_CONST ? (const hdst__text_value *)(uintptr_t)what->bits : NULL;
    needed->param = what->param;
    needed->param_leaf = what->leaf;
    if (what->op == IR_CONST) return needed->text != NULL;          // any text has the empty one
    return is_first(what->a) && is_first(what->b) && !func->params[what->param].is_table;
}

bool hdst__ir_needed_text(const ir_func *filter, hdst__needed_text *needed)
{
    for (size_t i = 0; i < filter->search_count; i++) {
        condition c = {filter, &filter->searches[i], MOST_CONDITIONS};
        *needed = (hdst__needed_text){0};
        if (takes_field(filter, c.search->text, needed) && takes_text(filter, c.search->what, needed) && does_nothing(&c, &filter->body)) return true;
    }
    return false;
}
