// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the IR over arrays of 64-bit patterns: element i of the result depends on element i of the operands. The one place where the numeric
// rules are written down as host code; the interpreter works on blocks with it, constant folding on single values.
//
// Patterns: integers sign- or zero-extended to 64 bits, bool 0 or 1, float in the low 32 bits, double as its bits, a text as
// the address of a hdst__text_value (text_value.h).
// Results may be one of the operand arrays. The sign and payload of a NaN that arithmetic makes are unspecified;
// IR_CANONICAL, and IR_BITCAST to an integer, give the quiet, positive NaN without payload (0x7fc00000,
// 0x7ff8000000000000), so that programs see equal bits everywhere.
#ifndef HDST_CODEGEN_IR_EVAL_H
#define HDST_CODEGEN_IR_EVAL_H

#include "codegen/ir/ir.h"

void hdst__eval_unary_n(ir_op op, hdst__kind operand, const uint64_t *a, uint64_t *out, size_t n);      // NEG ... ISNAN
void hdst__eval_binary_n(ir_op op, hdst__kind operand, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n);  // ADD ... NE
void hdst__eval_fma_n(hdst__kind kind, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n);
void hdst__eval_bitcast_n(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n);

// One operation on bit patterns, as every back end must compute it; used by the interpreter and by constant folding.
uint64_t hdst__eval_unary(ir_op op, hdst__kind kind, hdst__kind operand, uint64_t a);
uint64_t hdst__eval_binary(ir_op op, hdst__kind operand, uint64_t a, uint64_t b);
uint64_t hdst__eval_fma(hdst__kind kind, uint64_t a, uint64_t b, uint64_t c);

#endif
