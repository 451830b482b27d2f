// SPDX-License-Identifier: Apache-2.0
// Readers of one text file for all threads that read it: whoever reads takes one and gives it back with the place where it ended, so that whoever goes on there
// finds what is loaded already.
#ifndef HDST_IO_CSV_CURSORS_H
#define HDST_IO_CSV_CURSORS_H

#include "io/csv_numbers.h"
#include "io/csv_reader.h"

#include <pthread.h>

typedef struct hdst__csv_cursor {
    hdst__csv_reader reader;
    hdst__csv_place place;          // where it ended; row UINT64_MAX: nowhere
    hdst__csv_wanted *wanted;       // by field: room for who reads numbers
    struct hdst__csv_cursor *next;
} hdst__csv_cursor;

typedef struct hdst__csv_cursors {
    const hdst__allocator *allocator;
    const hdst__csv_file *file;
    hdst__csv_shape shape;
    uint64_t window_bytes;
    pthread_mutex_t mutex;          // of what follows
    pthread_cond_t given;           // one has become idle
    hdst__csv_cursor *idle;
    uint64_t taken;                 // by somebody
} hdst__csv_cursors;

void hdst__csv_cursors_init(hdst__csv_cursors *cursors, const hdst__allocator *allocator, const hdst__csv_file *file, uint64_t window_bytes);
void hdst__csv_cursors_destroy(hdst__csv_cursors *cursors);
// One that ended at `row` where there is one. Where there is no memory for another it waits for one that is given back: a thread takes one at a time.
// NULL: there is memory for none, with the error filled. Any thread.
hdst__csv_cursor *hdst__csv_cursors_take(hdst__csv_cursors *cursors, uint64_t row, hdst_error *error);
void hdst__csv_cursors_give(hdst__csv_cursors *cursors, hdst__csv_cursor *cursor);

#endif
