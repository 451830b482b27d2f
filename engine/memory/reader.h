// SPDX-License-Identifier: Apache-2.0
// Where records come from: a file, memory, another stage.
#ifndef HDST_ENGINE_MEMORY_READER_H
#define HDST_ENGINE_MEMORY_READER_H

#include "base/error_object.h"
#include "base/thread_pool.h"
#include "io/open_end.h"
#include "record/layout.h"
#include "record/line_blocks.h"

#include <stdbool.h>
#include <stdint.h>

// Where a stage's records come from: fills records [first, first + count) of the input at record `to_first` of a storage. Called in any order, from one
// thread at a time, or from several where it says that it may be.
typedef struct hdst__reader {
    hdst_status (*fill)(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error);
    void *user;
    uint64_t records;
    const hdst__record *record;     // must outlive caches and stages made with it
    hdst__layout layout;            // of the segments
    uint64_t block;                 // AoSoA
    bool held;                      // they are computed or cached: with more memory more of them are there. For errors
    bool concurrent;                // fill may be called from several threads at once, for different records
    const void *rows;               // where all records lie in memory of the program's, as C structs that a device may read; NULL: only fill knows
    bool parts_itself;              // fill reads by all threads, whatever range it is asked for: nobody cuts it for them
    bool on_device;                 // fill copies them from a device, which nobody else may work with meanwhile
    bool makes_texts;               // the bytes of texts are read too: fill wants memory for them (storage->text)
    bool copies_texts;              // kernels look at texts that a device with memory of its own gets copies of: a stage says so of its input
    uint64_t text_bytes;            // then: of a record's texts, about
    const hdst__line_leaves *lines; // not NULL: they are lines of texts, and fill may say where those are (storage->lines)
    hdst__open_end *open_end;       // not NULL: `records` are as many as there may be; what fill gives behind their end is zero, and this tells where it is
} hdst__reader;

// How many of these records there are, once they were filled.
static inline uint64_t hdst__reader_filled(const hdst__reader *reader, uint64_t first, uint64_t count)
{
    return reader->open_end ? hdst__open_end_within(reader->open_end, first, count) : count;
}

// Of all of them, as far as that is known.
static inline uint64_t hdst__reader_records(const hdst__reader *reader) { return hdst__reader_filled(reader, 0, reader->records); }

// Calls fill for a range, in parts by the threads of the pool where the reader may be read so and there is enough to read. The error is that of the
// earliest part which has one, however many threads there are.
hdst_status hdst__reader_fill(const hdst__reader *reader, hdst__thread_pool *pool, uint64_t first, uint64_t count, const hdst__storage *storage,
                              void *const *buffers, uint64_t to_first, hdst_error *error);

#endif
