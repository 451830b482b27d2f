// SPDX-License-Identifier: Apache-2.0
// The state of a reduction by key on a GPU: the object, its kernels and memory, what was chosen for the last run.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_STATE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_STATE_H

#include "shuffle/aggregate/aggregate_device.h"
#include "shuffle/aggregate/aggregate_kernels.h"
#include "engine/engine.h"
#include "engine/memory/store.h"
#include "base/costs_gpu.h"

// The kernels, in the order of a run.
typedef enum hdst__aggregate_device_kernel {
    HDST__AGGREGATE_SAMPLE,
    HDST__AGGREGATE_SUM,
    HDST__AGGREGATE_SCAN,
    HDST__AGGREGATE_STARTS,
    HDST__AGGREGATE_STARTS_HIGH,
    HDST__AGGREGATE_COUNT,
    HDST__AGGREGATE_COUNT_ALL,
    HDST__AGGREGATE_PLACE,
    HDST__AGGREGATE_COUNT_HEAVY,
    HDST__AGGREGATE_PLACE_HEAVY,
    HDST__AGGREGATE_PLACE_MANY,
    HDST__AGGREGATE_PLACE_MANY_HEAVY,
    HDST__AGGREGATE_COUNT_LOW,
    HDST__AGGREGATE_PLACE_LOW,
    HDST__AGGREGATE_DISTINCT,
    HDST__AGGREGATE_TOTAL,
    HDST__AGGREGATE_TELL,
    HDST__AGGREGATE_FINISH_OVERFLOW,
    HDST__AGGREGATE_WRITE,
    HDST__AGGREGATE_WRITE_STATE,
    HDST__AGGREGATE_ROWS_PLACE,         // aggregate_device_rows.c
    HDST__AGGREGATE_ROWS_SORT,
    HDST__AGGREGATE_ROWS_ADD,
    HDST__AGGREGATE_ROWS_COUNT,
    HDST__AGGREGATE_ROWS_WRITE,
    HDST__AGGREGATE_KERNELS,
} hdst__aggregate_device_kernel;

// The memory that they share.
typedef enum hdst__aggregate_device_memory {
    HDST__AGGREGATE_OF_SAMPLE,
    HDST__AGGREGATE_COUNTERS,
    HDST__AGGREGATE_SHARES,
    HDST__AGGREGATE_LEFT,
    HDST__AGGREGATE_OF_STARTS,
    HDST__AGGREGATE_HIGH_PLACES,
    HDST__AGGREGATE_HIGH_STARTS,
    HDST__AGGREGATE_TUPLES,
    HDST__AGGREGATE_OTHER_TUPLES,
    HDST__AGGREGATE_HEAVY_KEYS,
    HDST__AGGREGATE_HEAVY_WORDS,
    HDST__AGGREGATE_RANKED,
    HDST__AGGREGATE_SCALES,
    HDST__AGGREGATE_OVERFLOW,
    HDST__AGGREGATE_ROWS_OF_OVERFLOW,
    HDST__AGGREGATE_ROWS_OF,
    HDST__AGGREGATE_STAGED,
    HDST__AGGREGATE_TOLD,
    HDST__AGGREGATE_MAP,
    HDST__AGGREGATE_STATES,
    HDST__AGGREGATE_ROW_ORDER,
    HDST__AGGREGATE_ROW_WORDS,
    HDST__AGGREGATE_ROW_SEEN,
    HDST__AGGREGATE_MEMORIES,
} hdst__aggregate_device_memory;

typedef struct hdst__aggregate_device_choice {
    const void *of;                     // the cache that it was made for
    uint64_t records, version;          // of it
    uint64_t sampled;
    double distinct;                    // keys, estimated
    bool known;                         // counted by a run, or by one that had too little room
    bool counted;                       // by one that went well,
    uint64_t rows;                      //     which had so many
    bool crowded;                       // a table was too small for keys that were no more than expected
    bool few;                           // all keys of the sample are heavy hitters
    uint32_t heavy, heavy_places, seed, copies;     // heavy hitters; places of their table, and how many lanes' words a place has
    double exceptions;                     // share of records with an addend that does not fit
    uint32_t bits;                      // of an addend
    uint32_t high_bits, low_bits;       // of partitions
    uint32_t slots, spread;             // of a partition's table that are used, and on which keys begin
    uint64_t overflow_cells;
} hdst__aggregate_device_choice;

struct hdst__aggregate_device {
    hdst__engine *engine;
    hdst__device *device;               // NULL: not opened yet
    bool refuses_many;                  // its driver does: work-groups that put records in order of most partitions
    bool given;                         // it is not the engine's first
    bool states;                        // rows are to be left unfinished
    uint64_t keys_below;                // all keys are said to be below this; 0: nothing is said
    uint64_t ready_for;                 // the order of the keys below this is there, and words of them that are clear; 0: they are not
    bool in_rows;                       // the last run had a row for each key there may be
    hdst__aggregation_layout *layout;
    hdst__arena arena;                  // of the text and of the storage that it was made for
    hdst__aggregate_kernel_shape shape;
    const hdst__storage *storage;       // that the text reads; NULL: there is no text
    hdst__precision_class precision[HDST__AGGREGATE_VALUES]; // that the text is for
    const char *text;
    hdst__kernel kernel[HDST__AGGREGATE_KERNELS];
    hdst__program *program[HDST__AGGREGATE_KERNELS];
    hdst__memory *memory[HDST__AGGREGATE_MEMORIES];
    hdst__store store;                  // the result
    hdst__aggregate_device_choice choice;
    int32_t scales[HDST__AGGREGATE_VALUES + 1];      // as the device has them, by their sums
    uint64_t last_overflow_place;       // of the overflow table
    uint64_t tuples, heavy_rows, overflow, rows;     // of the last run
    uint32_t rounds;                    // times that tuples were put in order
    bool counted_at_once;               // the partitions of both times, in one pass over the records
    uint32_t attempts;                  // tables or overflow cells that were too small are made larger
    char why_not[160];
    bool may_do_later;                  // it was memory that the last run had none of
};

#endif
