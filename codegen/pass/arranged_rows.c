// SPDX-License-Identifier: Apache-2.0
// Which accumulators' rows come in the order of the input's records (codegen/pass/arranged_rows.h).
#include "codegen/pass/arranged_rows.h"

typedef struct search {
    const ir_func *func;
    uint32_t param;
    uint32_t depth;             // variables that stand for one another
    size_t additions;
    bool other;
} search;

enum { MOST_DEPTH = 16 };

static bool only_arranged(search *s, const ir_expr *e);

typedef struct definition {
    uint32_t var;
    size_t writes;
    const ir_expr *value;
} definition;

static bool find_definition(ir_stmt *s, void *user)
{
    definition *seek = user;
    if (!hdst__ir_writes(s, seek->var)) return true;
    seek->writes++;
    seek->value = s->kind == IR_SET ? s->value : NULL;
    return true;
}

static bool is_arranged_variable(search *s, uint32_t var)
{
    definition seek = {.var = var};
    hdst__ir_visit_stmts((ir_block *)&s->func->body, find_definition, &seek);
    if (seek.writes != 1 || !seek.value || s->depth == MOST_DEPTH) return false;
    s->depth++;
    const bool yes = only_arranged(s, seek.value);
    s->depth--;
    return yes;
}

// A check's clamp is part of it: select(lt(key, length), key, 0).
static bool only_arranged(search *s, const ir_expr *e)
{
    switch (e->op) {
    case IR_FIELD: return e->param == 0 && !e->a && e->leaf + 1 == s->func->params[0].arranged;
    case IR_VAR: return is_arranged_variable(s, e->var);
    case IR_CONVERT: return only_arranged(s, e->a);
    case IR_SELECT: return only_arranged(s, e->b) && e->c->op == IR_CONST;
    default: return false;
    }
}

static bool look(ir_stmt *stmt, void *user)
{
    search *s = user;
    const bool adds = stmt->kind == IR_ACCUM || stmt->kind == IR_ACCUM_WORDS || stmt->kind == IR_ACCUM_BLOCK || stmt->kind == IR_ACCUM_SUPERACCUMULATOR;
    if (!adds || stmt->param != s->param) return true;
    s->additions++;
    s->other |= stmt->kind == IR_ACCUM_BLOCK || !stmt->index || (stmt->index2 && stmt->index2->op != IR_CONST) || !only_arranged(s, stmt->index);
    return !s->other;
}

bool hdst__rows_are_arranged(const ir_func *func, uint32_t param)
{
    search s = {.func = func, .param = param};
    if (!func->params[0].arranged) return false;
    hdst__ir_visit_stmts((ir_block *)&func->body, look, &s);
    return s.additions && !s.other;
}
