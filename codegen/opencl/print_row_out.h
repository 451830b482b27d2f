// SPDX-License-Identifier: Apache-2.0
// Rows of an accumulator that go to the result as soon as they are complete (ir_placement.writes_rows), and what is left of others to the overflow table.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ROW_OUT_H
#define HDST_CODEGEN_OPENCL_PRINT_ROW_OUT_H

#include "codegen/opencl/printer.h"

// In a function that has the words of row `row` in NAMEOwn: the row is stored, rounded; the words are added to the row's overflow cells, and are zero then.
void hdst__print_row_out(hdst__printer *p, const hdst__accum_plan *plan);
void hdst__print_row_apart(hdst__printer *p, const hdst__accum_plan *plan);
// In one that has what the row comes to in 64 bits for each word, `come`: the row is stored.
void hdst__print_row_whole(hdst__printer *p, const hdst__accum_plan *plan);
// The overflow cell of what an addition goes to.
const char *hdst__overflow_cell_text(hdst__printer *p, const ir_stmt *stmt);
// When all records were seen: the row that `cell` at `place` is of, stored.
void hdst__print_rows_apart(hdst__printer *p, const hdst__accum_plan *plan);

#endif
