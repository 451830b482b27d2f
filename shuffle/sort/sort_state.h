// SPDX-License-Identifier: Apache-2.0
// The state of a sort: what it is by, where its records are.
#ifndef HDST_SHUFFLE_SORT_SORT_STATE_H
#define HDST_SHUFFLE_SORT_SORT_STATE_H

#include "shuffle/sort/sort_device.h"
#include "shuffle/sort/sort_runs.h"
#include "shuffle/sort/sort_slices.h"
#include "engine/memory/store.h"
#include "engine/memory/structs_copy.h"

struct hdst__sort {
    hdst__engine *engine;
    const hdst__record *record;
    hdst__sort_field *field;
    size_t field_count;
    bool by_hash;               // of the fields: on a device alone
    hdst__run_stats stats;
    const char *way;            // how it sorts: for people
    char told[420];             // how the last run sorted, in a line; "": it did not
    char tiles[80];             // `way`, where tiles were merged
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
    hdst__structs_copy *structs;        // of columns; NULL: not used yet
    hdst__sort_runs runs;       // sorted, in a file
    hdst__sort_slices slices;   // its input, where that comes from a stage as it runs
};

#endif
