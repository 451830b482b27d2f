// SPDX-License-Identifier: Apache-2.0
// GPU form: additions that stand together, and sums in a lane's registers. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ACCUM_RUN_H
#define HDST_CODEGEN_OPENCL_PRINT_ACCUM_RUN_H

#include "codegen/opencl/printer.h"

typedef struct hdst__lane_sums hdst__lane_sums;         // what is known of the lane's sums so far

hdst__lane_sums *hdst__lane_sums_create(hdst__arena *arena);
size_t hdst__print_accum_run(hdst__printer *p, ir_stmt *const *stmts, size_t count);       // hdst__print_run: IR_ACCUM
void hdst__print_lane_sums(hdst__printer *p);           // the lane's running sums; start of the kernel
void hdst__print_lane_takes(hdst__printer *p);          // they go to its words
// Additions to a lane's sums between two merges, for which its words have room; once all of them are printed.
uint32_t hdst__lane_adds(const hdst__printer *p);

#endif
