// SPDX-License-Identifier: Apache-2.0
// CPU form: exact sums over the rows of a block of records most of whose numbers are zeros (codegen/pass/row_sums.h). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_OPENCL_PRINT_SPARSE_ROWS_H
#define HDST_CODEGEN_OPENCL_PRINT_SPARSE_ROWS_H

#include "codegen/opencl/print_row_words.h"

bool hdst__rows_may_be_sparse(const hdst__row_tile *t);         // whether the section is worth being printed
uint64_t hdst__sparse_rows_bytes(void);                         // private memory of a work-item that has the section

// The sums of all units and elements: `rows`, `records` and `most` stand in front of it, no factor or number is other than finite.
void hdst__print_sparse_rows(hdst__printer *p, hdst__row_tile t);

#endif
