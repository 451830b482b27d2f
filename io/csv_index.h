// SPDX-License-Identifier: Apache-2.0
// How many rows a text file has and where they are: all threads go through it once, in groups of blocks, and leave the place of each
// block's first row behind.
#ifndef HDST_IO_CSV_INDEX_H
#define HDST_IO_CSV_INDEX_H

#include "base/cancel.h"
#include "base/thread_pool.h"
#include "io/csv_cursors.h"

typedef struct hdst__csv_tally {        // of rows that were gone through
    uint64_t not_finite;        // numbers of the chosen fields that are nan or inf; not counted where rows are judged by what they hold
    uint64_t left_out;          // rows that are not kept
    hdst__csv_place first_left_out;
} hdst__csv_tally;

typedef struct hdst__csv_judge {        // of which rows are kept, where not all are
    const hdst__csv_wanted *wanted;     // plain rows are kept that parse so; NULL: whatever they hold
    uint64_t row_bytes;                 // of what is read of a row
    locale_t c_locale;
    // Whether a row that is not plain is kept: the one that was read last, or (wrong: HDST_E_FORMAT) could not be read. Else *kept is false, and the error
    // says why. `row` is room for what it holds. Other errors than those for which rows are left out are returned.
    hdst_status (*look)(const void *user, const hdst__csv_reader *reader, hdst_status wrong, char *row, bool *kept, hdst_error *error);
    const void *user;
} hdst__csv_judge;

typedef struct hdst__csv_index {
    hdst__csv_place *place;     // of rows: growing in all three numbers
    size_t count;
    uint64_t rows;
    hdst__csv_tally tally;
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
    const hdst__csv_judge *judge;       // NULL: all rows are kept, and one that is malformed is an error
} hdst__csv_index_job;

// Errors: of the first row in the file's order that is malformed; those of reading the file; cancelled. The index is the caller's to free.
hdst_status hdst__csv_index_make(const hdst__csv_index_job *job, hdst__csv_index *index, hdst_error *error);
void hdst__csv_index_free(hdst__csv_index *index, const hdst__allocator *allocator);
// The last place that is not behind the row.
hdst__csv_place hdst__csv_index_find(const hdst__csv_index *index, uint64_t row);
// Where rows end that begin before row `end`: a byte that is not before the end of the last of them, or only by a part of it.
uint64_t hdst__csv_index_reach(const hdst__csv_index *index, uint64_t end);

#endif
