// SPDX-License-Identifier: Apache-2.0
// CPU form: sums over the rows of a block of records, and of dots with them (codegen/pass/row_sums.h). What is printed goes
// to p->out. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ROW_SUMS_H
#define HDST_CODEGEN_OPENCL_PRINT_ROW_SUMS_H

#include "codegen/opencl/printer.h"
#include "codegen/pass/row_sums.h"

uint64_t hdst__row_sums_bytes(const hdst__row_sums *sums);      // private memory of a work-item
void hdst__print_row_sums_block(hdst__printer *p);              // a block of records: dots, bodies, sums (p->row_sums)

#endif
