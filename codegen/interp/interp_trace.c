// SPDX-License-Identifier: Apache-2.0
// Reports each step of the interpreter to a watcher, for a single record only: its values are those of lane 0.
#include "codegen/interp/interp_state.h"

static uint64_t value_of(interp_state *s, const ir_expr *e) { return e ? hdst__interp_eval(s, e, s->top + INTERP_STMT_SLABS).v[0] : 0; }

static void tell(interp_state *s, hdst__trace_kind kind, const ir_stmt *stmt, hdst__kind value_kind, uint64_t value, uint64_t index, uint64_t limit)
{
    const hdst__trace_event event = {kind, stmt, value_kind, value, index, limit};
    s->run->trace->event(s->run->trace->user, &event);
}

void hdst__interp_trace_before(interp_state *s, const ir_stmt *stmt)
{
    switch (stmt->kind) {
    case IR_SET_ELEM: tell(s, HDST__TRACE_SET_ELEM, stmt, stmt->value->kind, value_of(s, stmt->value), value_of(s, stmt->index), 0); break;
    case IR_IF: tell(s, HDST__TRACE_BRANCH, stmt, HDST__BOOL, value_of(s, stmt->cond), 0, 0); break;
    case IR_FOR: case IR_LOOP: tell(s, HDST__TRACE_LOOP, stmt, HDST__BOOL, 0, 0, 0); break;
    case IR_BREAK: case IR_CONTINUE: case IR_RETURN: tell(s, HDST__TRACE_EXIT, stmt, HDST__BOOL, 0, 0, 0); break;
    case IR_ACCUM: tell(s, HDST__TRACE_ACCUM, stmt, stmt->value->kind, value_of(s, stmt->value), value_of(s, stmt->index), value_of(s, stmt->index2)); break;
    case IR_STORE: tell(s, HDST__TRACE_STORE, stmt, stmt->value->kind, value_of(s, stmt->value), value_of(s, stmt->index), 0); break;
    case IR_EMIT: tell(s, HDST__TRACE_EMIT, stmt, HDST__BOOL, stmt->cond ? value_of(s, stmt->cond) : 1, 0, 0); break;
    case IR_CHECK: tell(s, HDST__TRACE_CHECK, stmt, HDST__BOOL, value_of(s, stmt->cond), value_of(s, stmt->index), value_of(s, stmt->index2)); break;
    default: break;
    }
}

void hdst__interp_trace_after(interp_state *s, const ir_stmt *stmt)
{
    if (stmt->kind == IR_SET) tell(s, HDST__TRACE_SET, stmt, stmt->value->kind, s->vars[stmt->var].v[0], 0, 0);
    if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) tell(s, HDST__TRACE_LOOP_END, stmt, HDST__BOOL, 0, 0, 0);
}

void hdst__interp_trace_turn(interp_state *s, const ir_stmt *stmt, uint64_t turn)
{
    const bool counts = stmt->kind == IR_FOR;
    tell(s, HDST__TRACE_TURN, stmt, counts ? s->func->vars[stmt->var].kind : HDST__BOOL, counts ? s->vars[stmt->var].v[0] : 0, turn, 0);
}
