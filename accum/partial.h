// SPDX-License-Identifier: Apache-2.0
// Partials: the state of an unfinished reduction as an object on the host. It takes device tables as they come back, in each of their forms and at any
// scale, and other partials of the same accumulators; in whatever order and grouping they come, the rows that are read in the end have equal bits.
//
// An element (one number of one leaf of one row) is held as it needs it: a word; for a float sum up to two words in fixed point, multiples of 2^-s and of
// 2^-(s + 40), at a scale that all elements of the leaf share, and a superaccumulator beside them for those few that do not fit. Words of equal scale
// are added as integers. What would overflow, or has another scale and does not fit this one, goes to the superaccumulator: scales change time and
// memory, never a bit.
//
// Not thread-safe; different objects may be used at the same time.
#ifndef HDST_ACCUM_PARTIAL_H
#define HDST_ACCUM_PARTIAL_H

#include "accum/tables.h"
#include "base/alloc.h"
#include "base/error_object.h"

typedef struct hdst__partial hdst__partial;

// A device table as it comes back from a run.
typedef struct hdst__device_table {
    const hdst__tables *tables;     // its classes and its forms (fixed point, first level) may be others than another device's
    const uint64_t *rows;           // by param
    const int64_t *words;           // of tables with first-level words: from the marks on
    const int32_t *scale;           // by scale; NULL: no float sum of it has words in fixed point
    const int64_t *overflow;        // of tables in fixed point: their overflow table (accum/overflow_table.h); NULL: there is none
    uint32_t overflow_cell_words;   // of a superaccumulator there
} hdst__device_table;

// With no accumulators, to append others to. NULL: out of memory.
hdst__partial *hdst__partial_create_empty(const hdst__allocator *allocator);
// Empty: every element is its operation's identity. Only the shape is taken from `tables`, which need not live on; the allocator must. NULL: out of
// memory.
hdst__partial *hdst__partial_create(const hdst__allocator *allocator, const hdst__tables *tables, const uint64_t *rows);
void hdst__partial_destroy(hdst__partial *partial);     // NULL is fine
void hdst__partial_reset(hdst__partial *partial);       // empty again; its memory stays its own

// Both: HDST_E_MEMORY: there was no room, and what `to` holds is worthless until it is reset. HDST_E_INTERNAL: it is of other accumulators, or has
// other rows; nothing was done. `from` is another object than `to`.
hdst_status hdst__partial_add_device_table(hdst__partial *to, const hdst__device_table *from, hdst_error *error);
hdst_status hdst__partial_merge(hdst__partial *to, const hdst__partial *from, hdst_error *error);

// The same accumulators with other numbers of rows, empty. NULL: out of memory.
hdst__partial *hdst__partial_create_like(const hdst__partial *partial, uint64_t rows);
// Row i of accumulator 0 of `from`, for each i < count, is merged into row row[i] of `to`. HDST_E_MEMORY, HDST_E_INTERNAL: as above.
hdst_status hdst__partial_scatter(hdst__partial *to, const hdst__partial *from, const uint64_t *row, uint64_t count, hdst_error *error);
// One element of accumulator 0: `words` words (0 to 2, in fixed point at scale s if it is a float sum) and a superaccumulator, or NULL. False: no memory.
bool hdst__partial_add_element(hdst__partial *to, uint32_t leaf, uint64_t row, uint64_t element, const int64_t *word, uint32_t words, int32_t s,
                               const int64_t *superaccumulator);
// Copies of the first `count` accumulators of `from` behind those of `to`. HDST_E_MEMORY: `to` may have a part of them.
hdst_status hdst__partial_append(hdst__partial *to, const hdst__partial *from, size_t count, hdst_error *error);

// As hdst__table_read and hdst__table_read_rows: rounded once.
uint64_t hdst__partial_read(const hdst__partial *partial, size_t accum, uint64_t row, uint32_t leaf, uint64_t element);
void hdst__partial_read_rows(const hdst__partial *partial, size_t accum, const hdst__record *record, uint64_t first, uint64_t count, void *out);
uint64_t hdst__partial_rows(const hdst__partial *partial, size_t accum);        // those with storage: one at least
const hdst__allocator *hdst__partial_allocator(const hdst__partial *partial);
size_t hdst__partial_accums(const hdst__partial *partial);
// Whether accumulator `accum` is one of such rows, of which it has so many: what hdst__partial_read_rows takes.
bool hdst__partial_has_rows_of(const hdst__partial *partial, size_t accum, const hdst__record *record, uint64_t rows);

#endif
