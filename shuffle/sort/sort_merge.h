// SPDX-License-Identifier: Apache-2.0
// Sorted runs in memory merged on all threads. (Runs in files: sort_runs.h.)
#ifndef HDST_SHUFFLE_SORT_SORT_MERGE_H
#define HDST_SHUFFLE_SORT_SORT_MERGE_H

#include "shuffle/sort/sort_key.h"
#include "base/runtime.h"

enum { HDST__SORT_MERGE_RUNS = 64 };    // at once, at most

typedef struct hdst__sorted_run {
    const char *rows;
    uint64_t count;
} hdst__sorted_run;

// Merges `count` runs of records of `size` bytes to `to`, which has room for all of them. Of equal records the earlier run's comes first. HDST_E_MEMORY,
// HDST_E_CANCELLED.
hdst_status hdst__sort_merge(hdst__runtime *runtime, const hdst__sort_field *fields, size_t field_count, uint64_t size, const hdst__sorted_run *runs,
                             uint32_t count, char *to, hdst_error *error);

#endif
