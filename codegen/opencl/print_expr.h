// SPDX-License-Identifier: Apache-2.0
// Expressions of the IR as OpenCL C. Texts are in the printer's arena.
#ifndef HDST_CODEGEN_OPENCL_PRINT_EXPR_H
#define HDST_CODEGEN_OPENCL_PRINT_EXPR_H

#include "codegen/opencl/printer.h"

// What an expression's text stands in: it comes in parentheses where it would fall apart there, so nobody who asks for
// it puts any around it.
typedef enum hdst__precedence {
    HDST__WHOLE,                // between brackets, parentheses or commas, behind an assignment: nothing is beside it.
                                // Macros of templates and printers put their arguments in parentheses
    HDST__OPERAND,              // beside an operator between two operands
    HDST__PRIMARY,              // behind a cast or another prefix
} hdst__precedence;

const char *hdst__expr_text(hdst__printer *p, const ir_expr *expr, hdst__precedence where);
const char *hdst__index_text(hdst__printer *p, const ir_expr *index, hdst__precedence where);   // a row or an element; NULL is 0
const char *hdst__record_text(hdst__printer *p, uint32_t record);       // the slice index of a record of the lane (or block)
// An addend of a sum, in the type of the sum's arithmetic.
const char *hdst__addend_text(hdst__printer *p, uint32_t param, uint32_t leaf, const ir_expr *value);

#endif
