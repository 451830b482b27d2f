// SPDX-License-Identifier: Apache-2.0
// Reading a table with any number of rows of a key in IR: where the rows with a key lie, which stand one behind another.
#ifndef HDST_CODEGEN_LOWER_ROWS_OF_KEY_H
#define HDST_CODEGEN_LOWER_ROWS_OF_KEY_H

#include "codegen/ir/ir.h"

// Adds the two parameters, called "NAME" and "NAME starts", one behind the other. The first one's number.
uint32_t hdst__key_rows_add_params(ir_func *func, const char *name, const hdst__record *row);

typedef struct hdst__key_rows { uint32_t first, end; } hdst__key_rows;     // variables (u64): the number of the first row, and of the one behind the last
// Statements that find the rows with a key, a u64, of the table with this first parameter.
hdst__key_rows hdst__key_rows_find(ir_func *func, ir_block *block, uint32_t rows, ir_expr *key);
ir_expr *hdst__key_rows_count(ir_func *func, const hdst__key_rows *rows);  // u64

#endif
