// SPDX-License-Identifier: Apache-2.0
// GPU form, array of structs: records of few aligned words are loaded as vectors.
#ifndef HDST_CODEGEN_OPENCL_PRINT_WORDS_H
#define HDST_CODEGEN_OPENCL_PRINT_WORDS_H

#include "codegen/opencl/printer.h"

// Fills p->word_count: 32-bit words of the vectors that a record of the param is loaded in; 0: leaf by leaf.
void hdst__plan_words(hdst__printer *p);
void hdst__print_words(hdst__printer *p);               // loads; start of the body
const char *hdst__word_text(hdst__printer *p, const ir_expr *field);    // the field out of the vectors; NULL: not there

#endif
