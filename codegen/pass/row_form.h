// SPDX-License-Identifier: Apache-2.0
// Inside of the row form: what its passes share. Row form is scalar form (one record after another) whose loops over
// elements are marked for SIMD; ir.h says what it may hold besides.
#ifndef HDST_CODEGEN_PASS_ROW_FORM_H
#define HDST_CODEGEN_PASS_ROW_FORM_H

#include "codegen/pass/block_form.h"
#include "accum/tables.h"
#include "record/layout.h"

enum { HDST__ROW_ELEMENTS = 32 };       // an array of so many elements makes a record wide

// Whether nothing outside of the statement names the variable.
bool hdst__row_is_local(const ir_func *func, const ir_stmt *stmt, uint32_t var);
// Gives the scalars that the block's own statements set before they read them new names: for a copy that is to stand beside the original.
void hdst__row_fresh(ir_func *func, ir_block *block);
// The wide leaf of a function in row form whose elements lie side by side and are taken by SIMD, if every innermost loop over such leaves is; else NULL.
const hdst__leaf *hdst__row_leaf(const ir_func *func, const hdst__storage *input);

// Whether a function does hardly more with a record than add whole numbers to rows or elements that the record
// chooses, as histograms do: then nothing is gained by blocks.
bool hdst__row_only_scatters(const ir_func *func);

uint64_t hdst__bytes_read(const ir_func *func);         // of inputs, by one record (passes.c)

// loop_fission.c: takes a sum in order off the end of a short loop, if what is left is worth it; the loop that is to stand behind it. NULL: nothing.
ir_stmt *hdst__fission_ordered_sum(ir_func *func, ir_stmt *loop);
void hdst__pass_element_loops(ir_func *func, const hdst__tables *tables);        // loops over elements that SIMD can take
// those that add to rows or store them: for the block form over rows in memory
void hdst__pass_element_loops_of_rows(ir_func *func, const hdst__tables *tables);
void hdst__pass_row_unroll_and_jam(ir_func *func);                                     // uniform loops around loops over elements

#endif
