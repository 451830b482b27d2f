// SPDX-License-Identifier: Apache-2.0
// Inside of the block form: what its passes share.
#ifndef HDST_CODEGEN_PASS_BLOCK_FORM_H
#define HDST_CODEGEN_PASS_BLOCK_FORM_H

#include "codegen/ir/ir.h"

// Which varying variables live across record loops (block_liveness.c). Run again after a pass that moved or merged record loops.
void hdst__block_mark_per_record(ir_func *func);
uint64_t hdst__block_bytes_per_record(const ir_func *func);        // of the variables that live across record loops
// Whether the body may read the variable before it sets it.
bool hdst__block_reads_first(const ir_block *body, uint32_t var);

// Puts in front of a record loop's body what it reads of the vectorised loop `from` in front of it
// (block_recompute.c). False, and nothing was changed, when that would be too much or cannot be.
bool hdst__block_recompute(ir_func *func, ir_block *body, const ir_block *from);

ir_stmt *hdst__block_records(ir_func *func, ir_block body, const char *scalar_why);     // scalar_why NULL: vectorised
uint32_t hdst__block_new_var(ir_func *func, const char *name, hdst__kind kind, bool varying);

// Where a loop ends that takes so many turns at a time: a whole number of groups from `lo`; `lo` when there is none (unroll_and_jam.c).
ir_expr *hdst__jam_end(ir_func *func, const ir_stmt *loop, uint64_t turns);
// Whether the step over so many turns is a number of the counter's kind.
bool hdst__jam_fits(const ir_stmt *loop, uint64_t turns);

ir_expr *hdst__accum_identity(ir_func *func, const ir_stmt *accum);        // what the accumulator does not notice (if_conversion.c)

// A part of the function that only the records of one mask go through (predication_liveness.c).
typedef struct hdst__mask_region {
    const struct hdst__mask_region *outer;
    const ir_block *around;     // where it stands, at position `at`
    size_t at;
    const ir_block *inside;
    bool in_loop;               // it may be entered more than once for a record
    hdst__arena *arena;
    uint32_t *read;             // variables that are read inside, sorted, each as often as it is read
    size_t reads, capacity;     // of `read`
    size_t var_count;           // when it was entered
} hdst__mask_region;

hdst__mask_region *hdst__mask_region_enter(ir_func *func, const hdst__mask_region *outer, const ir_block *around,
    size_t at, const ir_block *inside, bool in_loop);
// Whether a variable that is set in the regions must keep its value in the records that the mask leaves out. all_reads: of it in the whole function.
bool hdst__mask_keeps(const hdst__mask_region *innermost, uint32_t var, size_t all_reads);

void hdst__pass_integer_narrowing(ir_func *func);
void hdst__pass_predication(ir_func *func);
void hdst__pass_vector_width(ir_func *func);
void hdst__pass_loop_invariants(ir_func *func);
void hdst__pass_plain_minima(ir_func *func);

#endif
