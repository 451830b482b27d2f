// SPDX-License-Identifier: Apache-2.0
// Small records in the order of their numbers, on the host: they are dealt by the highest digit in which keys differ to buckets that a core's cache holds, and
// each bucket is sorted there by the digits that are left, from the lowest up (McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993; buckets of the
// size of a cache: Polychroniou and Ross, "A comprehensive study of main-memory partitioning", 2014). Records themselves move, so there is no index to
// follow, and all memory that it takes beside the result is a bucket for each thread.
#ifndef HDST_SHUFFLE_SORT_MSD_RADIX_H
#define HDST_SHUFFLE_SORT_MSD_RADIX_H

#include "base/budget.h"
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

// Records that come a slice at a time are dealt to their buckets as they come (msd_slices.c): nobody copies them to one place first, or reads them again to
// count them. What a bucket has lies in chunks.
typedef struct hdst__msd_slices hdst__msd_slices;
// `sort`: a job that suits, whose runs are a sample, such as the first records; `fields` and `budget` must outlive the slices. `expected`: records in all,
// about. NULL: no memory.
hdst__msd_slices *hdst__msd_slices_create(const hdst__msd_sort *sort, hdst__budget *budget, uint64_t expected);
void hdst__msd_slices_destroy(hdst__msd_slices *slices);    // NULL is fine
// HDST_E_MEMORY: the budget has no room; hdst__msd_slices_count says how many of these were taken, the first ones. HDST_E_CANCELLED.
hdst_status hdst__msd_slices_take(hdst__msd_slices *slices, const char *rows, uint64_t count, hdst_error *error);
uint64_t hdst__msd_slices_count(const hdst__msd_slices *slices);
// Records lie in eight bytes each, as all that came differ in no more than 64 of their bits.
bool hdst__msd_slices_are_packed(const hdst__msd_slices *slices);
// Behind the end: all records had to be dealt once more, by buckets that suit them.
bool hdst__msd_slices_were_dealt_again(const hdst__msd_slices *slices);
// Gives all that came to `add`, of equal keys in order. HDST_E_MEMORY, or what `add` says.
typedef hdst_status hdst__msd_add(void *user, const char *rows, uint64_t count, hdst_error *error);
hdst_status hdst__msd_slices_give(hdst__msd_slices *slices, hdst__msd_add *add, void *user, hdst_error *error);
// As hdst__msd_radix_sort, of all that came.
hdst_status hdst__msd_slices_end(hdst__msd_slices *slices, char *to, bool *done, hdst_error *error);

#endif
