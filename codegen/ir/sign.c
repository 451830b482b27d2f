// SPDX-License-Identifier: Apache-2.0
// What operations and assignments say of signs.
#include "codegen/ir/sign.h"

bool hdst__ir_is_plus(const ir_expr *e, const bool *plus)
{
    const bool squares = e->a && e->b && hdst__ir_expr_equal(e->a, e->b);
    switch (e->op) {
    case IR_CONST: return !(e->bits >> (8 * hdst__scalar_size(e->kind) - 1));
    case IR_VAR: return plus[e->var];
    case IR_ABS: return true;
    case IR_SQRT: return hdst__ir_is_plus(e->a, plus);
    case IR_MUL: return squares || (hdst__ir_is_plus(e->a, plus) && hdst__ir_is_plus(e->b, plus));
    case IR_ADD: case IR_DIV: case IR_MIN: case IR_MAX: return hdst__ir_is_plus(e->a, plus) && hdst__ir_is_plus(e->b, plus);
    case IR_FMA: return (squares || (hdst__ir_is_plus(e->a, plus) && hdst__ir_is_plus(e->b, plus))) && hdst__ir_is_plus(e->c, plus);
    case IR_SELECT: return hdst__ir_is_plus(e->b, plus) && hdst__ir_is_plus(e->c, plus);
    case IR_CONVERT: return hdst__kind_is_float(e->a->kind) && hdst__ir_is_plus(e->a, plus);
    default: return false;
    }
}

// --- Variables ---

typedef struct walk {
    bool *plus;
    bool changed;
} walk;

static bool found(ir_stmt *s, void *user)
{
    walk *w = user;
    if (s->kind == IR_SET && hdst__kind_is_float(s->value->kind)) w->plus[s->var] = true;
    return true;
}

static bool look(ir_stmt *s, void *user)
{
    walk *w = user;
    if (s->kind != IR_SET || !w->plus[s->var] || hdst__ir_is_plus(s->value, w->plus)) return true;
    w->plus[s->var] = false;
    w->changed = true;
    return true;
}

// All of them at first, then without those of which that does not follow, until it follows for all that are left.
bool *hdst__ir_plus_vars(const ir_func *func)
{
    walk w = {HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1), true};
    ir_block *body = (ir_block *)&func->body;
    hdst__ir_visit_stmts(body, found, &w);
    while (w.changed) {
        w.changed = false;
        hdst__ir_visit_stmts(body, look, &w);
        hdst__arena_look(func->arena);
    }
    return w.plus;
}
