// SPDX-License-Identifier: Apache-2.0
// The steps of the interpreter with one record, as `hdst replay` shows them.
#ifndef HDST_CODEGEN_INTERP_INTERP_TRACE_H
#define HDST_CODEGEN_INTERP_INTERP_TRACE_H

#include "codegen/ir/ir.h"

typedef enum hdst__trace_kind {
    HDST__TRACE_SET,            // a variable now is `value`
    HDST__TRACE_SET_ELEM,       // element `index` of an array
    HDST__TRACE_BRANCH,         // an `if` whose condition is `value`; before what it guards
    HDST__TRACE_LOOP,           // a loop is reached
    HDST__TRACE_TURN,           // its turn number `index`, from 1, begins; `value` is what a counted loop counts
    HDST__TRACE_LOOP_END,
    HDST__TRACE_EXIT,           // break, continue or return
    HDST__TRACE_CHECK,          // `value`: whether it holds; index and limit of index checks
    HDST__TRACE_ACCUM,          // `value` is added to row `index`, element `limit`
    HDST__TRACE_STORE,          // `value` is element `index` of the output's leaf
    HDST__TRACE_EMIT,           // `value`: whether what was stored (of a filter: its input) is an output record
} hdst__trace_kind;

typedef struct hdst__trace_event {
    hdst__trace_kind kind;
    const ir_stmt *stmt;
    hdst__kind value_kind;
    uint64_t value, index, limit;       // bits as in codegen/ir/eval.h
} hdst__trace_event;

typedef struct hdst__trace {
    void (*event)(void *user, const hdst__trace_event *event);
    void *user;
} hdst__trace;

#endif
