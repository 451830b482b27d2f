// SPDX-License-Identifier: Apache-2.0
// Texts of a device that cannot reach the host's memory (templates/text_apart.cl): how spans are read and written there, and the function's own texts, which
// lie in a buffer that goes to the device beside the records.
#ifndef HDST_CODEGEN_OPENCL_PRINT_TEXT_COPIES_H
#define HDST_CODEGEN_OPENCL_PRINT_TEXT_COPIES_H

#include "codegen/ir/text_value.h"
#include "codegen/opencl/printer.h"

// Names that stand for the copies among a kernel's arguments.
#define HDST__TEXT_COPY "text_copy_of(texts, text_bytes, text_host, text_constants, text_constants_host)"

#define HDST__TEXT_CONSTANTS "text_copy_of(text_constants, 0, text_constants_host, text_constants, text_constants_host)"      // the same for values

// Makes p->text_copies where the options ask for it and the function works on texts.
void hdst__text_copies_begin(hdst__printer *p, const ir_func *func);
// A text of the function's own; NULL is the empty one.
const char *hdst__text_copies_constant(hdst__printer *p, const hdst__text_value *text);
// What the kernel has of them: set when all is printed.
void hdst__text_copies_end(const hdst__printer *p, hdst__kernel *kernel);

#endif
