// SPDX-License-Identifier: Apache-2.0
// How many additions one record can make to one cell.
#ifndef HDST_CODEGEN_PASS_ADDITION_BOUND_H
#define HDST_CODEGEN_PASS_ADDITION_BOUND_H

#include "codegen/ir/ir.h"

// An upper bound of the additions that one record can make to one cell, given the row counts that IR_LENGTH stands
// for (indexed by param); UINT64_MAX: no bound known. The arena, for what is noted meanwhile, is the caller's: plans of several threads ask of one function.
uint64_t hdst__tables_adds_per_record(hdst__arena *arena, const ir_func *func, const uint64_t *rows_of_param);
uint64_t hdst__leaf_adds_per_record(hdst__arena *arena, const ir_func *func, const uint64_t *rows_of_param, uint32_t param, uint32_t leaf);     // of one leaf

#endif
