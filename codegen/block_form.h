// SPDX-License-Identifier: Apache-2.0
// Inside of the block form: what its passes share.
#ifndef HDST_CODEGEN_BLOCK_FORM_H
#define HDST_CODEGEN_BLOCK_FORM_H

#include "codegen/kernel.h"

// Which varying variables live across record loops (block_liveness.c). Run again after a pass that moved or merged record loops.
void hdst__block_mark_per_record(ir_func *func);
uint64_t hdst__block_bytes_per_record(const ir_func *func);        // of the variables that live across record loops
// Whether the body may read the variable before it sets it.
bool hdst__block_reads_first(const ir_block *body, uint32_t var);

ir_stmt *hdst__block_records(ir_func *func, ir_block body, const char *scalar_why);     // scalar_why NULL: vectorised
uint32_t hdst__block_new_var(ir_func *func, const char *name, hdst__kind kind, bool varying);

// Where a loop ends that takes so many turns at a time: a whole number of groups from `lo`; `lo` when there is none (pass_jam.c).
ir_expr *hdst__jam_end(ir_func *func, const ir_stmt *loop, uint64_t turns);

void hdst__pass_hoist(ir_func *func);

#endif
