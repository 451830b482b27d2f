// SPDX-License-Identifier: Apache-2.0
// What a run tells of itself, and the levels at which a reduction combines, with what enters and leaves each:
//     block    what one thread, strip or work-group has: its own table
//     device   what its blocks give
//     node     what the devices of a machine give
//     cluster  what the machines give
// The last step of a machine always combines: with one device it is the device's step that is left out of the levels, and what it does counts as the node's.
#ifndef HDST_ENGINE_COMMON_RUN_STATS_H
#define HDST_ENGINE_COMMON_RUN_STATS_H

#include "engine/common/options.h"

#include <stdint.h>

typedef struct hdst__level {        // one per level: "block", "device", "node"
    const char *name;
    uint64_t in, out;               // cells (or records) entering and leaving
} hdst__level;

typedef struct hdst__device_use {
    char name[128];
    uint64_t slices, records;
    double busy_seconds;
} hdst__device_use;

enum { HDST__MOST_DEVICES = 16 };

typedef struct hdst__run_stats {    // of the last run
    uint64_t records;
    uint64_t skipped;               // of them: records that failed and took no part
    uint32_t fast_sums;             // leaves of accumulators that were summed plainly, not exactly
    double total_seconds, read_seconds, compile_seconds, run_seconds;
    uint64_t host_peak, device_peak;                // bytes of memory that were in use at most; of the device that had the most
    uint64_t bytes_to_device, bytes_from_device;    // crossing into another memory; a zero-copy device has nothing to move
    uint64_t cache_hit_bytes, cache_miss_bytes;     // of cached inputs, as C structs: found where they had stayed, and read from where they come from
    hdst__device_use device[HDST__MOST_DEVICES];
    uint32_t device_count;
    hdst__level level[3];
    uint32_t level_count;
} hdst__run_stats;

// What one more device did: by the device's name, with its index behind where one of that name is there.
void hdst__run_stats_add_device(hdst__run_stats *stats, const hdst__device_use *use, const char *name, uint32_t index);

// Of what is done anew: that counts alone, but the time that it took and the bytes that crossed stay.
void hdst__run_stats_forget_counts(hdst__run_stats *stats);

// The counts of a reduction of `in` records to `out` of which blocks make `from_blocks`, if `highest` is the highest level that combines.
void hdst__levels_count(hdst__run_stats *stats, hdst__hpr highest, uint64_t in, uint64_t from_blocks, uint64_t out);

#endif
