// SPDX-License-Identifier: Apache-2.0
// What sorts from the highest digit share, of records that lie there and of those that come a slice at a time (msd_radix.c, msd_slices.c).
#ifndef HDST_SHUFFLE_SORT_MSD_RADIX_PRIVATE_H
#define HDST_SHUFFLE_SORT_MSD_RADIX_PRIVATE_H

#include "shuffle/sort/msd_radix.h"

#include <stdatomic.h>

enum { HDST__MSD_FIELDS = 8, HDST__MSD_BUCKETS = 1 << 10, HDST__MSD_SLOT_BITS = 14, HDST__MSD_SLOTS = 1 << HDST__MSD_SLOT_BITS };

typedef struct hdst__msd_piece {    // of a run
    const char *rows;
    uint64_t count;
    uint64_t place[HDST__MSD_BUCKETS];      // of its records in a bucket: how many, then where the next one goes
} hdst__msd_piece;

typedef struct hdst__msd_sorting {
    const hdst__msd_sort *sort;
    hdst__sort_class class[HDST__MSD_FIELDS];
    char *to;
    hdst__msd_piece *pieces;
    uint64_t piece_count;
    uint64_t expected;              // records, of which buckets are to have so many as a cache holds
    uint64_t least;                 // of the sampled keys, but for the bits in which they differ
    uint32_t buckets, shift;        // the highest digit above `least` is a key's slot; some slots in a row are a bucket
    uint16_t bucket[HDST__MSD_SLOTS];
    uint64_t begin[HDST__MSD_BUCKETS + 1];
    uint64_t base[HDST__MSD_BUCKETS];       // its keys are this one and, at most, as many more
    uint8_t range_bits[HDST__MSD_BUCKETS];  //     as so many bits count; none: it has one key; 64: any key may be there
    uint64_t largest;               // records of a bucket that are to be sorted
    char *scratch;                  // so many for each worker
    atomic_uint next;               // bucket
    atomic_bool stops;
} hdst__msd_sorting;

typedef struct hdst__msd_chunk {    // records of a bucket, in the order in which they came
    struct hdst__msd_chunk *next;
    uint64_t count;
    char rows[];
} hdst__msd_chunk;

typedef struct hdst__msd_open {     // the chunk of a bucket that is being filled: where the next record goes, and where none does any more
    char *at, *end;
} hdst__msd_open;

typedef struct hdst__msd_chunks {
    hdst__msd_open open[HDST__MSD_BUCKETS];
    void (*next)(struct hdst__msd_chunks *chunks, uint32_t bucket);     // opens another one, for which there is room already
} hdst__msd_chunks;

struct hdst__msd_digit;

// Loops over records, of a size that the compiler knows.
typedef struct hdst__msd_loops {
    uint64_t size;
    void (*look_at)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all);
    void (*count_buckets)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *counts);
    void (*deal_to_buckets)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *next);
    void (*deal_to_chunks)(hdst__msd_sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks);
    void (*count)(hdst__msd_sorting *s, const char *rows, uint64_t count, const struct hdst__msd_digit *digit, uint64_t *counts);
    void (*deal)(hdst__msd_sorting *s, const char *rows, uint64_t count, const struct hdst__msd_digit *digit, uint64_t *next, char *to);
    void (*insert)(hdst__msd_sorting *s, char *rows, uint64_t count);
} hdst__msd_loops;

const hdst__msd_loops *hdst__msd_loops_of(uint64_t size);      // NULL: records of that size do not move quickly
bool hdst__msd_stopped(hdst__msd_sorting *s);
// Records from `first` on until the next look at whether the run was cancelled; none: it was, or these are all.
uint64_t hdst__msd_end_of_block(hdst__msd_sorting *s, uint64_t first, uint64_t count);
void hdst__msd_run(hdst__msd_sorting *s, uint64_t count, void (*work)(void *user, uint64_t i));
uint64_t hdst__msd_workers(const hdst__msd_sorting *s);
// Of a job whose runs are the records, or a sample of those that are expected. NULL: no memory. To be freed by its allocator, pieces first.
hdst__msd_sorting *hdst__msd_begin(const hdst__msd_sort *sort, uint64_t expected);
// Whether threads can share the buckets, once `largest` is known: not nearly all of `count` records are in one.
bool hdst__msd_shares(const hdst__msd_sorting *s, uint64_t count);
// Records of a bucket come in order to `to`, where they may be already, as the only run. `scratch`: room for as many.
void hdst__msd_sort_bucket(hdst__msd_sorting *s, uint32_t bucket, const hdst__row_run *runs, uint64_t run_count, uint64_t count, char *to, char *scratch);

#endif
