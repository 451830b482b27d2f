// SPDX-License-Identifier: Apache-2.0
// A container for keys that are numbers of rows: the cells of a stretch of rows, one row after another, without tags or probing. What the cells hold is as in
// other containers (shuffle/aggregate/aggregation_layout.h).
#ifndef HDST_SHUFFLE_AGGREGATE_DIRECT_TABLE_H
#define HDST_SHUFFLE_AGGREGATE_DIRECT_TABLE_H

#include "shuffle/aggregate/aggregation_layout.h"

typedef struct hdst__direct_table {
    const hdst__allocator *allocator;
    uint64_t *words;                    // [rows][cell_words]
    uint64_t rows;                      // a power of two: the lower bits of a row's number are its place
    uint32_t row_words;
    uint64_t adds;                      // records since its words were looked through
} hdst__direct_table;

// false: no memory. Fine to destroy when zeroed, and twice.
bool hdst__direct_table_create(hdst__direct_table *table, const hdst__allocator *allocator, const hdst__aggregation_layout *layout, uint64_t rows);
void hdst__direct_table_destroy(hdst__direct_table *table);
void hdst__direct_table_clear(hdst__direct_table *table);
static inline uint64_t *hdst__direct_table_cells(const hdst__direct_table *table, uint64_t row)
{
    return table->words + (row & (table->rows - 1)) * table->row_words;
}
// Adds a batch whose words are there.
void hdst__direct_table_add(hdst__direct_table *table, const hdst__aggregation_layout *layout, const hdst__key_batch *batch);
// Once in layout->look_after records: cells with a word that could overflow go to `spill` with their place in the table, as hdst__key_table_spill_full does.
typedef bool hdst__spill_cells(void *context, uint64_t place, uint64_t *cells);
bool hdst__direct_table_spill_full(hdst__direct_table *table, const hdst__aggregation_layout *layout, hdst__spill_cells *spill, void *context);
// Adds the cells behind the tag of a hash table's row (shuffle/aggregate/key_table.h) to those of its key, which are returned.
uint64_t *hdst__direct_table_combine(hdst__direct_table *table, const hdst__aggregation_layout *layout, const uint64_t *row);
// The first `count` rows as C structs of layout->rows, padding zero; what is in superaccumulators is not in them.
void hdst__direct_table_write(const hdst__direct_table *table, const hdst__aggregation_layout *layout, uint64_t count, char *records);
// One row, with what is in superaccumulators.
void hdst__direct_table_write_overflow(const hdst__direct_table *table, const hdst__aggregation_layout *layout, uint64_t row, const int64_t *overflow,
                                       char *record);

#endif
