// SPDX-License-Identifier: Apache-2.0
// Reading inputs and broadcasts. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_INPUT_H
#define HDST_CODEGEN_OPENCL_PRINT_INPUT_H

#include "codegen/opencl/printer.h"

void hdst__print_inputs(hdst__printer *p);              // macros; file scope
void hdst__print_broadcasts(hdst__printer *p);          // macros; file scope
void hdst__print_input_bases(hdst__printer *p);         // pointers to the slice's first record: start of the kernel
// Bytes from element 0 to element (e) in the C struct, as text in the arena: " + (e) * 4".
const char *hdst__element_offset(hdst__arena *arena, const hdst__leaf *leaf);

#endif
