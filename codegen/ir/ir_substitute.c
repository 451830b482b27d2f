// SPDX-License-Identifier: Apache-2.0
// Variables of IR in place: expressions for them, other numbers, none where nothing names them.
#include "codegen/ir/ir.h"

// --- Substitution ---

typedef struct substitution {
    ir_func *func;
    uint32_t var;
    const ir_expr *value;
} substitution;

static bool substitute(ir_expr **expr, void *user)
{
    const substitution *s = user;
    if ((*expr)->op == IR_VAR && (*expr)->var == s->var) *expr = hdst__ir_copy(s->func, s->value);
    return true;
}

void hdst__ir_substitute(ir_func *func, ir_block *block, uint32_t var, const ir_expr *value)
{
    substitution s = {func, var, value};
    hdst__ir_visit_exprs(block, substitute, &s);
}

void hdst__ir_substitute_expr(ir_func *func, ir_expr **expr, uint32_t var, const ir_expr *value)
{
    substitution s = {func, var, value};
    hdst__ir_visit_expr(expr, substitute, &s);
}

// --- Renaming and dropping variables ---

static bool rename_expr(ir_expr **slot, void *user)
{
    const uint32_t *number = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) (*slot)->var = number[(*slot)->var];
    return true;
}

static bool names_var(const ir_stmt *s) { return s->kind == IR_SET || s->kind == IR_SET_ELEM || s->kind == IR_FOR || s->kind == IR_REDUCE; }

static bool rename_stmt(ir_stmt *s, void *user)
{
    const uint32_t *number = user;
    if (names_var(s)) s->var = number[s->var];
    return hdst__ir_visit_own_exprs(s, rename_expr, user);
}

static bool mark_expr(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) ((uint32_t *)user)[(*slot)->var] = 1;
    return true;
}

static bool mark_stmt(ir_stmt *s, void *user)
{
    if (names_var(s)) ((uint32_t *)user)[s->var] = 1;
    return hdst__ir_visit_own_exprs(s, mark_expr, user);
}

// Trees may be shared by mistake of a pass; renaming one twice would be wrong, so copies are renamed.
void hdst__ir_rename(ir_func *func, ir_block *block, const uint32_t *number)
{
    *block = hdst__ir_copy_block(func, block);
    hdst__ir_visit_stmts(block, rename_stmt, (void *)number);
}

void hdst__ir_drop_unused_vars(ir_func *func)
{
    uint32_t *number = HDST__NEW_ARRAY(func->arena, uint32_t, func->var_count + 1), kept = 0;
    hdst__ir_visit_stmts(&func->body, mark_stmt, number);
    for (uint32_t i = 0; i < func->var_count; i++) {
        if (!number[i]) continue;
        number[i] = kept;
        func->vars[kept++] = func->vars[i];
    }
    func->var_count = kept;
    func->var_names = NULL;
    hdst__ir_rename(func, &func->body, number);
}
