// SPDX-License-Identifier: Apache-2.0
// Superaccumulators of keys, in a hash table of their own: where float sums of a key find their place that are too large, or too fine, for the words of its
// row. Few keys have any. Where a key stands is by a hash that cannot be foreseen, for this table is in no order; where hashes say all of a key so does this
// one.
#ifndef HDST_SHUFFLE_AGGREGATE_OVERFLOW_ROWS_H
#define HDST_SHUFFLE_AGGREGATE_OVERFLOW_ROWS_H

#include "base/error_object.h"
#include "shuffle/aggregate/key_table.h"

typedef struct hdst__overflow_rows {
    const hdst__aggregation_layout *layout;
    const hdst__allocator *allocator;
    uint64_t seed;                      // of places
    hdst__key_table table;
    uint64_t moved;                     // rows with a word that could overflow, of all that it held
} hdst__overflow_rows;

void hdst__overflow_rows_init(hdst__overflow_rows *overflow, const hdst__aggregation_layout *layout, uint64_t seed, const hdst__allocator *allocator);
void hdst__overflow_rows_clear(hdst__overflow_rows *overflow);                // gives the memory back too; fine on a zeroed one, and twice
static inline bool hdst__overflow_rows_is_empty(const hdst__overflow_rows *overflow) { return overflow->table.count == 0; }
// The superaccumulators of a key. NULL: it has none.
const int64_t *hdst__overflow_rows_find(const hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key);
// Of keys whose hash says all of them: the next ones from place *at on (0 at first), and their hash. NULL: there are no more.
const int64_t *hdst__overflow_rows_next(const hdst__overflow_rows *overflow, uint64_t *at, uint32_t *hash);
// Adds those addends of a batch that do not fit the words of their columns. false: no memory, the error is set.
bool hdst__overflow_rows_add_exceptions(hdst__overflow_rows *overflow, const hdst__key_batch *batch, hdst_error *error);
// Moves the float sums in the cells of a key, which are zero then, here; the same of a hash table's row. false: no memory, the error is set.
bool hdst__overflow_rows_move(hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key, uint64_t *cells, hdst_error *error);
bool hdst__overflow_rows_move_row(hdst__overflow_rows *overflow, uint64_t *row, hdst_error *error);

#endif
