// SPDX-License-Identifier: Apache-2.0
// Records in variables, one for each leaf (codegen/lower/leaf_vars.h).
#include "codegen/lower/leaf_vars.h"

static ir_expr *zero_if_none(ir_func *func, ir_expr *element) { return element ? element : hdst__ir_const(func, HDST__U32, 0); }

uint32_t hdst__leaf_vars_add(ir_func *func, const hdst__record *record, const char *name)
{
    const uint32_t first = (uint32_t)func->var_count;
    for (size_t i = 0; i < record->leaf_count; i++)
        hdst__ir_add_var(func, name, record->leaves[i].kind, record->leaves[i].elements > 1 ? record->leaves[i].elements : 0);
    return first;
}

ir_expr *hdst__leaf_var_read(ir_func *func, uint32_t var, ir_expr *element)
{
    ir_expr *e = hdst__ir_var(func, var);
    if (!func->vars[var].elements) return e;
    e->op = IR_ELEM;
    e->a = zero_if_none(func, element);
    return e;
}

void hdst__leaf_var_set(ir_func *func, ir_stmt *s, uint32_t var, ir_expr *element)
{
    const bool is_array = func->vars[var].elements;
    s->kind = is_array ? IR_SET_ELEM : IR_SET;
    s->var = var;
    s->index = is_array ? zero_if_none(func, element) : NULL;
}

ir_block *hdst__over_elements(ir_func *func, ir_block *block, uint64_t elements, ir_expr **element)
{
    *element = NULL;
    if (elements == 1) return block;
    const uint32_t e = hdst__ir_add_var(func, "e", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(func, e, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, elements), 1);
    hdst__ir_push(func, block, loop);
    *element = hdst__ir_var(func, e);
    return &loop->body;
}
