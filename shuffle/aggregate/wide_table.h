// SPDX-License-Identifier: Apache-2.0
// Superaccumulators of keys, in a hash table of their own: where float sums of a key find their place that are too large, or too fine, for the words of its
// row. Few keys have any. Where a key stands is by a hash that cannot be foreseen, for this table is in no order; where hashes say all of a key so does this
// one.
#ifndef HDST_SHUFFLE_AGGREGATE_WIDE_TABLE_H
#define HDST_SHUFFLE_AGGREGATE_WIDE_TABLE_H

#include "base/error_object.h"
#include "shuffle/aggregate/key_table.h"

typedef struct hdst__wide_table {
    const hdst__aggregation_layout *layout;
    const hdst__allocator *allocator;
    uint64_t seed;                      // of places
    hdst__key_table table;
    uint64_t moved;                     // rows with a word that could overflow, of all that it held
} hdst__wide_table;

void hdst__wide_table_init(hdst__wide_table *wide, const hdst__aggregation_layout *layout, uint64_t seed, const hdst__allocator *allocator);
void hdst__wide_table_clear(hdst__wide_table *wide);                // gives the memory back too; fine on a zeroed one, and twice
static inline bool hdst__wide_table_is_empty(const hdst__wide_table *wide) { return wide->table.count == 0; }
// The superaccumulators of a key. NULL: it has none.
const int64_t *hdst__wide_table_find(const hdst__wide_table *wide, uint32_t hash, const uint64_t *key);
// Of keys whose hash says all of them: the next ones from place *at on (0 at first), and their hash. NULL: there are no more.
const int64_t *hdst__wide_table_next(const hdst__wide_table *wide, uint64_t *at, uint32_t *hash);
// Adds those addends of a batch that do not fit the words of their columns. false: no memory, the error is set.
bool hdst__wide_table_add_misfits(hdst__wide_table *wide, const hdst__key_batch *batch, hdst_error *error);
// Moves the float sums in the cells of a key, which are zero then, here; the same of a hash table's row. false: no memory, the error is set.
bool hdst__wide_table_move(hdst__wide_table *wide, uint32_t hash, const uint64_t *key, uint64_t *cells, hdst_error *error);
bool hdst__wide_table_move_row(hdst__wide_table *wide, uint64_t *row, hdst_error *error);

#endif
