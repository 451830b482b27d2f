// SPDX-License-Identifier: Apache-2.0
// Fusion of a chain of functions in IR.
#ifndef HDST_CODEGEN_LOWER_FUSE_H
#define HDST_CODEGEN_LOWER_FUSE_H

#include "codegen/ir/ir.h"

// Fuses a chain (filter, map, flat_map ... last) over one input into one function: the output of each is the input of the next.
// A single function is copied; filters alone give their input records. What follows a flat_map is repeated for each emit: NULL
// when that makes more than HDST__FUSE_LIMIT statements.
ir_func *hdst__fuse(hdst__arena *arena, ir_func *const *functions, size_t count);
enum { HDST__FUSE_LIMIT = 10000 };

#endif
