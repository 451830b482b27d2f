// SPDX-License-Identifier: Apache-2.0
// The form for GPUs: a lane takes one record or several, accumulators and broadcasts lie in local memory where they
// have room. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_GPU_FORM_H
#define HDST_CODEGEN_PASS_GPU_FORM_H

#include "codegen/pass/accumulator_placement.h"

typedef struct hdst__gpu_limits {       // what the form goes by: the device, and what was asked for
    hdst__place_limits place;
    ir_shape asked;                     // what is not 0 is taken where it can be
    uint32_t most_group;                // work-items of a work-group; 0: any number
    bool no_unroll_hints;               // of a driver that is not to be trusted with them
    bool searches;                      // work-groups may look through texts together (search_pieces.c)
} hdst__gpu_limits;

// A body whose output comes from a loop that the lanes of a work-group can share (loop_flattening.c).
typedef struct hdst__flat_loop {
    ir_func *head, *turn;               // what leads to the loop, of a record; one turn of one record
    ir_func *count_head, *count_turn;   // the same, where the output is only counted
    uint32_t turns, at;                 // variables (u64): of heads, how many turns there are; of turns, which it is, given to them
} hdst__flat_loop;

typedef struct hdst__gpu_forms {        // of one function; they share shape, tables and placements
    ir_func *single;                    // record by record: the end of a slice, and records of which one failed
    ir_func *spans;                     // what a lane takes at once; single itself of functions that emit
    ir_func *loops;                     // what the work-group makes together behind either; NULL: nothing
    ir_func *owned;                     // sums that work-items own, made behind it too (owned_sums.h); NULL: none
    ir_func *count;                     // what only counts the output; NULL: there is none
    const hdst__flat_loop *flat;        // single and count with the turns of their loop by themselves; NULL: it is no such loop
    hdst__tables *tables;               // what they go by
} hdst__gpu_forms;

// `func`: scalar passes done; it is placed. `tables`: of its accumulators. NULL, or what the verifier says.
const char *hdst__passes_gpu(ir_func *func, const hdst__tables *tables, const hdst__gpu_limits *limits, hdst__gpu_forms *forms);

// --- Within the form ---

bool hdst__gpu_is_wide(const ir_func *func);        // so much of a record is read that its loops keep a lane busy

// gpu_shape.c: sets func->shape, which all forms copied from it share.
void hdst__pass_gpu_shape(ir_func *func, const ir_shape *asked, uint32_t most_group);
// broadcast_placement.c: of a function whose accumulators are placed; `loops` as above.
void hdst__pass_broadcast_placement(ir_func *func, const ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits);
// joint_additions.c: of a body that is placed; then, of all of them, how far a lane's words are filled. `rows`: by param, as advice.
void hdst__pass_joint_additions(ir_func *func);
void hdst__pass_lane_words(const hdst__gpu_forms *forms, const uint64_t *rows);
// loop_flattening.c: NULL: the function has no such loop.
hdst__flat_loop *hdst__pass_loop_flattening(const ir_func *func);
// unroll_hints.c: `asked`: turns of all short loops; 0: by rule.
void hdst__pass_unroll_hints(ir_func *func, uint32_t asked);

#endif
