// SPDX-License-Identifier: Apache-2.0
// CPU form: what a kernel does otherwise in a batch, a run of so few records that one strip takes them as one block (accum/first_level.h).
#ifndef HDST_CODEGEN_OPENCL_PRINT_BATCH_H
#define HDST_CODEGEN_OPENCL_PRINT_BATCH_H

#include "codegen/opencl/print_row_words.h"

bool hdst__takes_batches(const hdst__printer *p);               // some leaf may be rounded (hdst__cell.batch_sum), so HDST__ARG_BATCH is an argument
void hdst__print_batch_begin(hdst__printer *p);                 // behind the tables' bases: nobody has cleared the first-level words
void hdst__print_batch_reset(hdst__printer *p);                 // a strip's words, those that may be rounded left out, and `else`
void hdst__print_batch_end(hdst__printer *p);                   // behind the strip: what it leaves
// Around the flush of a leaf's words.
const char *hdst__batch_flush_text(hdst__printer *p, const hdst__cell *cell);      // a condition in front of them, or ""
// In the section of a sum over a block, where `rounds` says whether it is rounded.
void hdst__print_batch_words(hdst__printer *p, const hdst__row_tile *t);           // if it is not: words, cleared
// The sums of a tile, `all`, of `eights` times eight elements for each unit, to the leaf's values, and `else`.
void hdst__print_batch_rounded(hdst__printer *p, const hdst__row_tile *t, uint32_t eights);
void hdst__print_batch_note(hdst__printer *p, const hdst__row_tile *t);            // that it was

#endif
