// SPDX-License-Identifier: Apache-2.0
// GPU: functions whose lanes take pieces of texts (codegen/pass/token_pieces.c, templates/pieces_gpu.cl): what stands in place of a record for each lane. All
// texts are in the arena.
#ifndef HDST_CODEGEN_OPENCL_PRINT_TOKEN_PIECES_H
#define HDST_CODEGEN_OPENCL_PRINT_TOKEN_PIECES_H

#include "codegen/opencl/printer.h"

// Functions beside those of emit_gpu.cl; "" where lanes take whole records.
const char *hdst__token_pieces_scope(const hdst__printer *p);
// Local memory of a kernel that gives out pieces.
const char *hdst__token_pieces_memory(const hdst__printer *p);
// A statement that sets `length` to the bytes of the text of record `i`, if there is such a record.
const char *hdst__token_pieces_length(hdst__printer *p);
// A tile of LANES records from `base` on, with `count_record`, which adds to `place` what a piece emits: that of a lane's pieces together.
const char *hdst__token_pieces_count(hdst__printer *p, const char *count_record);
// The same, with `record`, which writes from `place` on: pieces one behind the other.
const char *hdst__token_pieces_records(hdst__printer *p, const char *count_record, const char *record);
// For people; "" where lanes take whole records.
const char *hdst__token_pieces_why(const hdst__printer *p);

#endif
