// SPDX-License-Identifier: Apache-2.0
// Thresholds of an engine that tests set to reach with little data what happens with much. Nobody else changes them; their values are in base/costs_*.h.
#ifndef HDST_ENGINE_COMMON_LIMITS_H
#define HDST_ENGINE_COMMON_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct hdst__tuning_shape;

enum { HDST__PACED_DEVICES = 8 };

typedef struct hdst__limits {
    // Devices.
    uint32_t binary_after;              // processes of a program until its binary is asked for; 0: as the driver is
    double grace_seconds;               // a device that goes on for so long after a cancel is given up
    // Stages.
    uint64_t share_bytes;               // of input that several devices share, at least
    uint64_t copies_after;              // times that a segment was read which does not stay, until it is kept on the host; UINT64_MAX: never; 0: chosen
    uint64_t slice_records;             // of every slice, as far as there is room; 0: chosen
    double join_seconds;                // of work that a device of another class than the first's joins, behind it
    bool named_join;                    // devices that are named by their indices do so as others, the interpreter too
    const struct hdst__policy *policy;          // for runs of several workers, in place of those of the table; NULL: none
    uint32_t slow_device;               // this one, by index, takes slow_times as long, for tests and benches of schedules; slow_times 0: none
    double slow_times;
    double pace[HDST__PACED_DEVICES];   // by index: seconds that a record takes there at least, likewise; 0: as long as it does
    uint64_t combine_least;             // records that a function gives before they are looked for in tables of the cores,
    uint32_t combine_bits;              // of so many rows at most (their logarithm; a GPU's table: of so many); 0: chosen
    uint64_t combine_room;              // records that have room beside a GPU's table; 0: as many as there is memory for
    uint64_t tuning_least;              // records of a slice whose time is compared, fewer when they are large
    double (*tuning_clock)(const struct hdst__tuning_shape *shape, uint64_t records, void *user);  // in place of the device's; NULL: none
    void *tuning_clock_user;
    uint32_t most_row_passes;           // over ranges of the rows of accumulators, before they go by way of tuples; 0: chosen
    double sample_seconds;              // what a look at the data may take, about
    uint64_t scatter_least;             // bytes of a table of accumulators of which several devices make the rows, a part each;
    uint64_t scatter_piece;             //     of its words that one of them gets at a time
    // Sorting and reductions by key (shuffle/), which find them here because tests reach an engine.
    uint64_t pick_least;                // records of which a kernel picks candidates for the largest values; fewer pass by on the host
    uint64_t sort_least;                // records that a device sorts; fewer are sorted on the host, without a compiler
    uint64_t sort_large_least;          // that a GPU sorts in large tiles where they are keys alone
    uint64_t sort_sample_bytes;         // of the first records that come to a sort slice by slice, by which the buckets of all are chosen;
    uint32_t sort_dealing_threads;      //     by so many threads at most
    bool sort_by_kernels;               // CPU devices sort small records as others, in place of the host's threads
    uint64_t by_key_device_least;       // records that a device reduces by key
    uint64_t by_key_slice_least;        // records of a slice with texts in their keys that it does
    uint64_t by_key_slice_rows, by_key_slice_homes;     // of them: rows that stay there; values of their hash. 0: as many as there is room for
    uint32_t by_key_table_bits, by_key_partition_bits;       // sizes of tables and number of parts; 0: chosen
    uint64_t by_key_look_after, by_key_full;            // hdst__aggregation_layout's, in host memory; 0: as they are
    uint64_t by_key_least_cells;        // from how many cells on hdst__aggregate_suits_rows, on any device; 0: chosen
    // What the last reduction by key in host memory tells.
    uint64_t by_key_moved[3];           // rows with such words that left threads' tables, piles, and parts' tables or runs
    uint64_t by_key_longest;            // places between a key's home in a table and its place, at most
} hdst__limits;

#endif
