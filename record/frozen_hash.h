// SPDX-License-Identifier: Apache-2.0
// Where a key stands in a frozen hash table (shuffle/join/frozen_table.h), the same for who builds it and for the kernels that read it.
//
// A key is words of 64 bits, a number in each, signed ones extended, or of a text its hash and length together (texts that end in zeros may have the hash of
// shorter ones, as "b\0" has that of "a"; of one length they hardly share one). Its hash h has 64 bits; of keys of one number no two share it. The upper half
// names a part of the table and a bucket of it, and what the bucket's displacement makes of all of h names the only slot of the part where the key can stand:
// "hash and displace" (Pagh, 1999; Belazzougui, Botelho, Dietzfelbinger, 2009). A lookup is two loads that miss caches, and no loop.
//
// Parts have equal numbers of buckets and of slots, one part's behind another's: each is made by a thread of its own, within its cache.
//
// The displacements are a table of uint32_t: HDST__FROZEN_SEED and so on, then a row for each bucket, of which a part has one at least.
#ifndef HDST_RECORD_FROZEN_HASH_H
#define HDST_RECORD_FROZEN_HASH_H

#include <stdint.h>

enum {
    HDST__FROZEN_SEED = 0,          // what hashes start from
    HDST__FROZEN_KEYS = 1,          // how many keys there are
    HDST__FROZEN_PARTS = 2,         // how many parts
    HDST__FROZEN_PART_SLOTS = 3,    // slots of each
    HDST__FROZEN_BUCKETS = 4,       // the first bucket's displacement
};

#define HDST__FROZEN_START UINT64_C(0x9e3779b97f4a7c15)     // times the seed and 1
#define HDST__FROZEN_WORD UINT64_C(0xff51afd7ed558ccd)
#define HDST__FROZEN_LAST UINT64_C(0xc4ceb9fe1a85ec53)
#define HDST__FROZEN_DISPLACE UINT64_C(0x9e3779b97f4a7c15)
#define HDST__FROZEN_SLOT UINT64_C(0xd6e8feb86659fd93)

static inline uint64_t hdst__frozen_begin(uint32_t seed) { return HDST__FROZEN_START * ((uint64_t)seed + 1); }

static inline uint64_t hdst__frozen_add(uint64_t h, uint64_t word)
{
    h = (h ^ word) * HDST__FROZEN_WORD;
    return h ^ h >> 32;
}

static inline uint64_t hdst__frozen_end(uint64_t h) { return h * HDST__FROZEN_LAST; }

// Of `buckets`, below 2^32.
static inline uint64_t hdst__frozen_bucket(uint64_t h, uint64_t buckets) { return (h >> 32) * buckets >> 32; }

// Of `parts`, of which the number of buckets is a multiple.
static inline uint64_t hdst__frozen_part(uint64_t h, uint64_t parts) { return (h >> 32) * parts >> 32; }

// Of `slots` of the key's part, below 2^32.
static inline uint64_t hdst__frozen_slot(uint64_t h, uint32_t displacement, uint64_t slots)
{
    return ((h ^ displacement * HDST__FROZEN_DISPLACE) * HDST__FROZEN_SLOT >> 32) * slots >> 32;
}

#endif
