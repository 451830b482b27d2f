// SPDX-License-Identifier: Apache-2.0
// GPU: records with equal keys become one as they are made (accum/combining.h, templates/combine_gpu.cl, combined_gpu.cl), in a table of the device. A lane
// makes them in memory of its own, which is registers, so that most are never written.
#ifndef HDST_CODEGEN_OPENCL_PRINT_COMBINE_GPU_H
#define HDST_CODEGEN_OPENCL_PRINT_COMBINE_GPU_H

#include "codegen/opencl/printer.h"

bool hdst__combines_on_gpu(const hdst__printer *p);     // whether there is a kernel that does so
void hdst__write_gpu_combine_macros(const hdst__printer *p, hdst__writer *out);     // what the templates leave open; nothing where there is none
// Where the printer's own_record is set, in place of a function's output:
void hdst__print_own_store(hdst__printer *p, const ir_stmt *stmt);
void hdst__print_gpu_combine(hdst__printer *p, const ir_stmt *emit);

#endif
