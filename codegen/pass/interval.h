// SPDX-License-Identifier: Apache-2.0
// Intervals of integers: what an operation of the IR can give when its operands lie in known intervals (interval
// arithmetic; Cousot and Cousot, "Static determination of dynamic properties of programs", 1976). Bounds are numbers
// as people count, not bit patterns: an int8_t lies in -128..127.
#ifndef HDST_CODEGEN_PASS_INTERVAL_H
#define HDST_CODEGEN_PASS_INTERVAL_H

#include "codegen/ir/ir.h"

typedef struct hdst__range {
    __int128 low, high;         // low > high: no value at all
} hdst__range;

static inline bool hdst__range_is_empty(hdst__range r) { return r.low > r.high; }
static inline hdst__range hdst__range_empty(void) { return (hdst__range){1, 0}; }

hdst__range hdst__range_of_kind(hdst__kind kind);                       // integers and bool; others as i64, of no use
hdst__range hdst__range_of_bits(hdst__kind kind, uint64_t bits);        // of a constant, as IR_CONST has it
hdst__range hdst__range_join(hdst__range a, hdst__range b);             // in either
hdst__range hdst__range_meet(hdst__range a, hdst__range b);             // in both
hdst__range hdst__range_fit(hdst__kind kind, hdst__range r);            // what wraps may be anything of its kind
// Of `op` on operands of `kind`; empty when an operand is. What is not known better is the whole kind.
hdst__range hdst__range_unary(ir_op op, hdst__kind kind, hdst__range a);
hdst__range hdst__range_binary(ir_op op, hdst__kind kind, hdst__range a, hdst__range b);

#endif
