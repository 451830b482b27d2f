// SPDX-License-Identifier: Apache-2.0
// What statements do first with a variable: set it, or perhaps read what it was before.
#include "codegen/ir.h"

static ir_meeting meeting_in(const ir_stmt *s, uint32_t var);

ir_meeting hdst__ir_first_meeting(const ir_block *block, uint32_t var)
{
    ir_meeting found = IR_MEETS_NOT;
    for (size_t i = 0; i < block->count && found == IR_MEETS_NOT; i++) found = meeting_in(block->items[i], var);
    return found;
}

static ir_meeting branch_meeting(const ir_stmt *s, uint32_t var)
{
    if (s->cond && hdst__ir_expr_reads(s->cond, var)) return IR_MAY_READ;
    const ir_meeting yes = hdst__ir_first_meeting(&s->then, var), no = hdst__ir_first_meeting(&s->otherwise, var);
    return yes == IR_MAY_READ || no == IR_MAY_READ ? IR_MAY_READ : yes == IR_SETS && no == IR_SETS ? IR_SETS : IR_MEETS_NOT;
}

// A loop may make no turn: what it sets counts for what stands in its body only. Where no turn reads what was before, no later one does either.
static ir_meeting loop_meeting(const ir_stmt *s, uint32_t var)
{
    if (!hdst__ir_stmt_reads(s, var)) return IR_MEETS_NOT;
    const ir_expr *control[] = {s->lo, s->hi, s->cond};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        if (control[i] && hdst__ir_expr_reads(control[i], var)) return IR_MAY_READ;
    if (hdst__ir_block_reads(&s->head, var) || hdst__ir_block_reads(&s->after, var)) return IR_MAY_READ;
    return hdst__ir_first_meeting(&s->body, var) == IR_MAY_READ ? IR_MAY_READ : IR_MEETS_NOT;
}

static ir_meeting meeting_in(const ir_stmt *s, uint32_t var)
{
    switch (s->kind) {
    case IR_RECORDS: return hdst__ir_first_meeting(&s->body, var);
    case IR_IF: return branch_meeting(s, var);
    case IR_FOR: case IR_LOOP: return loop_meeting(s, var);
    default: return hdst__ir_stmt_reads(s, var) ? IR_MAY_READ : s->kind == IR_SET && s->var == var ? IR_SETS : IR_MEETS_NOT;
    }
}
