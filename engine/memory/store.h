// SPDX-License-Identifier: Apache-2.0
// Output records that stay where the device wrote them, as C structs in chunks of device memory: the segments of a cached dataset for the stage that
// reads them.
#ifndef HDST_ENGINE_MEMORY_STORE_H
#define HDST_ENGINE_MEMORY_STORE_H

#include "engine/memory/dataset_cache.h"

enum { HDST__SUB_BUFFER_RECORDS = HDST__SUB_BUFFER_BYTES };     // so many records of any size end where a part may start

typedef struct hdst__store {
    hdst__dataset_cache cache;      // what the next stage reads; its reader copies to the host for everybody else
    hdst__arena arena;              // of the chunks' storages
    uint64_t chunks, capacity;      // segments that have memory; entries of the array. cache.count of them hold records
    bool copies;                    // some were submitted that nobody waited for
    bool whole;                     // all records go to one chunk, however large
    uint64_t limit;                 // bytes of a chunk at most; 0: what the device can do. For tests
} hdst__store;

// All with the runtime's mutex held, and no launch using the store.
void hdst__store_init(hdst__store *store, hdst__runtime *runtime, const hdst__record *record);
void hdst__store_release(hdst__store *store);       // gives the memory back
// Forgets the records, keeps the memory. `expected` records will come; 0: nobody knows.
hdst_status hdst__store_begin(hdst__store *store, hdst__device *device, uint64_t expected, hdst_error *error);
// Adds `count` records that lie `offset` bytes into the device's memory; copied on the device, behind what was submitted before.
hdst_status hdst__store_append(hdst__store *store, const hdst__memory *from, uint64_t offset, uint64_t count, hdst_error *error);
// The other way: how many of `wanted` records have room one after another, and then the place of `count` of them, for a kernel to write. Unless it
// ends a store, `count` is a multiple of HDST__SUB_BUFFER_RECORDS.
hdst_status hdst__store_room(hdst__store *store, uint64_t wanted, uint64_t *room, hdst_error *error);
hdst_status hdst__store_place(hdst__store *store, uint64_t count, hdst__memory *place, hdst_error *error);
// Room for exactly so many records one after another, which somebody else writes: they count as there. What a record has between its fields is zero.
// *memory is NULL when there are none.
hdst_status hdst__store_hold(hdst__store *store, hdst__device *device, uint64_t records, hdst__memory **memory, hdst_error *error);
// The same for who writes all bytes of the records: nothing is cleared. *fresh: the memory is new, and so are the bytes behind them, up to its end.
hdst_status hdst__store_hold_unwritten(hdst__store *store, hdst__device *device, uint64_t records, hdst__memory **memory, bool *fresh, hdst_error *error);
void hdst__store_keep_first(hdst__store *store, uint64_t records);      // of those that were held: the others are none
hdst_status hdst__store_end(hdst__store *store, hdst_error *error);     // waits for the copies

#endif
