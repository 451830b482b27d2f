// SPDX-License-Identifier: Apache-2.0
// Row form: loops of constant bounds around what leaves a record's body (row_sums.h): their turns, the rows that they
// go through, the number of a turn.
#include "codegen/pass/row_sums.h"

uint64_t hdst__row_turns(const hdst__nest *nest, size_t from)
{
    uint64_t turns = 1;
    for (size_t k = from; k < nest->depth; k++) turns *= nest->turns[k];
    return turns;
}

bool hdst__row_is_consecutive(const hdst__nest *nest, const ir_expr *index, uint64_t *first)
{
    const hdst__linear l = index ? hdst__linear_of(nest, index, NULL) : (hdst__linear){0};
    uint64_t reach = 0;
    if (!l.known) return false;
    for (size_t k = 0; k < nest->depth; k++) {
        if (l.factor[k] != hdst__row_turns(nest, k + 1)) return false;
        reach += l.factor[k] * (nest->turns[k] - 1);
    }
    *first = l.highest - reach;
    return true;
}

bool hdst__row_is_field(const hdst__row_taker *t, const hdst__nest *nest, const ir_expr *e, uint64_t *first)
{
    if (e->op != IR_FIELD || e->kind != HDST__F32 || !e->a || t->input->layout != HDST__AOS) return false;
    const hdst__record *record = t->func->params[e->param].record;
    const hdst__leaf *leaf = &record->leaves[e->leaf];
    return hdst__leaf_is_aligned(record, leaf) && hdst__leaf_is_dense(leaf) && hdst__row_is_consecutive(nest, e->a, first);
}

ir_expr *hdst__row_unit(const hdst__row_taker *t, size_t depth, uint64_t first)
{
    ir_expr *index = hdst__ir_const(t->func, HDST__U32, first);
    for (size_t k = 0; k < depth; k++) {
        ir_expr *turn = hdst__ir_convert(t->func, HDST__U32, hdst__ir_var(t->func, t->nest.loop[k]->var));
        ir_expr *before = hdst__ir_binary(t->func, IR_MUL, HDST__U32, index, hdst__ir_const(t->func, HDST__U32, t->nest.turns[k]));
        index = k ? hdst__ir_binary(t->func, IR_ADD, HDST__U32, before, turn) : turn;
    }
    return index;
}
