// SPDX-License-Identifier: Apache-2.0
// GPU form: the kernels that make C structs of the device table.
#ifndef HDST_CODEGEN_OPENCL_PRINT_FINISH_H
#define HDST_CODEGEN_OPENCL_PRINT_FINISH_H

#include "base/pieces.h"
#include "codegen/opencl/printer.h"

// The fillings of finish_overflow.cl and, the last one, of finish_gpu.cl alone; the kernel's list of its arguments.
enum { HDST__OVERFLOW_FILLINGS = 3, HDST__FINISH_FILLINGS = 4 };
void hdst__finish_texts(hdst__printer *p, hdst__kernel *kernel, hdst__filling fillings[HDST__FINISH_FILLINGS]);

#endif
