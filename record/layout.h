// SPDX-License-Identifier: Apache-2.0
// Where a record's values lie in memory, for every layout. One address rule covers all:
//     buffer + offset + (i / block) * block_stride + (i % block) * stride + element part
#ifndef HDST_RECORD_LAYOUT_H
#define HDST_RECORD_LAYOUT_H

#include "record/type.h"

typedef struct hdst__leaf_address {
    uint32_t buffer;            // number of the buffer; 0 unless the layout is AoP (one buffer per leaf)
    uint64_t offset;            // bytes from the buffer's start to element 0 of record 0
    uint64_t stride;            // bytes between record i and i + 1 (within a block)
    uint64_t block_stride;      // AoSoA: bytes between blocks; else 0
    uint64_t element_stride;    // SoA, AoSoA, AoP: bytes between element e and e + 1 of one record; AoS: 0, take hdst__leaf_offset
} hdst__leaf_address;

// `capacity` records of one type laid out in one or more buffers.
typedef struct hdst__storage {
    const hdst__record *record;
    hdst__layout layout;
    uint64_t block;             // AoSoA: records of a block, a power of two; else 0: (i / block) is 0 and (i % block) is i
    uint64_t capacity;          // records; for AoSoA rounded up to whole blocks
    const hdst__leaf_address *leaf;     // one per leaf of the record
    uint32_t buffers;           // 1, or the number of leaves for AoP
    const uint64_t *buffer_bytes;       // one per buffer
    const struct hdst__bytes_place *text;       // record/text_bytes.h: of records with texts, set by who wants it filled from elsewhere; else NULL
    struct hdst__needed_records *needed;        // record/needed_records.h: all; who fills it may set it to fewer, and writes no others. NULL: all
    const struct hdst__line_blocks *lines;      // record/line_blocks.h: who fills it with lines may say where they are instead. NULL: it writes records
} hdst__storage;

// Arrays of SoA and AoP start at multiples of 64 bytes (a cache line, and the widest vector). Lives in the arena. For
// AoSoA a block of 0 means the record's own, or 256; other layouts ignore it. NULL when the storage would be larger
// than 2^60 bytes.
const hdst__storage *hdst__storage_make(hdst__arena *arena, const hdst__record *record, hdst__layout layout, uint64_t block, uint64_t capacity);
uint64_t hdst__storage_bytes(const hdst__storage *storage);                     // all buffers together
// Bytes from the start of the leaf's buffer to element e of record i.
uint64_t hdst__storage_offset(const hdst__storage *storage, uint32_t leaf, uint64_t i, uint64_t element);
// Copies `count` records between any two storages of the same record (or of records with equal leaves). Buffers are arrays of base pointers;
// they must not overlap. Padding between the fields of C structs is left alone or copied, never read as a value.
void hdst__storage_copy(const hdst__storage *to, void *const *to_buffers, uint64_t to_first,
                        const hdst__storage *from, const void *const *from_buffers, uint64_t from_first, uint64_t count);

#endif
