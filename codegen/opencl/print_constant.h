// SPDX-License-Identifier: Apache-2.0
// Constants of the IR as OpenCL C, and the names of kinds. Texts are in the arena.
#ifndef HDST_CODEGEN_OPENCL_PRINT_CONSTANT_H
#define HDST_CODEGEN_OPENCL_PRINT_CONSTANT_H

#include "base/arena.h"
#include "record/type.h"

const char *hdst__cl_name(hdst__kind kind);                             // of a value: "bool", "uint", "float" ...
const char *hdst__constant_text(hdst__arena *arena, hdst__kind kind, uint64_t bits);
const char *hdst__canonical_text(hdst__arena *arena, hdst__kind kind, const char *value);       // IR_CANONICAL of a float

#endif
