// SPDX-License-Identifier: Apache-2.0
// GPU form: additions that stand together, and sums in a lane's registers. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ACCUM_RUN_H
#define HDST_CODEGEN_OPENCL_PRINT_ACCUM_RUN_H

#include "codegen/opencl/printer.h"

size_t hdst__print_accum_run(hdst__printer *p, ir_stmt *const *stmts, size_t count);       // hdst__print_run: IR_ACCUM that share a test
void hdst__print_lane_sums(hdst__printer *p);           // the lane's running sums; start of the kernel
void hdst__print_lane_takes(hdst__printer *p);          // they go to its words

#endif
