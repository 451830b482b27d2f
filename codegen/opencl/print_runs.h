// SPDX-License-Identifier: Apache-2.0
// CPU: runs of records that add to one row of a table (IR_PLACE_RUN). A function of the kernel's file takes what a run has in registers to the row.
#ifndef HDST_CODEGEN_OPENCL_PRINT_RUNS_H
#define HDST_CODEGEN_OPENCL_PRINT_RUNS_H

#include "codegen/opencl/printer.h"

// The call that ends the run of `row`, that of a row to which nobody else adds meanwhile, and the head of the function
// (p->alone: of the second one), whose parameters have the names that the kernel has for the same.
const char *hdst__run_end_text(hdst__printer *p, const hdst__accum_plan *plan);
const char *hdst__run_end_alone_text(hdst__printer *p, const hdst__accum_plan *plan);
const char *hdst__run_whole_text(hdst__printer *p, const hdst__accum_plan *plan);     // of a row that has words of its own, `come`
const char *hdst__run_whole_head(hdst__printer *p, const hdst__accum_plan *plan);
const char *hdst__run_end_head(hdst__printer *p, const hdst__accum_plan *plan);

#endif
