// SPDX-License-Identifier: Apache-2.0
// Block form: the loops over a block that add to sums of the whole dataset.
#ifndef HDST_CODEGEN_PASS_SUM_LOOPS_H
#define HDST_CODEGEN_PASS_SUM_LOOPS_H

#include "codegen/ir/ir.h"

void hdst__pass_sum_loops(ir_func *func, bool has_double);      // accumulators are placed; has_double: the device has
void hdst__pass_shared_factors(ir_func *func);      // behind that: sums that go together (shared_factors.c)
void hdst__pass_software_pipelining(ir_func *func); // behind that: such sums of a block beside the records of the next one

#endif
