// SPDX-License-Identifier: Apache-2.0
// Rows of a value that lie in a device's own memory, changed there by records that name them (changed_rows.cl).
#ifndef HDST_ENGINE_MEMORY_CHANGED_ROWS_H
#define HDST_ENGINE_MEMORY_CHANGED_ROWS_H

#include "engine/memory/cached_dataset.h"
#include "engine/memory/resident_value.h"

#include <stdbool.h>

typedef struct hdst__row_piece {    // bytes of a record that lie side by side in the row, too
    uint64_t from, to, bytes;
} hdst__row_piece;

typedef struct hdst__row_change {   // what makes a row of a record; all of it outlives who works by it
    const hdst__record *record;     // its first field is the number of the row
    uint64_t row_bytes;
    const hdst__row_piece *pieces;
    size_t piece_count;
} hdst__row_change;

// Kernels and memory for such changes, of one value at a time. One thread at a time per object; all functions take the engine's mutex.
typedef struct hdst__changed_rows hdst__changed_rows;
hdst__changed_rows *hdst__changed_rows_create(hdst__runtime *runtime, const hdst__row_change *change);    // nothing is compiled yet; NULL: out of memory
void hdst__changed_rows_destroy(hdst__changed_rows *changed);       // NULL is fine

typedef struct hdst__row_change_records {
    const hdst__dataset_cache *cache;   // where they lie on a device, or NULL
    const void *rows;                   // then: as C structs of the host
    uint64_t count;
    bool distinct;                      // each names a row that there is, and no two name one
} hdst__row_change_records;

// Changes the `row_count` rows by one record or more, of which the last that names one counts. *why_not: why nothing was done, a text that stays, where
// the host had better do it ("": the rows are the host's, too); else NULL. *stray: a record names a row that there is not, and nothing was changed.
hdst_status hdst__changed_rows_put(hdst__changed_rows *changed, hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records,
                                   const char **why_not, bool *stray, hdst_error *error);

#endif
