// SPDX-License-Identifier: Apache-2.0
// The state of a reduction by key: the object, a run of it, a thread of a run. What works on it is in the headers of its steps.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_RUN_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_RUN_H

#include "shuffle/aggregate/aggregate.h"
#include "shuffle/aggregate/aggregate_device.h"
#include "engine/engine.h"
#include "engine/memory/spill.h"
#include "shuffle/aggregate/aggregate_piece.h"
#include "shuffle/aggregate/direct_table.h"
#include "shuffle/aggregate/key_keeper.h"
#include "shuffle/aggregate/key_table.h"
#include "shuffle/aggregate/radix_partitions.h"
#include "shuffle/aggregate/row_sorter.h"
#include "shuffle/aggregate/overflow_rows.h"

typedef struct hdst__aggregate_choice {
    uint64_t sampled;                   // records
    double distinct;                    // keys, estimated
    double rows;                        // the same by halves of the sample
    bool blocks;                        // threads have tables
    bool sorted;                        // partitions are sorted, in place of tables
    uint32_t block_bits, partition_bits, table_bits;     // rows of a thread's table; partitions; rows of a partition's table at first
    uint32_t class_count[HDST__CLASS_SUPERACCUMULATOR + 1];       // float sums by how they are held
    char why[160];
} hdst__aggregate_choice;

typedef struct hdst__aggregate_slab {      // memory for chunks
    struct hdst__aggregate_slab *next;
    uint64_t bytes;
} hdst__aggregate_slab;

// What a thread wrote at once: where the records of a partition are. A directory of these (of raw records, by partition; then of rows, by partition) is in the
// file, behind them.
typedef struct hdst__aggregate_spilled {
    uint64_t offset, bytes;
    uint64_t before;                    // where the entry for the same partition is in the directory written before; UINT64_MAX: this is the first
} hdst__aggregate_spilled;

typedef struct hdst__aggregate_result {    // of a partition
    uint64_t first, count;              // in the whole result; `first` of a partition is known once that of the partition before it and its count are
    char *records;                      // NULL: they are where they belong
    bool passes;                        // the budget has no room for them: they are in the file
} hdst__aggregate_result;

typedef struct hdst__aggregate_extent {    // records of the input that lie in the host's memory
    const hdst__storage *storage;
    const void *const *buffers;
    uint64_t first, count;              // of the input; the storage begins with them
} hdst__aggregate_extent;

typedef struct hdst__aggregate_stretch {     // some records, to be taken apart
    const hdst__storage *storage;
    const void *const *buffers;
    uint64_t at, count;                 // place in the storage
    uint64_t first;                     // of the input
    bool unread;                        // its records are still to be read, which several threads may do at once
} hdst__aggregate_stretch;

typedef struct hdst__aggregation {
    hdst__aggregate *aggregate;
    hdst__engine *engine;
    const hdst__aggregate_input *input;    // NULL: records come in slices
    uint64_t records;                   // that may be expected
    hdst__arena *arena;                 // of the run
    uint64_t room;                      // bytes that the budget had left when the run began: what all its memory is a share of
    hdst__aggregate_extent *extent;
    uint64_t extents;                   // 0: records are copied in pieces
    hdst__aggregation_layout *layout;
    hdst__aggregate_choice choice;
    bool has_cache;                     // the input's cache is the host's, until it is given back
    uint32_t opened;                    // the same of so many of its parts, if it lies on several devices
    const hdst__storage *copied;        // of records that are copied and taken apart in one go
    pthread_mutex_t lock;               // of what follows
    pthread_cond_t counted;             // a partition's rows were, or the run stops
    uint64_t next_record, end;          // of the input, or of the slice at hand; the number of its records
    uint64_t before;                    // records of slices before it
    uint64_t seed;                      // of places in overflow tables
    uint32_t next_partition;
    uint32_t partitions_counted;             // of these, and of the next, `first` is known
    hdst__spill spill;
    hdst__aggregate_spilled *directory;     // the last one; NULL: nothing was spilled
    uint64_t directory_at;              // where it is in the file
    atomic_bool stop;
    struct hdst__aggregate_worker *worker;
    uint32_t workers;
    uint32_t shares;                    // of them, those that reduce partitions, each with its share of the memory
    hdst__aggregate_result *result;        // by partition, and one more
} hdst__aggregation;

