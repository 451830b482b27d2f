// SPDX-License-Identifier: Apache-2.0
// GPU form: tiles of sums that are written as loops (codegen/pass/ordered_dots.h). One thread to a printer.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ORDERED_TILES_H
#define HDST_CODEGEN_OPENCL_PRINT_ORDERED_TILES_H

#include "codegen/opencl/printer.h"

void hdst__print_ordered_memory(hdst__printer *p, const ir_func *func);        // local memory for the steps of all of them
void hdst__print_ordered_tile(hdst__printer *p, const ir_stmt *loop, const char *memory);      // memory: of the array in tiles that it sets

#endif
