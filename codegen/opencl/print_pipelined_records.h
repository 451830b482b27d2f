// SPDX-License-Identifier: Apache-2.0
// CPU form: a record loop in which a family of sums is added for the block before (codegen/pass/software_pipelining.c).
#ifndef HDST_CODEGEN_OPENCL_PRINT_PIPELINED_RECORDS_H
#define HDST_CODEGEN_OPENCL_PRINT_PIPELINED_RECORDS_H

#include "codegen/opencl/printer.h"

// In front of the loop as it is for a block that has none before it. 0: that loop is still to be printed.
size_t hdst__print_pipelined_records(hdst__printer *p, ir_stmt *const *stmts, size_t count);
bool hdst__is_pipelined_factor(const hdst__printer *p, uint32_t var);       // its arrays are the family's
// The value of a record's field or of a broadcast as a vector of p->lanes; NULL: no vectors are printed.
const char *hdst__pipelined_read_text(hdst__printer *p, const ir_expr *e);

#endif
