// SPDX-License-Identifier: Apache-2.0
// Records of one size, apart by the upper bits of their hash: what a container passes on to the next level. Each part is a list of chunks. A few records of a part are
// gathered in a line of their own first, which goes to the chunk in whole cache lines and past the caches.
#ifndef HDST_SHUFFLE_AGGREGATE_RADIX_PARTITIONS_H
#define HDST_SHUFFLE_AGGREGATE_RADIX_PARTITIONS_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct hdst__key_chunk {
    struct hdst__key_chunk *next;
    uint64_t bytes;                     // of records
    char *data;                         // at a multiple of 64
} hdst__key_chunk;

// Where chunks come from: `bytes` at a multiple of 64, or NULL.
typedef void *(*hdst__key_memory)(void *user, uint64_t bytes);

typedef struct hdst__key_part {
    char *at, *end;                     // of the last chunk
    hdst__key_chunk *first, *last;
} hdst__key_part;

typedef struct hdst__key_parts {
    const hdst__allocator *allocator;
    hdst__key_memory more;
    void *user;
    uint32_t bits;                      // 1 << bits parts
    uint32_t record_bytes, group;       // group: records of a line
    uint64_t chunk_room, chunk_bytes;   // asked of `more` for records, beside the head; of them used: whole lines
    hdst__key_part *part;
    uint8_t *fill;                      // records in each line
    char *line_memory, *line;
} hdst__key_parts;

// record_bytes is a multiple of 4. false: no memory. Fine to destroy when zeroed; chunks belong to whoever gave the memory.
bool hdst__key_parts_create(hdst__key_parts *parts, const hdst__allocator *allocator, uint32_t bits, uint32_t record_bytes, hdst__key_memory more, void *user);
void hdst__key_parts_destroy(hdst__key_parts *parts);
// Chunks of at most `bytes` from now on, or of one line where that is larger. Before any is taken.
void hdst__key_parts_limit(hdst__key_parts *parts, uint64_t bytes);
// The chunks of a part: it has none then. Records in its line stay there.
hdst__key_chunk *hdst__key_parts_detach(hdst__key_parts *parts, uint32_t part);
// Records behind those of the part's chunks, not by way of its line. false: no memory
bool hdst__key_parts_put(hdst__key_parts *parts, uint32_t part, const void *records, uint64_t count);
void hdst__key_parts_seal(hdst__key_parts *parts, uint32_t part);      // behind the last one put: lines go to another chunk, where they lie aligned
bool hdst__key_parts_flush_line(hdst__key_parts *parts, uint32_t part);        // false: no memory
bool hdst__key_parts_end(hdst__key_parts *parts);                              // all lines; chunks are complete then

static inline uint32_t hdst__key_parts_of(const hdst__key_parts *parts, uint32_t hash) { return parts->bits ? hash >> (32 - parts->bits) : 0; }

// The place for the next record of a part, and what follows once it is there.
static inline char *hdst__key_parts_next(hdst__key_parts *parts, uint32_t part)
{
    return parts->line + ((uint64_t)part * parts->group + parts->fill[part]) * parts->record_bytes;
}

static inline bool hdst__key_parts_added(hdst__key_parts *parts, uint32_t part)
{
    return ++parts->fill[part] < parts->group || hdst__key_parts_flush_line(parts, part);
}

// Records of 8 bytes: a hash and 4 bytes of value, which lie `stride` bytes apart.
bool hdst__key_parts_add_pairs(hdst__key_parts *parts, const uint32_t *hash, const char *value, uint64_t stride, uint32_t count);

#endif
