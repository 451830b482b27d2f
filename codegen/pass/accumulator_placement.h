// SPDX-License-Identifier: Apache-2.0
// Decides where a form keeps its accumulators while it runs (codegen/ir/placement.h): the one place for both device
// classes; what it decides stands in the IR and printers read it.
// Sums are exact, so no choice changes a result. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ACCUMULATOR_PLACEMENT_H
#define HDST_CODEGEN_PASS_ACCUMULATOR_PLACEMENT_H

#include "accum/tables.h"
#include "codegen/ir/ir.h"
#include "codegen/pass/product_tiles.h"

enum { HDST__LOCAL_ALIGN = 16 };        // bytes: what lies one after another in local memory begins at a multiple

typedef struct hdst__place_limits {     // what the choice goes by: the device, and what was asked for
    uint64_t local_bytes;               // GPU: local memory of a work-group
    const uint64_t *rows;               // by param: rows of accumulators, as advice; NULL: not known
    hdst__product_limits product;       // GPU
    // GPU: tables with many rows may be words in fixed point (accum/tables.h), of which an addend has so many bits at most; 0: they may not
    uint32_t fixed_point_bits;
    bool may_take_tuples;                      // GPU: records are many enough for a table that additions may go by way of tuples
    bool fast_sums;                     // float sums may be plain
    bool no_blocks;                     // strips and work-groups have no tables of their own
    bool may_turn;                      // CPU: a strip may have two tables, which records take in turn
    bool first_level;                         // CPU: large tables may have first-level accumulators
    bool writes_rows;                   // kernels may write rows of the result (hdst__accum.writes_rows), and have doubles to round them
} hdst__place_limits;

// CPU devices. `form`: the block or row form, which is placed; `scalar`: what it was made of. Says in `tables`
// whether there are first-level accumulators and which sums of `form` are fast.
void hdst__pass_accumulator_placement_cpu(ir_func *form, const ir_func *scalar, hdst__tables *tables, const hdst__place_limits *limits);
// `tail`, of the records that no block took, as the placed block form: additions are calls where that makes less code.
void hdst__place_tail(ir_func *tail, const ir_func *block, const hdst__tables *tables);

// GPUs, in this order. `func`: scalar form with a shape, which is placed. Returns the tables that it goes by: with more words for
// sums that lanes have in registers. Of `tables` when nothing is placed. `owned`: sums that work-items own (owned_sums.h); NULL: none.
const hdst__tables *hdst__pass_accumulator_placement_gpu(ir_func *func, const ir_func *owned, const hdst__tables *tables, const hdst__place_limits *limits);
// Takes loops out of the placed `func` that a work-group makes together, if there are any and what they carry over
// has room, or another kernel makes them (product_tiles.h); then a lane takes one record. NULL: none, and the function is as it was.
ir_func *hdst__pass_accumulator_placement_loops(ir_func *func, const hdst__tables *tables, const hdst__place_limits *limits);
// Tables with many rows become words in fixed point, perhaps by way of tuples. The shape's records may become fewer.
// `loops`: what hdst__pass_accumulator_placement_loops gave.
void hdst__pass_accumulator_placement_fixed_point(ir_func *func, const ir_func *loops, hdst__tables *tables,
    const hdst__place_limits *limits);

// Local memory of a work-group: a key of each lane (0: no accumulator without rows has keys of 64 bits); one copy of all tables that are there or merge
// through it; what the work-group's loops need.
uint64_t hdst__place_key_bytes(const ir_func *func, const hdst__tables *tables);
uint64_t hdst__place_copy_bytes(const ir_func *func, const hdst__tables *tables, const uint64_t *rows);
uint64_t hdst__place_loop_bytes(const ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits);

bool hdst__placed_anywhere(const ir_func *func, ir_place place);        // some accumulator is there

// --- Within the pass ---

// cooperative_placement.c: homes of the additions of a work-group's loops.
void hdst__place_homes(ir_func *loops, const hdst__tables *tables);
bool hdst__place_leaves_sums(const ir_func *loops);     // few rows: a work-group adds each sum to a table when it has gone through its records
bool hdst__place_is_carried(const ir_func *loops, uint32_t var);        // comes from the lane's record
uint64_t hdst__place_carried_bytes(const ir_func *loops);               // of local memory, for each record
// Whether all records have the same value of an expression of the loops: it follows from the variables that count loops around it (`counts`, by variable).
bool hdst__place_is_shared(const ir_func *loops, const bool *counts, const ir_expr *expr);

// tuple_placement.c: false: the function or the sizes do not suit, and nothing was changed.
bool hdst__place_tuples(ir_func *func, const hdst__accum *accum, const hdst__place_limits *limits);
const ir_stmt *hdst__tuple_addition(const ir_func *func, uint32_t leaf);        // of a function whose additions go by way of tuples: the one to that leaf
const ir_expr *hdst__tuple_addend(const ir_stmt *stmt);                 // of integers: without the conversions that change no value, as a tuple has it
uint32_t hdst__tuple_bytes(const ir_tuples *tuples);

#endif
