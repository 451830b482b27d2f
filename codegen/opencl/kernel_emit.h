// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much: the kernels that count it and find its places. p->output says where it goes.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_EMIT_H
#define HDST_CODEGEN_OPENCL_KERNEL_EMIT_H

#include "codegen/opencl/printer.h"

// COUNTED, CPU: PLACES has the total, where the output begins and ends, where it began, and the counts of the strips.
enum { HDST__COUNTS_AT = 3 };
const char *hdst__emit_frame(const hdst__printer *p);   // the template of kernels beside the main one; NULL: there are none
void hdst__print_count_of(hdst__printer *p, const ir_func *count, void (*print)(hdst__printer *p));        // prints it in place of the whole function
void hdst__kernel_name_counts(hdst__printer *p, hdst__kernel *kernel);
const char *hdst__emit_why(const hdst__printer *p);

#endif
