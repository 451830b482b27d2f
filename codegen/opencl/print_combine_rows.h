// SPDX-License-Identifier: Apache-2.0
// CPU: rows of words in which records meet before they leave a core (accum/combining.h, templates/combine_rows_cpu.cl).
#ifndef HDST_CODEGEN_OPENCL_PRINT_COMBINE_ROWS_H
#define HDST_CODEGEN_OPENCL_PRINT_COMBINE_ROWS_H

#include "accum/combining.h"
#include "codegen/opencl/printer.h"

// What the template leaves open; row_bytes: from one row to the next.
void hdst__write_combined_rows_macros(const hdst__combining *combining, uint64_t row_bytes, hdst__writer *out);

#endif
