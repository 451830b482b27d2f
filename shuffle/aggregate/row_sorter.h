// SPDX-License-Identifier: Apache-2.0
// Rows of the keys of some records by sorting, in place of a hash table. Only where somebody asks for it, or where keys crowd in a table: of 5M tuples (u32,
// f32) with 1k, 1M, 5M keys one takes 22, 38, 38 ns of a core, in partitions with tables 7, 17, 25 ns.
#ifndef HDST_SHUFFLE_AGGREGATE_ROW_SORTER_H
#define HDST_SHUFFLE_AGGREGATE_ROW_SORTER_H

#include "base/budget.h"
#include "shuffle/aggregate/radix_partitions.h"
#include "shuffle/aggregate/overflow_rows.h"

typedef struct hdst__row_sorter hdst__row_sorter;

typedef struct hdst__row_sorter_spec {  // all that it points to must outlive the sorter
    const hdst__aggregation_layout *layout;
    const hdst__allocator *allocator;   // for all its memory
    const hdst__budget *memory;         // what that has left
    uint64_t share;                     // bytes: how much of that a thread may have
    uint32_t forced_bits;               // tests: 1 << so many raw records are sorted at once; 0: as many as fit
    hdst__key_batch *batch;             // to take records apart with
    hdst__overflow_rows *overflow;             // for what fits no word
    hdst_error *error;                  // set by every function that fails, for want of memory
} hdst__row_sorter_spec;

hdst__row_sorter *hdst__row_sorter_create(const hdst__row_sorter_spec *spec);       // NULL: no memory
void hdst__row_sorter_destroy(hdst__row_sorter *sorter);                            // NULL is fine
// Raw records, and rows, of one chunk; all rows of a table, which stay there. false: no memory.
bool hdst__row_sorter_add_raw(hdst__row_sorter *sorter, const hdst__partition_chunk *chunk);
bool hdst__row_sorter_add_rows(hdst__row_sorter *sorter, const hdst__partition_chunk *chunk);
bool hdst__row_sorter_add_table(hdst__row_sorter *sorter, const hdst__key_table *table);
// The rows of all that was added, in the order of (hash, key), which are the sorter's until more is added. It is empty then. false: no memory.
bool hdst__row_sorter_end(hdst__row_sorter *sorter, const uint64_t **rows, uint64_t *count);
// Of the keys at hand, one about in the middle, with others before it. NULL: there are no two.
const uint64_t *hdst__row_sorter_middle(const hdst__row_sorter *sorter);

#endif
