// SPDX-License-Identifier: Apache-2.0
// Output records of a run, gathered on the host in input order, one after another.
#ifndef HDST_ENGINE_MEMORY_OUTPUT_H
#define HDST_ENGINE_MEMORY_OUTPUT_H

#include "base/budget.h"

#include "base/alloc.h"
#include "base/thread_pool.h"
#include "engine/memory/text_heap.h"

typedef struct hdst__output {
    const hdst__allocator *allocator;
    hdst__budget *budget;
    uint64_t record_bytes;
    char *records;
    uint64_t count, capacity;
    struct hdst__store *store;      // not NULL: the records of this run go there instead and stay on the device
    const struct hdst__consumer *consumer;  // not NULL: they go there instead, and are only counted here
    const hdst__record *texts_of;   // not NULL: they have texts, whose bytes are kept here, in `texts`
    hdst__runtime *runtime;         // then
    hdst__text_heap *texts;         // NULL: there are none yet
    hdst__text_writer writer;
    bool settles;                   // what the consumer keeps it copies itself: `texts` has those of one slice
    struct hdst__registered *pins;  // not NULL: where its memory may be registered, so that devices copy right into it
    bool was_filled, is_pinned;     // in an earlier run, and nothing moved since; it is registered
    bool leaves_room;               // they may as well be in a file: what comes behind them needs a share of the budget
} hdst__output;

void hdst__output_init(hdst__output *output, const hdst__allocator *allocator, hdst__budget *budget, uint64_t record_bytes);
// Records of a record with texts; nothing where it has none.
void hdst__output_has_texts(hdst__output *output, hdst__runtime *runtime, const hdst__record *record);
// Copies the bytes of records' texts to where those of the output are, and has them refer to these: they may go anywhere, and last as long as `texts`.
hdst_status hdst__output_keep_texts(hdst__output *output, void *records, uint64_t count, hdst_error *error);
// Of an output that settles texts: the same until the next call, and only of texts that the function looks at in another case than their bytes have.
hdst_status hdst__output_settle_texts(hdst__output *output, void *records, uint64_t count, hdst_error *error);
// What the texts of `from` refer to lasts as long as this output's own.
hdst_status hdst__output_hold_texts(hdst__output *output, const hdst__output *from, hdst_error *error);
void hdst__output_destroy(hdst__output *output);
// Forgets the records, keeps the memory.
void hdst__output_reset(hdst__output *output);
// Room for so many records in all. HDST_E_MEMORY, also where output that leaves room would take more than three quarters of what the budget has for it.
hdst_status hdst__output_reserve(hdst__output *output, uint64_t records, hdst_error *error);
// Registers the memory, where it had records before: to pin it takes as long as to copy into it once.
void hdst__output_pin(hdst__output *output);
// Adds records behind those that are there.
hdst_status hdst__output_add(hdst__output *output, const void *records, uint64_t count, hdst_error *error);
// The same, copied by several threads where there are many.
hdst_status hdst__output_add_by(hdst__output *output, hdst__thread_pool *threads, const void *records, uint64_t count, hdst_error *error);
// The records of another output, whose texts stay where they are.
hdst_status hdst__output_add_of(hdst__output *output, const hdst__output *from, hdst_error *error);

#endif
