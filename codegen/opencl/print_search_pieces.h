// SPDX-License-Identifier: Apache-2.0
// GPU: functions whose work-groups look through texts together (codegen/pass/search_pieces.c, templates/search_gpu.cl), tile by tile of LANES records. What
// comes back is in the arena, and "" for other functions.
#ifndef HDST_CODEGEN_OPENCL_PRINT_SEARCH_PIECES_H
#define HDST_CODEGEN_OPENCL_PRINT_SEARCH_PIECES_H

#include "codegen/opencl/printer.h"

// Functions beside those of emit_gpu.cl and pieces_gpu.cl.
const char *hdst__search_pieces_scope(const hdst__printer *p);
// Local memory; sums[LANES] too, unless the kernel has it for its output.
const char *hdst__search_pieces_memory(const hdst__printer *p, bool has_sums);
// Sets `found_at` for the record of each lane, if there is one, of a tile from `base` on. All lanes come there.
const char *hdst__search_pieces_tile(hdst__printer *p);
// For people.
const char *hdst__search_pieces_why(const hdst__printer *p);

#endif
