// SPDX-License-Identifier: Apache-2.0
// The passes of the compiler, and the order that they run in for each form (passes.c).
#ifndef HDST_CODEGEN_PASS_PASSES_H
#define HDST_CODEGEN_PASS_PASSES_H

#include "codegen/ir/ir.h"
#include "record/layout.h"
#include "accum/tables.h"

// Passes, each in a file of its own with its purpose, a before and an after. The order is hdst__passes_scalar, then those of a form: cpu_form.h, gpu_form.h.
void hdst__pass_structured_exits(ir_func *func);               // early returns become structure
void hdst__pass_constant_folding(ir_func *func);                // constants, algebra that is exact, dead branches; folds with the interpreter's own arithmetic
void hdst__pass_fma_placement(ir_func *func);                 // x*y + z within one expression, leftmost product first
void hdst__pass_bounds_checks(ir_func *func);              // drops checks that cannot fail
void hdst__pass_loop_checks(ir_func *func);         // checks that are the same in every turn, before the loop
void hdst__pass_unchecked(ir_func *func);           // drops them all, on request; of a function as lowered
uint32_t hdst__pass_skip_failed(ir_func *func);            // records that fail take no part; returns the new accumulator that counts them
void hdst__pass_skip_failed_fold(ir_func *func, const hdst__record *counted, bool next_is_counted);   // a reduce: see hdst__passes_skip_fold
void hdst__pass_array_contraction(ir_func *func);            // local arrays that are filled, then read, become expressions
void hdst__pass_dead_stores(ir_func *func);         // what local arrays are filled with before a loop fills all of them goes
void hdst__pass_loop_unrolling(ir_func *func);              // short constant loops disappear
void hdst__pass_loop_unrolling_of_arrays(ir_func *func);       // so do longer ones that alone keep arrays from becoming variables
void hdst__pass_loop_unrolling_of_sums(ir_func *func, const bool *sums);    // and constant loops that add to these accumulators (by param), and no others
void hdst__pass_scalar_replacement(ir_func *func);              // local arrays that only constants index become variables
void hdst__pass_constant_propagation(ir_func *func);             // constants take the place of variables that were set to them
void hdst__pass_canonical_nans(ir_func *func);                // stores give one NaN
void hdst__pass_dead_code(ir_func *func);              // dead variables and stores; marks the leaves that are read
void hdst__pass_uniformity(ir_func *func);             // marks varying variables and expressions
void hdst__pass_if_conversion(ir_func *func);          // branches of plain assignments become selects
void hdst__pass_emit_counts_dense(ir_func *func);               // an emit that every record meets once is no emit
// block form: the work of a function that emits is done before its records are stored one by one
void hdst__pass_emit_counts_settle(ir_func *func);
void hdst__pass_emit_counts_place(ir_func *func);               // only records that come out are stored
// block form: conditional additions become additions of the identity, conditional emits say their condition
void hdst__pass_if_conversion_of_effects(ir_func *func);
void hdst__pass_block_form(ir_func *func, uint32_t block);   // interchange: records innermost, uniform loops outside
void hdst__pass_unroll_and_jam(ir_func *func);                 // uniform loops around one record loop: unroll and jam
// Decides where records go of which the data says how many; in_strips: work-items write one record behind another (CPU devices).
void hdst__pass_output_way(ir_func *func, bool in_strips);
void hdst__pass_lookup_batches(ir_func *func);                // CPU: loops that look up keys ask for several rows before they read the first
void hdst__pass_lane_reductions(ir_func *func);               // dot and sum: lanes side by side, for forms that handle one record at a time
// GPU form: additions to wide accumulators (by param) that stand in loops with other work get loops of their own.
void hdst__pass_loop_distribution(ir_func *func, const bool *wide);
// GPU form: loops over the elements of wide accumulators (by param), which the lanes of a work-group share; NULL: none.
ir_func *hdst__pass_cooperative_loops(ir_func *func, const bool *wide);
void hdst__pass_thread_coarsening(ir_func *func, uint32_t records);  // GPU form: a lane takes several records, which share what is uniform
void hdst__pass_block_accumulation(ir_func *func, const hdst__tables *tables);  // block form: exact sums as vector conversion, test, scatter

// Everything that is right for every target; after it the interpreter and the GPU printer can read the function. Verified after each pass in debug builds;
// returns NULL, or what the verifier said (an internal error).
const char *hdst__passes_scalar(ir_func *func);
// Of a function that went through hdst__passes_scalar: the same, but a record that fails a check takes no part and is
// counted in the one-row accumulator *skipped (uint64_t), which is the last one. Parameters keep their order; an
// output moves one further.
const char *hdst__passes_skip(ir_func *func, uint32_t *skipped);
// Of a reduce of two records that went through hdst__passes_scalar: a second record that fails a check leaves the
// first as it is. The first and the output become `counted`, on the levels of a fold above the lowest
// (next_is_counted) the second too: hdst__skip_fold_record of the reduce's record. Its last leaf is the number of
// records taken beside the one that a run begins with: 0 there, which a fold sees to.
const char *hdst__passes_skip_fold(ir_func *func, const hdst__record *counted, bool next_is_counted);
// The record with a leaf of uint64_t added, which lies behind the others: they have the same places in the C struct. NULL, with *why, when it is too large.
const hdst__record *hdst__skip_fold_record(hdst__arena *arena, const hdst__record *record, const char **why);
// Turns a function that emits (scalar passes done) into one that only counts what it would emit.
const char *hdst__passes_count(ir_func *func);
const char *hdst__passes_block(ir_func *func, const hdst__tables *tables);
const char *hdst__passes_row(ir_func *func, const hdst__tables *tables);
// The form that suits the function and the input's layout: block form, or row form for wide records (func->block is 0 then).
const char *hdst__passes_blocks_or_rows(ir_func *func, const hdst__tables *tables, const hdst__storage *input);

// CPU: room can be left for so many output records of each record; a function that may emit more has its records counted first.
// What a function emits whose effects are all it is wanted for, in front of hdst__passes_count: see emit_counts.c. False: no loop says how many turns it takes.
// *of_numbers: the one that does is over numbers.
bool hdst__pass_emit_counts_most(ir_func *func, bool *of_numbers);
void hdst__drop_effects(ir_func *func);        // it only counts from then on
enum { HDST__EMIT_BOUND = 4 };

#endif
