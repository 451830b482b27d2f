// SPDX-License-Identifier: Apache-2.0
// CPU form: dots of the rows of a block of records with rows of a broadcast (codegen/pass/row_sums.h).
#ifndef HDST_CODEGEN_OPENCL_PRINT_ROW_DOTS_H
#define HDST_CODEGEN_OPENCL_PRINT_ROW_DOTS_H

#include "codegen/opencl/printer.h"
#include "codegen/pass/row_sums.h"

void hdst__print_row_dots(hdst__printer *p, const hdst__row_dot *dot);
// Opens a loop over whole tiles of *each of the units from `done` on, or a block for the last ones, *each then. What is
// done behind it; the caller prints the body and closes it.
uint64_t hdst__row_units_open(hdst__printer *p, uint64_t done, uint64_t units, uint32_t *each);

#endif
