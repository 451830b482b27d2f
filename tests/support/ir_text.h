// SPDX-License-Identifier: Apache-2.0
// Reads the text that hdst__ir_dump writes (`hdst kernel show --ir`), so that a pass can be tested on IR alone: text in, pass, text out.
//
// What the text leaves out is made up: records are as tightly laid out as a C compiler would do it with their leaves
// as fields, spans point nowhere, expressions vary as their variables do.
#ifndef HDST_TESTS_IR_TEXT_H
#define HDST_TESTS_IR_TEXT_H

#include "codegen/ir/ir.h"

// NULL, with *wrong set to the line and what is wrong there, when the text is none. All is in the arena. The function
// need not be well formed: ask the verifier.
ir_func *ir_text_read(hdst__arena *arena, const char *text, const char **wrong);

// The function as text, in the arena.
const char *ir_text_of(hdst__arena *arena, const ir_func *func);

#endif
