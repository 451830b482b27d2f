// SPDX-License-Identifier: Apache-2.0
// Writing outputs. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_OUTPUT_H
#define HDST_CODEGEN_OPENCL_PRINT_OUTPUT_H

#include "codegen/opencl/printer.h"

void hdst__print_output_macros(hdst__printer *p);       // file scope
void hdst__print_block_output(hdst__printer *p);        // CPU form, start of a block: pointers to where its output begins
void hdst__print_store(hdst__printer *p, const ir_stmt *stmt);          // IR_STORE
// GPU form (hdst__print_run): a record that fills a vector is stored at once.
size_t hdst__print_vector_stores(hdst__printer *p, ir_stmt *const *stmts, size_t count);

// The leaf's element at the address `at` becomes what the lowest bytes of `bits` say, of a record in device memory.
void hdst__print_put(hdst__printer *p, const hdst__record *record, const hdst__leaf *leaf, const char *at, const char *bits);

#endif
