// SPDX-License-Identifier: Apache-2.0
// Reduces that combine leaf by leaf with a known law become accumulations: exact, in any order, on every device.
//
// Before: store result.n = add(a.n, b.n)         After: accum result.n += a.n
#include "codegen/lower/lower_state.h"

static const ir_expr *without_conversion(const ir_expr *e)
{
    while (e->op == IR_CONVERT) e = e->a;
    return e;
}

static bool law_of(ir_op op, hdst__accumulate_op *acc)
{
    switch (op) {
    case IR_ADD: *acc = HDST__SUM; return true;
    case IR_MIN: *acc = HDST__MIN; return true;
    case IR_MAX: *acc = HDST__MAX; return true;
    case IR_AND: *acc = HDST__AND; return true;
    case IR_OR: *acc = HDST__OR; return true;
    case IR_XOR: *acc = HDST__XOR; return true;
    default: return false;
    }
}

static uint64_t constant_element(const ir_expr *element) { return element ? element->bits : 0; }

// Which input e reads this leaf's element from, 0 or 1; 2: e is something else.
static uint32_t input_of(const ir_expr *e, uint32_t leaf, const ir_expr *element)
{
    e = without_conversion(e);
    if (e->op != IR_FIELD || e->leaf != leaf || (e->a && e->a->op != IR_CONST)) return 2;
    return constant_element(e->a) == constant_element(element) ? e->param : 2;
}

static bool is_law(const ir_stmt *s, hdst__accumulate_op *acc)
{
    if (s->kind != IR_STORE || (s->index && s->index->op != IR_CONST)) return false;
    const ir_expr *e = without_conversion(s->value);
    if (!law_of(e->op, acc)) return false;
    return input_of(e->a, s->leaf, s->index) + input_of(e->b, s->leaf, s->index) == 1;
}

ir_func *hdst__lower_field_wise(hdst__arena *arena, const ir_func *reduce)
{
    const ir_param *input = &reduce->params[0];
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = reduce->name, .diags = reduce->diags};
    hdst__ir_add_param(func, *input);
    ir_param result = {.kind = IR_ACCUM_TABLE, .name = "result", .bind = "result", .record = input->record};
    result.leaf_op = HDST__NEW_ARRAY(arena, hdst__accumulate_op, input->record->leaf_count);
    result.leaf_from_float = HDST__NEW_ARRAY(arena, bool, input->record->leaf_count);
    bool *seen = HDST__NEW_ARRAY(arena, bool, input->record->leaf_count);
    for (size_t i = 0; i < reduce->body.count; i++) {
        const ir_stmt *s = reduce->body.items[i];
        hdst__accumulate_op acc;
        if (!is_law(s, &acc) || (seen[s->leaf] && result.leaf_op[s->leaf] != acc)) return NULL;
        seen[s->leaf] = true;
        result.leaf_op[s->leaf] = acc;
        ir_stmt *add = hdst__ir_stmt(func, IR_ACCUM, s->span);
        add->param = 1;
        add->leaf = s->leaf;
        add->index2 = hdst__ir_copy(func, s->index);
        add->acc = acc;
        add->value = hdst__ir_const(func, input->record->leaves[s->leaf].kind, 0);
        add->value->op = IR_FIELD;
        add->value->leaf = s->leaf;
        add->value->a = hdst__ir_copy(func, s->index);
        hdst__ir_push(func, &func->body, add);
    }
    hdst__ir_add_param(func, result);
    return func;
}
