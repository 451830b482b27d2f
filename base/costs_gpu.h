// SPDX-License-Identifier: Apache-2.0
// Costs of GPUs: sizes and numbers of records at which the engine chooses another way on them, each with its unit and where it was
// measured.
#ifndef HDST_BASE_COSTS_GPU_H
#define HDST_BASE_COSTS_GPU_H

enum {
    // Work-groups per compute unit.
    HDST__GPU_GROUPS_PER_UNIT = 32,         // KMeans of 100M points takes 1.63, 1.62, 1.56, 1.68 ms with 8, 16, 32, 64 of them
    HDST__GPU_PART_GROUPS_PER_UNIT = 24,    // by way of pairs: several times as many as have room at once. Chosen, not measured
    HDST__GPU_TABLE_GROUPS_PER_UNIT = 8,    // with a table in device memory for each of them. Chosen, not measured
    HDST__GPU_PLAIN_GROUPS_PER_UNIT = 128,  // without tables: a * x + b runs at 0.91, 0.94, 0.95 of the speed of a copy with 32, 64, 128 of them
    HDST__GPU_FINISH_GROUPS_PER_UNIT = 16,  // of the kernel that makes rows of accumulators. Chosen, not measured

    HDST__GPU_TABLE_SHARE = 8,              // of the device's memory that is left: for tables of work-groups there. Chosen, not measured
    HDST__GPU_OUTPUT_BYTES = 256 << 20,     // output records of a slice: one that is soon over leaves a GPU idle. Chosen, not measured

    // Additions in device memory or by way of pairs. H200, 200M records: additions in device memory take 2.4, 2.1, 2.2, 9.4, 12 ms with 64k, 256k, 1M,
    // 16M, 100M rows, pairs 1.9, 2.0, 2.8, 3.5, 4.8.
    HDST__GPU_LEAST_PARTED = 1 << 20,       // records of a slice, for pairs
    HDST__GPU_MOST_PARTED = 1 << 30,        // records of a slice
    HDST__GPU_FEW_WORDS = 400000,           // words of a table: up to here pairs
    HDST__GPU_CACHED_WORDS = 2 << 20,       // words of a table that stays in the second-level cache: above, pairs again

    HDST__GPU_LEAST_FINISHED = 64 << 10,    // bytes of a table: below, the host reads and rounds it as quickly as another kernel starts

    // From so many records on a device works, fewer stay on the host. Chosen, not measured
    HDST__GPU_SORT_LEAST = 1 << 18,         // sorted
    HDST__GPU_PICK_LEAST = 1 << 19,         // looked through for candidates for the largest values
    HDST__GPU_BY_KEY_LEAST = 1 << 18,       // reduced by key

    // A search for the quickest shape (engine/stage/shape_search.h). Chosen, not measured
    HDST__GPU_TUNING_LEAST = 1 << 20,       // records of a slice whose time says something of its shape: a tenth of a millisecond or more on a large GPU,
    HDST__GPU_TUNING_BYTES = 8 << 20,       // or so many bytes of them,
    HDST__GPU_TUNING_FEWEST = 1 << 14,      // but no fewer records than these
    HDST__GPU_TRIED_LEAST_GROUP = 64, HDST__GPU_TRIED_MOST_GROUP = 512,     // work-items
    HDST__GPU_TRIED_MOST_RECORDS = 8,       // of a lane

    // Fixed-point accumulators. Chosen, not measured
    HDST__GPU_LEAST_SPARE_CELLS = 1 << 10,  // of the overflow table
    HDST__GPU_SPARE_BYTES = 128 << 20, HDST__GPU_SPARE_SHARE = 16,      // the overflow table; its share of what is left
    HDST__GPU_HOT_PAIRS = 3,                // equal rows among a sample's: then additions in device memory wait for each other

    // Reductions by key and sorts. Chosen, not measured
    HDST__GPU_HASH_GROUPS_PER_UNIT = 16,    // work-groups that take records apart
    HDST__GPU_SCAN_GROUPS_PER_UNIT = 2,     // work-groups that count
    HDST__GPU_SORT_GROUPS_PER_UNIT = 8, HDST__GPU_SORT_GROUP = 256,         // work-groups; work-items of one
    HDST__GPU_SORT_KEY_BYTES = 64,          // keys of a lane
    HDST__GPU_SORT_LOCAL_BYTES = 40 << 10,  // local memory of a work-group

    HDST__GPU_SMALL_COPY_BYTES = 64 << 10,  // a copy that goes the way of the launches: overlapped it saves less than a wait between queues. Chosen
};

// Asking a GPU whether it is through: at first all the time, then in pauses, a share of what has passed. Chosen, not measured.
#define HDST__GPU_BUSY_SECONDS 10e-3
#define HDST__GPU_PAUSE_SHARE (1.0 / 256)
#define HDST__GPU_PAUSE_SECONDS 5e-3            // the longest

#define HDST__GPU_COMPILE_SHARE 4               // shapes that need a compiler are tried once a kernel was busy for so many times the time of compiling. Chosen
#define HDST__GPU_COMPILE_SECONDS 0.3           // of a kernel, as a guess

#endif
