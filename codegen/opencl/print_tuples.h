// SPDX-License-Identifier: Apache-2.0
// GPU form: kernels for a table to which additions go by way of (key, value) tuples (ir_tuples).
#ifndef HDST_CODEGEN_OPENCL_PRINT_TUPLES_H
#define HDST_CODEGEN_OPENCL_PRINT_TUPLES_H

#include "base/pieces.h"
#include "codegen/opencl/printer.h"

enum { HDST__TUPLE_FILLINGS = 9 };
// `single`, `spans`: the body for one record and for the `records` of a lane. `setup`: of the main kernel.
void hdst__tuples_texts(hdst__printer *p, const ir_func *single, const ir_func *spans, uint32_t records, const char *setup,
    hdst__filling fillings[HDST__TUPLE_FILLINGS]);
// The frames of these kernels, filled; nothing where there are no tuples.
void hdst__tuples_write(const hdst__printer *p, hdst__writer *out, const hdst__filling *fillings, size_t count);
void hdst__tuples_finish(hdst__printer *p, hdst__kernel *kernel);      // names, sizes
const char *hdst__tuples_why(const hdst__printer *p);

#endif
