// SPDX-License-Identifier: Apache-2.0
// A function whose tables of accumulators hold a range of their rows alone: run once for each range, it comes to all rows.
#ifndef HDST_CODEGEN_LOWER_ROW_WINDOW_H
#define HDST_CODEGEN_LOWER_ROW_WINDOW_H

#include "codegen/ir/ir.h"

// The names, by address, of two broadcasts (uint64_t) that it has for each table of accumulators, in the order of these: the first row of the range, and how
// many rows there are in all.
extern const char hdst__window_first[], hdst__window_all[];

// A copy of `func` (as lowered, before fusing) in `arena`. What it adds to a row goes to the row's place in the range, where it is in it, and nowhere else;
// its checks, and the length of a table, are those of all rows. Accumulators of one row are as they were.
ir_func *hdst__row_window(hdst__arena *arena, const ir_func *func);

#endif
