// SPDX-License-Identifier: Apache-2.0
// A sort as its own files see it.
#ifndef HDST_SHUFFLE_SORT_SORT_PRIVATE_H
#define HDST_SHUFFLE_SORT_SORT_PRIVATE_H

#include "shuffle/sort/sort_device.h"
#include "shuffle/sort/sort_runs.h"
#include "engine/memory/store.h"

struct hdst__sort {
    hdst__engine *engine;
    const hdst__record *record;
    hdst__sort_field *field;
    size_t field_count;
    hdst__run_stats stats;
    const char *way;            // how it sorts: for people
    char told[420];             // how the last run sorted, in a line; "": it did not
    uint64_t records;

    char *rows;                 // sorted, in host memory; NULL: elsewhere
    bool owned;                 // the rows are the sort's; else `mapped`'s
    hdst__memory *mapped;       // the store's memory, while the host has it; NULL: the device has it
    hdst__store store;          // sorted, on the device
    bool resident;              // there, and nowhere else
    bool device_did;
    hdst__device *device;       // of the store
    hdst__device_sort *on_device;   // NULL: not used yet
    hdst__segment input;        // on the device, where the input is not there already; kept for the next run
    hdst__arena arena;          // of its storage
    hdst__sort_runs runs;       // sorted, in a file
};

// sort_on_device.c: *done is false, and nothing has happened, where the device cannot, has no room or does not pay.
hdst_status hdst__sort_on_device(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, bool keep, bool *done, hdst_error *error);
// The same for runs, which go to sort->runs, with `room` bytes of the host's memory.
hdst_status hdst__sort_runs_on_device(hdst__sort *sort, const hdst__reader *input, uint64_t room, bool *done, hdst_error *error);
void hdst__sort_release_device(hdst__sort *sort);       // gives all memory there back; the next run may try again

// sort_host.c: an index array sorted by merging. Memory for both arrays is the caller's.
typedef struct hdst__sort_entry {
    uint64_t prefix, index;     // of the row's key; which row
} hdst__sort_entry;

// Sorts `count` rows stably: returns the entries in order, in one of the two arrays, which have `count` entries each. NULL: cancelled; the entries are in no
// order then.
hdst__sort_entry *hdst__sort_entries(const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size, uint64_t count,
                                     hdst__sort_entry *entries, hdst__sort_entry *scratch, const hdst__cancel *cancel);

#endif
