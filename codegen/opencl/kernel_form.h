// SPDX-License-Identifier: Apache-2.0
// What the forms of kernels share: what stands at file scope, and the frame that is filled.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_FORM_H
#define HDST_CODEGEN_OPENCL_KERNEL_FORM_H

#include "base/pieces.h"
#include "codegen/opencl/printer.h"

void hdst__print_file_scope(hdst__printer *p);          // macros of inputs, broadcasts, outputs; constant arrays

// After printing: false, with a diagnostic, when the device lacks something that was used.
bool hdst__device_can(const hdst__printer *p, hdst__diags *diags);
// Fills the frame; the kernel's name is the function's with a hash of everything that shaped it.
void hdst__kernel_finish(hdst__printer *p, hdst__kernel *kernel, const char *frame, hdst__filling *fillings, size_t count);
const char *hdst__tables_why(hdst__printer *p);         // where the accumulators are and why, for people

// The forms.
const hdst__kernel *hdst__kernel_make_cpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);
const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);
// GPUs, of additions to rows of arranged records that are written as they are complete. NULL: the function does more, or they may not be.
const hdst__kernel *hdst__kernel_make_rows_gpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);

#endif
