// SPDX-License-Identifier: Apache-2.0
// How many rows a text file has and where they are: all threads go through it once, in groups of blocks, and leave the place of each
// block's first row behind.
#ifndef HDST_IO_CSV_INDEX_H
#define HDST_IO_CSV_INDEX_H

#include "base/cancel.h"
#include "base/thread_pool.h"
#include "io/csv_cursors.h"

typedef struct hdst__csv_index {
    hdst__csv_place *place;     // of rows: growing in all three numbers
    size_t count;
    uint64_t rows;
    uint64_t not_finite;        // numbers of the chosen fields that are nan or inf
} hdst__csv_index;

typedef struct hdst__csv_index_job {
    hdst__csv_cursors *cursors;
    hdst__csv_place first;      // where the data start
    uint64_t model_line;        // the row whose number of fields the others must have
    const size_t *fields;       // the chosen ones
    size_t field_count;
    uint64_t block_bytes;       // between two places
    uint64_t group_blocks;      // that a thread goes through at once
    hdst__thread_pool *threads; // NULL: the calling thread alone
    const hdst__cancel *cancel;
} hdst__csv_index_job;

// Errors: of the first row in the file's order that is malformed; those of reading the file; cancelled. The index is the caller's to free.
hdst_status hdst__csv_index_make(const hdst__csv_index_job *job, hdst__csv_index *index, hdst_error *error);
void hdst__csv_index_free(hdst__csv_index *index, const hdst__allocator *allocator);
// The last place that is not behind the row.
hdst__csv_place hdst__csv_index_find(const hdst__csv_index *index, uint64_t row);
// Where rows end that begin before row `end`: a byte that is not before the end of the last of them, or only by a part of it.
uint64_t hdst__csv_index_reach(const hdst__csv_index *index, uint64_t end);

#endif