typedef struct hdst__aggregate_worker {
    hdst__aggregation *run;
    hdst_status status;
    hdst_error error;
    hdst__key_batch batch;
    hdst__key_keeper keeper;            // of keys with texts
    void **copy;                        // memory for run->copied; NULL: records are read where they lie
    hdst__key_table block;
    bool blocks;                        // still worth while
    uint64_t since_flush;
    hdst__radix_partitions raw, rows;
    char *slab, *slab_end;              // free memory of the slab in use
    hdst__aggregate_slab *slabs, *spare;   // with chunks; without any, as what they held was spilled
    uint64_t held;                      // bytes of `slabs`
    hdst__partition_chunk *free_chunk[2];     // in slabs: what a combined partition does not need, of raw records and of rows
    struct hdst__aggregate_combiner *combiner;
    bool combines;                      // it may pay
    uint64_t combined_in, combined_out;
    char *buffer;                       // for what was spilled, and for what goes to a file
    uint64_t buffer_bytes;
    hdst__budget memory;                // of the partition at hand: this thread's share
    hdst__allocator allocator;          // for it
    hdst__partition_piece piece;        // of the partition at hand, where one table for it has no room
    hdst__key_table table;              // of a partition
    hdst__overflow_rows overflow;
    uint64_t *sorted, sorted_words;
    hdst__row_sorter *sorter;           // of partitions that are sorted; NULL: not needed yet
    bool sorts;                         // the partition at hand
    uint64_t crowded_partitions, longest;    // sorted as keys crowd in the table; places from a key's home, of all tables
    bool block_was_crowded;
    uint64_t moved[2];                  // rows with a word that could overflow, from: the block, piles
    uint64_t in, to_partitions, out;         // records; tuples and rows that left the blocks; keys
    uint64_t flushes;
    hdst__direct_table direct_table;          // of a partition, where keys are numbers of rows
    char *direct_rows;                  // its rows, where the result goes to a file; NULL: it is in memory
    uint64_t direct_piece;              // rows of it
    uint64_t first_row;
    uint64_t strays, stray, stray_key;  // then: records whose key is none; the first one, UINT64_MAX without one
    char nothing;                       // the place of no rows
} hdst__aggregate_worker;

// The parts of an input that lies on several devices (aggregate_spread.h): each is reduced by itself.
typedef struct hdst__aggregate_spread {
    struct hdst__aggregate **part;      // by worker, left unfinished; NULL where it has no records
    uint32_t parts;
    uint32_t spreads;                   // which layout of the input they are for
} hdst__aggregate_spread;

struct hdst__aggregate {
    hdst__engine *engine;
    hdst__consumer consumer;
    struct hdst__aggregate_stream *stream; // NULL: none is open
    hdst__arena arena;
    hdst__aggregation_layout *layout;
    hdst__container container;          // that the user insists on
    hdst__aggregate_device *on_device;
    bool device_did;                    // the last run
    bool copied, not_copied;            // records in registered memory were copied to the device for it; are not, as the device cannot reduce them
    struct hdst__aggregate_slices *slices;     // of keys with texts that come from a GPU; NULL: there were none yet
    hdst__aggregate_spread spread;      // of inputs that lie on several devices
    bool spread_did;                    // they did the last run: `finished` are its rows
    bool unchecked;
    hdst__run_stats stats;
    hdst__aggregate_choice choice;
    bool ran;
    uint64_t keys, flushes, spilled, combined_in, combined_out;
    uint64_t in_kernels, kernel_rows;   // records of the last run that became rows in kernels (accum/combining.h), and how many
    uint64_t crowded_partitions, crowded_blocks, longest, pieces, range_count;       // of the workers
    uint64_t stray, stray_key;          // of the last run: the first record whose key is no number of a row, UINT64_MAX without one
    hdst__aggregate_slab *slabs;           // not in use
    char *rows;                         // the result
    hdst__spill file;                   // of rows that the budget has no room for
    const void *mapped;                 // then: `rows`
    uint64_t row_count, row_bytes;      // row_bytes: what was reserved
    hdst__text_heap *texts;             // bytes of their keys; NULL: keys have no texts, or there are none yet
    bool keeps_state;                   // then `rows` are states (aggregate_state.h), of which these are the superaccumulators and the rows
    int64_t *exact;
    uint64_t exact_count, exact_room;   // of superaccumulators of a key
    char *finished;
};

#endif
