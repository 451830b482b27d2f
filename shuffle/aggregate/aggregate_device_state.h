// SPDX-License-Identifier: Apache-2.0
// The state of a reduction by key on a GPU: the object, its kernels and memory, what was chosen for the last run.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_STATE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_STATE_H

#include "shuffle/aggregate/aggregate_device.h"
#include "shuffle/aggregate/aggregate_kernels.h"
#include "engine/engine.h"
#include "engine/memory/store.h"

// The kernels, in the order of a run.
typedef enum hdst__hash_kernel {
    HDST__HASH_SAMPLE,
    HDST__HASH_SUM,
    HDST__HASH_SCAN,
    HDST__HASH_STARTS,
    HDST__HASH_COUNT,
    HDST__HASH_PLACE,
    HDST__HASH_COUNT_HEAVY,
    HDST__HASH_PLACE_HEAVY,
    HDST__HASH_COUNT_LOW,
    HDST__HASH_PLACE_LOW,
    HDST__HASH_DISTINCT,
    HDST__HASH_TOTAL,
    HDST__HASH_SPARE,
    HDST__HASH_WRITE,
    HDST__HASH_KERNELS,
} hdst__hash_kernel;

// The memory that they share.
typedef enum hdst__hash_memory {
    HDST__HASH_OF_SAMPLE,
    HDST__HASH_COUNTERS,
    HDST__HASH_SHARES,
    HDST__HASH_BASE,
    HDST__HASH_OF_STARTS,
    HDST__HASH_CHUNKS,
    HDST__HASH_TUPLES,
    HDST__HASH_OTHER_TUPLES,
    HDST__HASH_HEAVY_KEYS,
    HDST__HASH_HEAVY_WORDS,
    HDST__HASH_RANKED,
    HDST__HASH_SCALES,
    HDST__HASH_SPARES,
    HDST__HASH_SPARE_ROWS,
    HDST__HASH_ROWS_OF,
    HDST__HASH_STAGED,
    HDST__HASH_FAILED,
    HDST__HASH_MAP,
    HDST__HASH_MEMORIES,
} hdst__hash_memory;

enum { HDST__HASH_SAMPLED = 1 << 15, HDST__HASH_MAP_BITS = 22 };

typedef struct hdst__hash_choice {
    const void *of;                     // the cache that it was made for
    uint64_t records;                   // of it
    uint64_t sampled;
    double distinct;                    // keys, estimated
    bool known;                         // counted by a run
    bool few;                           // all keys of the sample are heavy hitters
    uint32_t heavy, heavy_places, seed, copies;     // heavy hitters; places of their table, and how many lanes' words a place has
    double misfits;                     // share of records with an addend that does not fit
    uint32_t bits;                      // of an addend
    uint32_t high_bits, low_bits;       // of partitions
    uint32_t slots, spread;             // of a partition's table that are used, and on which keys begin
    uint64_t spare_cells;
} hdst__hash_choice;

struct hdst__aggregate_device {
    hdst__engine *engine;
    hdst__device *device;               // NULL: not opened yet
    hdst__aggregation_layout *layout;
    hdst__arena arena;                  // of the text and of the storage that it was made for
    hdst__hash_shape shape;
    const hdst__storage *storage;       // that the text reads; NULL: there is no text
    hdst__tier tier[HDST__HASH_VALUES]; // that the text is for
    const char *text;
    hdst__kernel kernel[HDST__HASH_KERNELS];
    hdst__program *program[HDST__HASH_KERNELS];
    hdst__memory *memory[HDST__HASH_MEMORIES];
    hdst__store store;                  // the result
    hdst__hash_choice choice;
    uint64_t tuples, heavy_rows, spares, rows;     // of the last run
    uint32_t rounds;                    // times that tuples were put in order
    uint32_t attempts;                  // tables or spare cells that were too small are made larger
    char why_not[160];
};

#endif
