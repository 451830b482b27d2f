// SPDX-License-Identifier: Apache-2.0
// Segments: blocks of managed memory that hold some records in one layout, and the ring of them through which an input streams.
#ifndef HDST_ENGINE_MEMORY_SEGMENT_H
#define HDST_ENGINE_MEMORY_SEGMENT_H

#include "engine/device/device.h"
#include "engine/memory/line_spans.h"
#include "engine/memory/reader.h"
#include "engine/memory/text_mirror.h"
#include "engine/memory/text_room.h"
#include "base/costs_host.h"
#include "record/needed_records.h"

typedef struct hdst__segment {
    const hdst__storage *storage;   // how the records lie in the memory now; it may be larger
    hdst__memory **memory;          // one per buffer
    uint32_t buffers;
    uint64_t first, count;          // the records that it holds, of the whole input
    _Atomic uint32_t users;         // slices of it that are in flight, and whoever submits them
    bool loaded;                    // of a cache that stays in part: it holds its records
    bool may_lack;                  // while it is filled: records that the reader knows nothing to come of may be left out
    hdst__needed_records needed;    // of one that streams, the others
    hdst__text_room texts;          // of its records, where the reader makes some
    hdst__text_mirror mirror;       // what they refer to, where kernels look at a copy of it
    bool may_tell;                  // while it is filled: of lines the reader may say where they are, in place of writing records
    hdst__line_notes lines;         //     which those are,
    bool device_makes;              //     of all records that it holds now: the device makes them
    struct hdst__segment *copied;   // of the ring: a copy on the host that goes to the device from where it lies, of which this is a user; NULL
    hdst__memory *own, lent;        // what memory[0] was before registered memory took its place (`own` is set then), and that
} hdst__segment;

typedef struct hdst__ring {         // made at first use, kept for all runs of an engine: wrapping memory takes 33 ms per GiB
    hdst__segment segment[HDST__HOST_RING_SEGMENTS];
    uint32_t count, next;
    uint32_t told;                  // of how few segments somebody was told
    uint64_t of_run;                // the last one that made one of them (hdst__runtime.runs)
} hdst__ring;

// Bytes that a record takes in any layout, padding of arrays and blocks aside.
uint64_t hdst__segment_record_bytes(const hdst__record *record);
// Of a segment through which an input streams, where so much is left of the budgets.
uint64_t hdst__segment_stream_records(const hdst__reader *reader, const hdst__device *device, uint64_t left);
// How many records of this layout go into `bytes`: at least one row of 64 (or block), a multiple of it, and no more than `records` needs.
uint64_t hdst__segment_records(const hdst__reader *reader, uint64_t bytes, uint64_t records);

// Memory for `storage`; `what` is for messages.
hdst_status hdst__segment_create(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, const hdst__storage *storage, const char *what,
                                 hdst__segment *segment, hdst_error *error);
void hdst__segment_destroy(hdst__device *device, hdst__segment *segment);   // safe on a zeroed one, and twice

// Makes the ring's segments large enough for `storage`, `count` of them at most; fewer when the budget is short, but one.
hdst_status hdst__ring_prepare(hdst__ring *ring, hdst__device *device, const hdst__storage *storage, uint32_t count, hdst_error *error);
void hdst__ring_destroy(hdst__ring *ring, hdst__device *device);

// Fills a segment that nobody uses with records [first, first + count) and hands it to the device. *moved counts the bytes that crossed into another memory.
hdst_status hdst__segment_load(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage,
                               uint64_t first, uint64_t count, uint64_t *moved, hdst_error *error);
// The same for a segment of the ring: records that lie in registered memory of the program's stay there, and are the segment's until it is loaded again.
hdst_status hdst__segment_stream(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, const hdst__storage *storage,
                                 uint64_t first, uint64_t count, uint64_t *moved, hdst_error *error);
// Fills memory of the host's alone with the segment's records.
hdst_status hdst__segment_fill(hdst__segment *segment, hdst__device *device, const hdst__reader *reader, hdst_error *error);
// As hdst__segment_stream, from a copy on the host that is loaded, to a segment that has room for it.
bool hdst__segment_has_room(const hdst__segment *segment, const hdst__storage *storage);
hdst_status hdst__segment_stream_copy(hdst__segment *segment, hdst__device *device, const hdst__segment *copy, uint64_t *moved, hdst_error *error);
void hdst__segment_let_copy_go(hdst__segment *segment);         // it is no longer `copied`'s user; nothing may be copied from that any more
// Where those records lie, if in registered memory that the device may read; NULL: elsewhere.
const char *hdst__segment_registered_rows(hdst__device *device, const hdst__reader *reader, const hdst__storage *storage, uint64_t first, uint64_t count);
// The same for a segment that the host cannot reach: piece by piece through `staging`; where the reader may be read by several threads, half of it is copied
// while the other is filled (staged_load.c). `piece` is the storage for a staging segment.
hdst_status hdst__segment_load_staged(hdst__segment *segment, hdst__segment *staging, const hdst__storage *piece, hdst__device *device,
                                      const hdst__reader *reader,
                                      uint64_t *moved, hdst_error *error);

#endif
