// SPDX-License-Identifier: Apache-2.0
// Small records in the order of their numbers, on the host: they are dealt by the highest digit in which keys differ to buckets that a core's cache holds, and
// each bucket is sorted there by the digits that are left, from the lowest up (McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993; buckets of the
// size of a cache: Polychroniou and Ross, "A comprehensive study of main-memory partitioning", 2014). Records themselves move, so there is no index to
// follow, and all memory that it takes beside the result is a bucket for each thread.
#ifndef HDST_SHUFFLE_SORT_MSD_RADIX_H
#define HDST_SHUFFLE_SORT_MSD_RADIX_H

#include "base/thread_pool.h"
#include "shuffle/sort/sort_key.h"

typedef struct hdst__row_run {      // records, one behind the other
    const char *rows;
    uint64_t count;
} hdst__row_run;

typedef struct hdst__msd_sort {
    hdst__thread_pool *threads;     // NULL: the calling thread alone
    const hdst__allocator *allocator;
    const hdst__sort_field *fields;
    size_t field_count;
    uint64_t size;                  // of a record
    const hdst__row_run *runs;      // the input, in order
    uint64_t run_count, count;      // and how many records they have
    const hdst__cancel *cancel;
} hdst__msd_sort;

// Records of a size that moves quickly, keys that are numbers and together have 64 bits at most.
bool hdst__msd_radix_suits(const hdst__sort_field *fields, size_t count, uint64_t size);
// Stable. `to`: room for all records, apart from the runs. *done is false where there was no memory for a bucket, or where most records would come to one
// bucket; `to` holds nothing of use then. HDST_E_CANCELLED.
hdst_status hdst__msd_radix_sort(const hdst__msd_sort *sort, char *to, bool *done, hdst_error *error);

#endif
