// SPDX-License-Identifier: Apache-2.0
// Accumulator tables of a function's accumulators.
#ifndef HDST_CODEGEN_IR_ACCUM_TABLES_H
#define HDST_CODEGEN_IR_ACCUM_TABLES_H

#include "accum/tables.h"
#include "codegen/ir/ir.h"

// hdst__tables_make of the IR_ACCUM_TABLE params, under the params' indices. In `arena`.
const hdst__tables *hdst__ir_accum_tables(hdst__arena *arena, const ir_func *func, const hdst__precision_class *classes);

#endif
