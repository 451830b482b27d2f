// SPDX-License-Identifier: Apache-2.0
// Where a form of a function keeps its accumulators while it runs, and how an addend gets there.
// accumulator_placement.c decides it for both device classes; printers read it. Nothing of it changes a result: sums
// are exact, so their addends may go any way. Part of the IR (ir_param.placement, ir_func.tables); a function without
// it has not been placed.
#ifndef HDST_CODEGEN_IR_PLACEMENT_H
#define HDST_CODEGEN_IR_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ir_place {
    IR_PLACE_GLOBAL,            // the device's accumulators, with atomics
    IR_PLACE_FIXED_POINT,       // GPU: the device's accumulators as words in fixed point, with atomics; what does not fit goes to an overflow table
    IR_PLACE_REGISTERS,         // one row with constant elements: private variables, one per word
    IR_PLACE_RUN,               // CPU: as in registers, those of the row to which the last records added; another row ends its run (arranged_rows.h)
    IR_PLACE_STRIP,             // CPU: privatised, a table for each strip of records
    IR_PLACE_LOCAL,             // GPU: privatised, copies side by side in local memory
    IR_PLACE_GROUP,             // GPU: privatised, in device memory, a table for each work-group or for several; another kernel merges them
    IR_PLACES
} ir_place;

// What an addition of scalar or row form is made of.
typedef enum ir_way {
    IR_WAY_WORD,                // no float sum: one operation on a word
    IR_WAY_SUPERACCUMULATOR,                // to the device's superaccumulator
    IR_WAY_TESTED,              // in fixed point if it fits, else to the superaccumulator
    IR_WAY_CALLED,              // the same, by a call: of what is rarely run
    IR_WAY_JOINT,               // GPU: in fixed point, as 0 if it does not fit for sure; additions that stand together share the test behind them
    IR_WAY_LEVELS,              // GPU, registers: pre-rounded in three levels of floats (accum/levels_lane.cl), then one word with more bits below
    IR_WAY_PAIR,                // GPU, registers: two running sums of doubles (accum/levels_lane_double.cl), which are the group's words when it merges
    IR_WAY_OWNED,               // GPU, local memory: two running sums of doubles, of one work-item for all records of the group (owned_sums.h)
    IR_WAYS
} ir_way;

typedef struct ir_leaf_placement {
    ir_way way;
    bool levels[2];             // CPU: blocks of floats, of doubles are added in pre-rounded levels (IR_ACCUM_BLOCK)
    bool fast;                  // a float sum that is rounded at each addition, in any order: asked for, and this form has it
    uint32_t slot, slot_words;  // GPU: first 32-bit word of a row in local memory; so many for each word (0: straight to the device's accumulator)
    uint32_t value, values, sum;    // of (key, value) tuples: the first and the number of its 32-bit values, its first 32-bit word in a radix partition's table
} ir_leaf_placement;

typedef struct ir_placement {   // of an accumulator; on GPUs of a broadcast too: in local memory, or global
    ir_place place;
    bool runs;                  // IR_PLACE_FIXED_POINT: as IR_PLACE_RUN, of a lane's records (ir_tables.neighbours), before they go to the device's words
    uint32_t starts;            // IR_PLACE_RUN: the parameter that says where the records of each row begin (ir_param.rows_from); 0: the records say it
    bool writes_rows;           // with `starts`: a row whose records are all in one strip goes to the result, rounded; what is left to overflow cells
    bool narrow;                // IR_PLACE_STRIP: the only word of a row has 32 bits, as its kind does: half as much of a large table is in caches
    uint32_t slots;             // 32-bit words of a row in local memory, 0: none. In registers: while the work-group merges them
    ir_leaf_placement *leaf;
} ir_placement;

// Additions by way of (key, value) tuples, which radix partitioning puts in order; of the only accumulator.
typedef struct ir_tuples {
    uint32_t tile_rows;         // tuples of a lane that leave local memory together
    uint32_t key_bits;          // rows of a partition, whose table is in local memory: 2^key_bits
    uint32_t low_bits;          // of the second round; 0: one round does
    uint32_t partitions_high;        // partitions of the first round
    uint32_t values, sums;      // 32-bit values of a tuple; 32-bit words for each row of a partition's table
} ir_tuples;

typedef struct ir_tables {      // what the tables of all accumulators have in common
    uint32_t copies;            // IR_PLACE_LOCAL: side by side
    uint32_t shared;            // IR_PLACE_GROUP: tables for all work-groups; 0: each has its own
    uint32_t turns;             // IR_PLACE_STRIP: tables of a strip, which records take in turn; 0 is 1
    bool first_level;           // CPU: strips go to first-level accumulators in front of the superaccumulators
    uint32_t overflow_words;    // IR_PLACE_FIXED_POINT: of a cell of the overflow table; 0: no float sum. Of rows that are written: 1 at least
    uint32_t lane_adds;         // GPU: additions of a lane to a running sum's word (IR_WAY_LEVELS) between two merges; 0: as many as the
                                // word itself takes
    bool neighbours;            // GPU: a lane's records stand one behind the other, not LANES apart
    bool lane_room;             // one record may fill such a word: whenever it takes the running sums, it is looked whether it has room
    bool apart;                 // GPU: the work-group's loops are a kernel behind the records, to which these leave what they bring along in device memory;
                                // a table of IR_PLACE_GROUP belongs to a stretch of records there
    bool has_tile;              // IR_PLACE_GROUP: while the work-group's loops run, a lane has an element of each row of `tile` in local memory,
    uint32_t tile, tile_words;  // of so many words
    bool keys_meet;             // GPU: minima and maxima of 64 bits in lanes' registers meet in local memory, which has room for a key of each lane
    bool has_tuples;
    ir_tuples tuples;
} ir_tables;

// Where an addition of a work-group's loop goes meanwhile.
typedef enum ir_home {
    IR_HOME_PLACE,              // its accumulator's place
    IR_HOME_REGISTER,           // every record adds to the same cell: words `home_register` and on of the lane's own
    IR_HOME_TILE,               // ir_tables.tile
} ir_home;
enum { IR_HOME_REGISTERS = 16 };

// How a GPU form is cut. No choice changes a result. Where one is asked for, what is 0 is chosen by rule.
typedef struct ir_shape {
    uint32_t group;             // work-items of a work-group; a power of two
    uint32_t records;           // that a lane takes at once
    uint32_t unroll;            // turns of an innermost loop
    uint32_t span;              // records of a work-group, fewer than work-items, where it makes tiles (row_tiles.c); 0: all of `group` * `records`
} ir_shape;
enum { IR_LANE_RECORDS = 8 };

#endif
