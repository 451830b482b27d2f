// SPDX-License-Identifier: Apache-2.0
// Kernels that users write in OpenCL C themselves.
#ifndef HDST_CODEGEN_OPENCL_EXTERNAL_KERNEL_H
#define HDST_CODEGEN_OPENCL_EXTERNAL_KERNEL_H

#include "codegen/opencl/kernel.h"

// OpenCL C of the user's own for a map, given as text with a __kernel called `name`. Its parameters, in this order:
//     ulong first, ulong skip, ulong count, __global const T *in,
//     for each broadcast: __global const B *rows [, ulong row_count when it is a table],
//     __global U *out
// It makes out[i] from in[skip + i], for i < count, with any number of work-items in groups of `local_size`; first +
// i is the record's index in the whole input. The
// records are declared in front of the text, as C structs. `func` is a signature. Returns NULL with diags set when there is text in a record.
const hdst__kernel *hdst__kernel_separate(hdst__arena *arena, const ir_func *func, const char *name, const char *text, uint32_t local_size,
                                          const hdst__target_facts *facts, hdst__diags *diags);
enum { HDST__SEPARATE_GROUP = 256 };        // work-items of a group when the user names no number

#endif
