// SPDX-License-Identifier: Apache-2.0
// The kernels of a reduction by key on a GPU as text, which lies in the writer's arena.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_KERNELS_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_KERNELS_H

#include "base/pieces.h"
#include "record/target.h"
#include "shuffle/aggregate/aggregation_layout.h"

extern const hdst__pieces hdst__aggregate_pieces;      // shuffle/aggregate/*.cl

enum { HDST__AGGREGATE_LANES = 256, HDST__AGGREGATE_PARTITIONS = 1024 /* of a round, at most */, HDST__AGGREGATE_FEW_BITS = 9 /* of half as many */,
       HDST__AGGREGATE_VALUES = 8, HDST__AGGREGATE_COLUMNS = 40,
       HDST__AGGREGATE_KEY_BYTES = 32 };

typedef struct hdst__aggregate_kernel_value {       // how a value is held
    uint32_t payload;                   // its first word of a tuple
    uint32_t unit, cell;                // first 64-bit word of a heavy hitter, first 32-bit word of a row of a table
    uint32_t sum;                       // number among the float sums
} hdst__aggregate_kernel_value;

typedef struct hdst__aggregate_kernel_shape {
    uint32_t mixed_bytes;               // of a mixed key: 4 or 8
    uint32_t rest;                      // of a key of more than 8 bytes, what the mixed key does not tell: halves of its words but the last
    uint32_t rest_unit, rest_cell;      // where a heavy hitter, and a row of a table, have it; a note stands behind it (hash_wide_key.cl)
    uint32_t payload, tuple_words;       // words of a tuple: behind the key; all, as memory has them
    uint32_t units, cells, sums;
    hdst__aggregate_kernel_value value[HDST__AGGREGATE_VALUES];
    uint32_t tile_rows, many_rows;      // tuples of a lane, in the order of the next two
    uint32_t few_lanes, many_lanes;     // of a work-group that puts them in order of 2^HDST__AGGREGATE_FEW_BITS partitions, or of twice as many
    uint32_t most_bits;                 // of partitions of the first round
    uint32_t counted_bits;              // of partitions that are counted in one pass, at most
    uint32_t slots, heavy_slots;          // rows of a partition's table, of the heavy hitters' table
    uint32_t total_lanes;               // of a work-group that fills a partition's table: HDST__AGGREGATE_LANES or twice as many
    uint32_t overflow_cell_words;               // of a superaccumulator
    bool doubles;
    bool in_rows;                       // kernels for a row of each key below a number, alone
    bool states;                        // rows are not finished: key and words, as tables have them
    uint32_t row_bytes;                 // of a row that hash_total writes
    uint32_t state_words;               // then: of a state, in 64 bits
} hdst__aggregate_kernel_shape;

// NULL, or why the kernels cannot do it. The precision classes of the values are known.
const char *hdst__aggregate_kernels_why_not(const hdst__aggregation_layout *layout, const hdst__storage *storage, const hdst__target_facts *facts);
uint64_t hdst__aggregate_kernels_tuple_bytes(const hdst__aggregation_layout *layout);       // of a tuple, as memory has it
// states: rows as aggregate_state.h has them, for a layout whose cells have their places, in place of records.
void hdst__aggregate_kernel_shape_of(const hdst__aggregation_layout *layout, const hdst__target_facts *facts, bool states, hdst__aggregate_kernel_shape *shape);
// All kernels, for records that lie as `storage` has them (its offsets are arguments where they depend on the number of records).
void hdst__aggregate_kernels_text(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage,
                                  const hdst__aggregate_kernel_shape *shape, bool portable);

#endif
