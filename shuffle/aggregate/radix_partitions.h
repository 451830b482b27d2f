// SPDX-License-Identifier: Apache-2.0
// Records of one size, apart by the upper bits of their hash: what a container passes on to the next level. Each partition is a list of chunks. A few records
// of a partition are gathered in a line of their own first, which goes to the chunk in whole cache lines and past the caches.
#ifndef HDST_SHUFFLE_AGGREGATE_RADIX_PARTITIONS_H
#define HDST_SHUFFLE_AGGREGATE_RADIX_PARTITIONS_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct hdst__partition_chunk {
    struct hdst__partition_chunk *next;
    uint64_t bytes;                     // of records
    char *data;                         // at a multiple of 64
} hdst__partition_chunk;

// Where chunks come from: `bytes` at a multiple of 64, or NULL.
typedef void *(*hdst__chunk_memory)(void *user, uint64_t bytes);

typedef struct hdst__radix_partition {
    char *at, *end;                     // of the last chunk
    hdst__partition_chunk *first, *last;
} hdst__radix_partition;

typedef struct hdst__radix_partitions {
    const hdst__allocator *allocator;
    hdst__chunk_memory more;
    void *user;
    uint32_t bits;                      // 1 << bits partitions
    uint32_t record_bytes, group;       // group: records of a line
    uint64_t chunk_room, chunk_bytes;   // asked of `more` for records, beside the head; of them used: whole lines
    hdst__radix_partition *partition;
    uint8_t *fill;                      // records in each line
    char *line_memory, *line;
} hdst__radix_partitions;

// record_bytes is a multiple of 4. false: no memory. Fine to destroy when zeroed; chunks belong to whoever gave the memory.
bool hdst__radix_partitions_create(hdst__radix_partitions *partitions, const hdst__allocator *allocator, uint32_t bits, uint32_t record_bytes,
                                   hdst__chunk_memory more, void *user);
void hdst__radix_partitions_destroy(hdst__radix_partitions *partitions);
// Chunks of at most `bytes` from now on, or of one line where that is larger. Before any is taken.
void hdst__radix_partitions_limit(hdst__radix_partitions *partitions, uint64_t bytes);
// The chunks of a partition: it has none then. Records in its line stay there.
hdst__partition_chunk *hdst__radix_partitions_detach(hdst__radix_partitions *partitions, uint32_t partition);
// Records behind those of the partition's chunks, not by way of its line. false: no memory
bool hdst__radix_partitions_put(hdst__radix_partitions *partitions, uint32_t partition, const void *records, uint64_t count);
void hdst__radix_partitions_seal(hdst__radix_partitions *partitions,
                                 uint32_t partition); // behind the last one put: lines go to another chunk, where they lie aligned
bool hdst__radix_partitions_flush_line(hdst__radix_partitions *partitions, uint32_t partition);        // false: no memory
bool hdst__radix_partitions_end(hdst__radix_partitions *partitions);                              // all lines; chunks are complete then

static inline uint32_t hdst__radix_partitions_number(const hdst__radix_partitions *partitions, uint32_t hash)
{
    return partitions->bits ? hash >> (32 - partitions->bits) : 0;
}

// The place for the next record of a partition, and what follows once it is there.
static inline char *hdst__radix_partitions_next(hdst__radix_partitions *partitions, uint32_t partition)
{
    return partitions->line + ((uint64_t)partition * partitions->group + partitions->fill[partition]) * partitions->record_bytes;
}

static inline bool hdst__radix_partitions_added(hdst__radix_partitions *partitions, uint32_t partition)
{
    return ++partitions->fill[partition] < partitions->group || hdst__radix_partitions_flush_line(partitions, partition);
}

// Records of 8 bytes: a hash and 4 bytes of value, which lie `stride` bytes apart.
bool hdst__radix_partitions_add_tuples(hdst__radix_partitions *partitions, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count);
// Records of 16 bytes: a hash, 4 bytes that mean nothing, and 8 bytes of value.
bool hdst__radix_partitions_add_wide_tuples(hdst__radix_partitions *partitions, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count);

#endif
