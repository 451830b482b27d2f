// SPDX-License-Identifier: Apache-2.0
// CPU form: what is printed of sums over the rows of a block of records, and of dots with them (codegen/pass/row_sums.h). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ROW_SUMS_H
#define HDST_CODEGEN_OPENCL_PRINT_ROW_SUMS_H

#include "codegen/opencl/kernel_form.h"
#include "codegen/pass/row_sums.h"

uint64_t hdst__row_sums_bytes(const hdst__row_sums *sums);              // private memory of a work-item
// Opens a loop over whole tiles of *each of the units from `done` on, or a block for the last ones, *each then. What is
// done behind it; the caller prints the body and closes it.
uint64_t hdst__row_units_open(hdst__printer *p, uint64_t done, uint64_t units, uint32_t *each);
void hdst__print_row_dots(hdst__printer *p, const hdst__row_dot *dot);
void hdst__print_row_sums_block(hdst__printer *p);                      // a block of records: dots, bodies, sums

#endif
