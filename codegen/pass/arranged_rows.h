// SPDX-License-Identifier: Apache-2.0
// Accumulators to whose rows the records come in order, because the input is arranged (ir_param.arranged). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ARRANGED_ROWS_H
#define HDST_CODEGEN_PASS_ARRANGED_ROWS_H

#include "codegen/ir/ir.h"

enum { HDST__RUN_WORDS = 8 };       // of a row that an open run has in registers, at most

// Whether a record adds to one row of the accumulator, which the leaf that the input is arranged by says alone, and to elements that constants name.
bool hdst__rows_are_arranged(const ir_func *func, uint32_t param);

#endif
