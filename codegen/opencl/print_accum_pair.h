// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles in registers. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ACCUM_PAIR_H
#define HDST_CODEGEN_OPENCL_PRINT_ACCUM_PAIR_H

#include "codegen/opencl/printer.h"

bool hdst__is_pair_sum(const hdst__printer *p, const ir_stmt *stmt);
void hdst__print_pair_sums(hdst__printer *p, ir_stmt *const *stmts, size_t count);
void hdst__print_pair_starts(hdst__printer *p);         // start of the kernel
void hdst__print_pair_takes(hdst__printer *p);          // where the group merges

#endif
