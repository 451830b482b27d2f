// SPDX-License-Identifier: Apache-2.0
// Statements of the IR as OpenCL C. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_STMT_H
#define HDST_CODEGEN_OPENCL_PRINT_STMT_H

#include "codegen/opencl/printer.h"

void hdst__print_function(hdst__printer *p);            // declarations and the body of p->func, for one record or one block
// The same of `func`, the printer's from now on, between `head`, which opens a block, and its end.
void hdst__print_function_in(hdst__printer *p, const ir_func *func, const char *head);
// Statements by themselves; variables that are known are declared already.
void hdst__print_statements(hdst__printer *p, ir_block *body, const bool *known);

#endif
