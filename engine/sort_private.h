// SPDX-License-Identifier: Apache-2.0
// A sort as its own files see it.
#ifndef HDST_ENGINE_SORT_PRIVATE_H
#define HDST_ENGINE_SORT_PRIVATE_H

#include "engine/sort_runs.h"

struct hdst__sort {
    hdst__engine *engine;
    const hdst__record *record;
    hdst__sort_field *field;
    size_t field_count;
    hdst__run_stats stats;
    const char *way;            // how the last run sorted: for people
    uint64_t records;

    char *rows;                 // sorted, in host memory; NULL: elsewhere
    hdst__sort_runs runs;       // sorted, in a file
    uint64_t reserved;          // bytes of the host's budget that the result holds
};

// sort_host.c: an index array sorted by merging. Memory for both arrays is the caller's.
typedef struct hdst__sort_entry {
    uint64_t prefix, index;     // of the row's key; which row
} hdst__sort_entry;

// Sorts `count` rows stably: returns the entries in order, in one of the two arrays, which have `count` entries each.
hdst__sort_entry *hdst__sort_entries(const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size, uint64_t count, hdst__sort_entry *entries,
                                     hdst__sort_entry *scratch);

#endif
