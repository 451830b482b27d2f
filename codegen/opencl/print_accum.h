// SPDX-License-Identifier: Apache-2.0
// Additions to accumulators, one by one. What is printed goes to p->out, texts are in the printer's arena.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ACCUM_H
#define HDST_CODEGEN_OPENCL_PRINT_ACCUM_H

#include "codegen/opencl/printer.h"

void hdst__print_accum(hdst__printer *p, const ir_stmt *stmt);          // IR_ACCUM
void hdst__print_accum_words(hdst__printer *p, const ir_stmt *stmt);    // IR_ACCUM_WORDS
void hdst__print_accum_wide(hdst__printer *p, const ir_stmt *stmt);     // IR_ACCUM_SUPERACCUMULATOR
size_t hdst__print_accum_row(hdst__printer *p, ir_stmt *const *stmts, size_t count);       // hdst__print_run: IR_ACCUM_WORDS of one row

// By the cell's operation, to a word that is nobody else's.
void hdst__print_word_into(hdst__printer *p, const hdst__cell *cell, const char *place, const char *value);
// To where the parameter's words are kept.
void hdst__print_add_word(hdst__printer *p, const ir_stmt *stmt, uint32_t word, const char *value);
// An addend of a cell that is no float sum, as a 64-bit word.
const char *hdst__cell_word_text(hdst__printer *p, const hdst__cell *cell, const ir_expr *value);
const char *hdst__device_place(hdst__printer *p, const ir_stmt *stmt);  // the cell in the device table

#endif
