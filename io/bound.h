// SPDX-License-Identifier: Apache-2.0
// A source bound to a record: made by bind.c, used by fill.c.
#ifndef HDST_IO_BOUND_H
#define HDST_IO_BOUND_H

#include "io/source.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct hdst__move {               // one run of numbers of a row that goes to one leaf
    uint32_t leaf;
    uint64_t element, count;
    hdst__kind from;
    uint64_t offset;
    size_t column;                  // of which it is, from that element on
    uint64_t column_element;
} hdst__move;

struct hdst__bound_source {
    hdst__source *source;
    const hdst__record *record;
    hdst__arena arena;              // of `rows_as_structs`
    const hdst__storage *rows_as_structs;   // the source has rows of C structs, not columns
    bool rows_are_structs;          // a row has the record's C struct's bytes, columns or not
    bool rows_may_be_structs;       // it has, or its numbers do not fit their fields: signed for unsigned, or the other way round
    hdst__move *moves;
    size_t move_count;
    hdst__row_form as;              // when the source is text
    uint64_t row_bytes;             // of what is read of a row
    uint64_t kept_rows, left_out;   // where as.kept
    hdst_error first_left_out;
    hdst__bound_source **parts;     // of a concatenation: nothing else is used then but what follows
    _Atomic(uint64_t *) part_end;   // of each part the first record behind it; NULL: nobody has asked yet
    struct hdst__bound_source *whole;       // of a part: the concatenation, by whose staging it reads; else NULL
    void *staging;                  // of whoever holds the lock; others take memory for the time of a call, or wait where there is none
    pthread_mutex_t staging_lock;
    uint64_t staging_rows, staging_bytes;
    const hdst__line_search *search;        // of lines, those alone matter that have this text: others may come as records of nothing. NULL: all do
    hdst__line_leaves lines;        // where records may be made elsewhere;
    bool has_lines;                 //     whether they may
    char note[512];
};

// `count` numbers (or texts) of a move's element, from record `first_row` on, which lie `stride` bytes apart, into their field.
hdst_status hdst__bound_move(const hdst__bound_source *bound, const hdst__move *move, uint64_t element, const char *from, uint64_t stride,
                             uint64_t first_row, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error);

static inline bool hdst__bound_fills_texts(const hdst__bound_source *bound) { return bound->record->has_text && bound->source->format->fill_texts; }

#endif
