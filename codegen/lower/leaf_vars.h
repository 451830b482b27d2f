// SPDX-License-Identifier: Apache-2.0
// Records in variables, one for each leaf: for functions of two records that are put into a loop over many.
#ifndef HDST_CODEGEN_LOWER_LEAF_VARS_H
#define HDST_CODEGEN_LOWER_LEAF_VARS_H

#include "codegen/ir/ir.h"

// Adds a variable for each leaf of the record; returns the first.
uint32_t hdst__leaf_vars_add(ir_func *func, const hdst__record *record, const char *name);
// An element of an array variable, or the scalar itself. `element` NULL: the first.
ir_expr *hdst__leaf_var_read(ir_func *func, uint32_t var, ir_expr *element);
// Makes the statement one that sets the variable, or this element of it.
void hdst__leaf_var_set(ir_func *func, ir_stmt *s, uint32_t var, ir_expr *element);
// The block that statements about a leaf go to: the body of a loop over its elements, or `block` itself; *element: which one, NULL without a loop.
ir_block *hdst__over_elements(ir_func *func, ir_block *block, uint64_t elements, ir_expr **element);

#endif
