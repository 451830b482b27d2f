// SPDX-License-Identifier: Apache-2.0
// A column of a partial (accum/partial.h): one leaf of an accumulator, the elements of all rows side by side, so that loops over them become vectors
// whatever else is in a row. For partial*.c only.
#ifndef HDST_ACCUM_PARTIAL_COLUMN_H
#define HDST_ACCUM_PARTIAL_COLUMN_H

#include "accum/partial.h"

enum { HDST__PARTIAL_BLOCK = 512 };     // elements that are worked on at once, in the first-level cache

typedef struct hdst__partial_column {
    const hdst__allocator *allocator;
    hdst__cell cell;                // its kind and operation; where it lies in tables is of no interest here
    uint64_t count;                 // elements of all rows
    int64_t *word;                  // a float sum: multiples of 2^-scale. NULL: all are zero
    int64_t *low;                   // of a float sum, multiples of 2^-(scale + 40). NULL: all are zero
    int32_t scale;
    bool has_scale;                 // what came first said it
    // Superaccumulators of those elements that have one, each behind its element's number. NULL: there are none.
    int64_t *exact;
    uint32_t *place;                // by element: which is its own, from 1 on; 0: it has none
    uint32_t used, room;
} hdst__partial_column;

typedef struct hdst__partial_accum {
    uint64_t rows;
    size_t leaf_count;
    hdst__partial_column *column;
} hdst__partial_accum;

struct hdst__partial {
    const hdst__allocator *allocator;
    size_t accum_count;
    hdst__partial_accum *accum;
};

// All return false when there is no room.

// `count` words of a float sum, multiples of 2^-s, to the elements from `first` on: at the column's scale if it has none yet.
bool hdst__column_add_fixed(hdst__partial_column *column, uint64_t first, const int64_t *from, uint64_t count, int32_t s);
// What has no fixed point: words of the column's operation.
bool hdst__column_add_words(hdst__partial_column *column, uint64_t first, const int64_t *from, uint64_t count);
bool hdst__column_add_exact(hdst__partial_column *column, uint64_t element, const int64_t *superaccumulator);
bool hdst__column_reserve_exact(hdst__partial_column *column, uint64_t more);       // superaccumulators that will be new
bool hdst__column_merge(hdst__partial_column *to, const hdst__partial_column *from);

const int64_t *hdst__column_exact_of(const hdst__partial_column *column, uint64_t element);     // its superaccumulator; NULL: it has none
// The `elements` elements of row i are merged into those of row row[i].
bool hdst__column_scatter(hdst__partial_column *to, const hdst__partial_column *from, const uint64_t *row, uint64_t count);
uint64_t hdst__column_read(const hdst__partial_column *column, uint64_t element);   // bits of the cell's kind
// The same of HDST__PARTIAL_BLOCK elements at most.
void hdst__column_read_block(const hdst__partial_column *column, uint64_t first, uint64_t count, uint64_t *bits);
void hdst__column_reset(hdst__partial_column *column);
void hdst__column_release(hdst__partial_column *column);

// Words from one superaccumulator with its element's number to the next.
static inline uint64_t hdst__column_exact_words(const hdst__partial_column *column) { return 1 + column->cell.digits + 1; }

#endif
