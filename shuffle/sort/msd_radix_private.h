// SPDX-License-Identifier: Apache-2.0
// What sorts from the highest digit share, of records that lie there and of those that come a slice at a time (msd_radix.c, msd_slices.c).
#ifndef HDST_SHUFFLE_SORT_MSD_RADIX_PRIVATE_H
#define HDST_SHUFFLE_SORT_MSD_RADIX_PRIVATE_H

#include "shuffle/sort/msd_radix.h"

#include <stdatomic.h>

enum { HDST__MSD_FIELDS = 8, HDST__MSD_WORDS = 4, HDST__MSD_PACKED = 8 /* bytes of a packed record */,
       HDST__MSD_BUCKETS = 1 << 10, HDST__MSD_SLOT_BITS = 14, HDST__MSD_SLOTS = 1 << HDST__MSD_SLOT_BITS };

typedef struct hdst__msd_piece {    // records of one run or of several in a row
    const hdst__row_run *run;       // the first one
    uint64_t first, count;          // records of it that are in front of the piece; of the piece
    uint64_t place[HDST__MSD_BUCKETS];      // of its records in a bucket: how many, then where the next one goes
} hdst__msd_piece;

// Records whose words of eight bytes differ in 64 bits at most, together, as one number: of each word the lowest bits, as many as may differ.
typedef struct hdst__msd_packing {
    uint64_t base[HDST__MSD_WORDS], mask[HDST__MSD_WORDS];      // a word is its base and, below, bits of the mask
    uint32_t place[HDST__MSD_WORDS];                            // of these in the number
} hdst__msd_packing;

typedef struct hdst__msd_sorting {
    const hdst__msd_sort *sort;
    const hdst__msd_packing *packing;       // records of runs are packed; NULL: they are as they came
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
    _Alignas(16) char rows[];
} hdst__msd_chunk;

typedef struct hdst__msd_open {     // the chunk of a bucket that is being filled: where the next record goes, and where none does any more
    char *at, *end;
} hdst__msd_open;

typedef struct hdst__msd_chunks {
    hdst__msd_open open[HDST__MSD_BUCKETS];
    void (*next)(struct hdst__msd_chunks *chunks, uint32_t bucket);     // opens another one, for which there is room already
} hdst__msd_chunks;

typedef struct hdst__msd_digit {    // of a key: so many bits above `shift` of what it has more than the base
    uint64_t base;
    uint32_t shift, bits;
} hdst__msd_digit;

// Loops over records, of a size that the compiler knows.
typedef struct hdst__msd_loops {
    uint64_t size;                  // of a record where these read it; what they deal from one place to another they leave as it came
    void (*look_at)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all);
    void (*count_buckets)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *counts);
    void (*deal_to_buckets)(hdst__msd_sorting *s, const char *rows, uint64_t count, uint64_t *next);
    void (*deal_to_chunks)(hdst__msd_sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks);
    void (*count)(hdst__msd_sorting *s, const char *rows, uint64_t count, const hdst__msd_digit *digit, uint64_t *counts);
    void (*deal)(hdst__msd_sorting *s, const char *rows, uint64_t count, const hdst__msd_digit *digit, uint64_t *next, char *to);
    void (*copy)(hdst__msd_sorting *s, const char *rows, uint64_t count, char *to);
    void (*insert)(hdst__msd_sorting *s, char *rows, uint64_t count);
} hdst__msd_loops;

const hdst__msd_loops *hdst__msd_loops_of(uint64_t size);      // NULL: records of that size do not move quickly
// The same of packed records; deal_to_chunks packs them. NULL: they would not be smaller. Some are missing: what deals from the input, and `insert`.
const hdst__msd_loops *hdst__msd_packed_loops_of(uint64_t size);
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

// Which bits differ in any record from those of `first`, beside those that are in `differ` already. `size`: of a record, for which there are packed loops.
void hdst__msd_differ(const char *first, const char *rows, uint64_t count, uint64_t size, uint64_t differ[HDST__MSD_WORDS]);
// Bits that are left are for those above, which records that are still to come may differ in. False: more than 64 differ.
bool hdst__msd_packing_choose(hdst__msd_packing *packing, const char *first, const uint64_t differ[HDST__MSD_WORDS], uint64_t size);
void hdst__msd_repack(char *rows, uint64_t count, const hdst__msd_packing *from, const hdst__msd_packing *to);

#define HDST__MSD_INLINE static inline __attribute__((always_inline))

HDST__MSD_INLINE uint64_t hdst__msd_key_of(const hdst__msd_sorting *s, const char *row)
{
    const hdst__sort_field *field = s->sort->fields;
    uint64_t key = hdst__sort_number(field, s->class[0], row);
    for (size_t i = 1; i < s->sort->field_count; i++) key = key << field[i].bits | hdst__sort_number(&field[i], s->class[i], row);
    return key;
}

// Keys apart from nearly all others come to the first slot or the last one.
HDST__MSD_INLINE uint32_t hdst__msd_slot_of(const hdst__msd_sorting *s, uint64_t key)
{
    const uint64_t slot = key < s->least ? 0 : (key - s->least) >> s->shift;
    return slot < HDST__MSD_SLOTS ? (uint32_t)slot : HDST__MSD_SLOTS - 1;
}

HDST__MSD_INLINE uint32_t hdst__msd_bucket_of(const hdst__msd_sorting *s, uint64_t key) { return s->bucket[hdst__msd_slot_of(s, key)]; }

HDST__MSD_INLINE uint64_t hdst__msd_digit_of(const hdst__msd_sorting *s, const char *row, hdst__msd_digit d)
{
    return (hdst__msd_key_of(s, row) - d.base) >> d.shift & (((uint64_t)1 << d.bits) - 1);
}

#endif
