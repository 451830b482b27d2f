// SPDX-License-Identifier: Apache-2.0
// Records whose key is one text and whose other elements are integers, in the order of results: by the hash, then by the bytes. For records of which hardly two
// have one key, as where a table of a device has made them one: these are sorted by all threads, and nothing looks for a key.
//
// Threads: one at a time calls these functions, the pool's threads work.
#ifndef HDST_SHUFFLE_AGGREGATE_TEXT_ORDER_H
#define HDST_SHUFFLE_AGGREGATE_TEXT_ORDER_H

#include "shuffle/aggregate/aggregation_layout.h"
#include "base/cancel.h"
#include "base/thread_pool.h"

#define HDST__TEXT_ORDER_MOST UINT32_MAX        // records: their numbers have 32 bits

typedef struct hdst__text_order {
    const hdst__aggregation_layout *layout;     // whose key is one text
    hdst__thread_pool *threads;
    const hdst__cancel *cancel;         // NULL: never
    const hdst__allocator *allocator;   // of what is counted on the way
    char *records;                      // the owner's memory: `room` of them,
    uint64_t *place, *spare;            //     and numbers: the hash, and below it the number of a record
    uint64_t count, room;
    uint64_t keys;                      // once sorted: this many of `place`
    uint64_t *area;                     // then: for each task where its part of `place` begins, and how many keys it has
    uint32_t tasks;
} hdst__text_order;

static inline uint64_t hdst__text_order_bytes(const hdst__aggregation_layout *layout, uint64_t room)
{
    return room * (layout->record->size + 2 * sizeof(uint64_t));
}

// Copies records to where there is room. Returns whether one of them refers to bytes elsewhere.
bool hdst__text_order_take(hdst__text_order *order, const void *records, uint64_t count);
// Sorts them; those with one key become one. HDST_E_MEMORY: nothing has changed. HDST_E_CANCELLED: records may have become one.
hdst_status hdst__text_order_sort(hdst__text_order *order, hdst_error *error);
// Then: writes the records of all keys in order, padding zero.
void hdst__text_order_write(const hdst__text_order *order, char *to);
void hdst__text_order_free(hdst__text_order *order);        // what it took itself; fine in any case

#endif
