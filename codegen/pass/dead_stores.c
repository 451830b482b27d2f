// SPDX-License-Identifier: Apache-2.0
// What a local array is filled with goes when a loop fills all of it again before anything reads it: arrays begin as
// zeroes, and most are filled before they are read. (Dead store elimination.)
//
// Before: for e = 0u to 30u { d[e] = 0f }                       After: for j = 0u to 30u { d[j] = p.x[j]; least = min(least, d[j]) }
//         for j = 0u to 30u { d[j] = p.x[j]; least = min(least, d[j]) }
#include "codegen/pass/passes.h"

// --- The loop that fills all of it ---

typedef struct turn {
    uint32_t array, counter;
} turn;

// Reads of the array: only of the turn's own element.
static bool reads_own(ir_expr **slot, void *user)
{
    const turn *t = user;
    return (*slot)->op != IR_ELEM || (*slot)->var != t->array || ((*slot)->a->op == IR_VAR && (*slot)->a->var == t->counter);
}

// Every turn sets its element before it looks at it, and at no other.
static bool sets_own_first(const ir_stmt *loop, uint32_t array)
{
    turn t = {array, loop->var};
    for (size_t i = 0; i < loop->body.count; i++) {
        const ir_stmt *s = loop->body.items[i];
        if (!hdst__ir_stmt_reads(s, array) && !hdst__ir_stmt_writes(s, array)) continue;
        if (s->kind != IR_SET_ELEM || s->index->op != IR_VAR || s->index->var != loop->var || hdst__ir_stmt_reads(s, array)) return false;
        return hdst__ir_visit_exprs((ir_block *)&loop->body, reads_own, &t);
    }
    return false;
}

static bool fills(const ir_func *func, const ir_stmt *s, uint32_t array)
{
    return s->kind == IR_FOR && s->step == 1 && hdst__ir_is_const(s->lo, 0) &&
        hdst__ir_is_const(s->hi, func->vars[array].elements) && !hdst__ir_loop_exits(s) &&
           sets_own_first(s, array);
}

// --- What stands before it ---

static bool may_leave(const ir_stmt *s)
{
    ir_stmt *item = (ir_stmt *)s;
    return s->kind == IR_RETURN || hdst__ir_block_exits(&(ir_block){&item, 1, 1});
}

// Whether a loop fills the array behind statement `at`, before anything reads it.
static bool is_filled_after(const ir_func *func, const ir_block *block, size_t at, uint32_t array)
{
    for (size_t i = at + 1; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (fills(func, s, array)) return true;
        if (hdst__ir_stmt_reads(s, array) || may_leave(s)) return false;
    }
    return false;
}

// The array that the statement sets elements of, and does nothing else; UINT32_MAX: none.
static uint32_t array_set_by(const ir_stmt *s)
{
    if (s->kind == IR_SET_ELEM) return s->var;
    if (s->kind != IR_FOR || s->body.count != 1) return UINT32_MAX;
    return array_set_by(s->body.items[0]);
}

static void drop_block(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) drop_block(func, nested[n]);
        const uint32_t array = array_set_by(s);
        if (array == UINT32_MAX || !is_filled_after(func, block, i, array)) hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_dead_stores(ir_func *func) { drop_block(func, &func->body); }
