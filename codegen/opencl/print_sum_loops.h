// SPDX-License-Identifier: Apache-2.0
// CPU form: the loops over a block that add to sums of the whole dataset (codegen/ir/sum_loop.h).
#ifndef HDST_CODEGEN_OPENCL_PRINT_SUM_LOOPS_H
#define HDST_CODEGEN_OPENCL_PRINT_SUM_LOOPS_H

#include "codegen/ir/sum_loop.h"
#include "codegen/opencl/printer.h"

const char *hdst__vector_name(hdst__printer *p, hdst__kind kind, uint32_t lanes);          // "float16"
// A vector of records from a pointer to the value of the block's first one; `ahead`: "r".
const char *hdst__packed_text(hdst__printer *p, const ir_sum_loop *loop, uint32_t operand, const char *pointer, const char *ahead);
// The addend, of operands with these texts. `lanes`: as a vector of so many records; 0: of one.
const char *hdst__sum_addend_text(hdst__printer *p, const ir_sum_loop *loop, const char **operands, uint32_t lanes);

void hdst__print_sum_loops(hdst__printer *p);       // at file scope: a function for each of p->func
// The call by which a block's records are added to `state`, whose cell is `cell`.
void hdst__print_sum_call(hdst__printer *p, const ir_stmt *stmt, const char *state, const char *cell);

#endif
