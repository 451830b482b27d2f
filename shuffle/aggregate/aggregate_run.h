// SPDX-License-Identifier: Apache-2.0
// A run of a reduction by key, as its files see it.
//
// aggregate.c          the object, the order of steps
// aggregate_stream.c   the same where records come slice by slice
// aggregate_input.c    where records are read
// aggregate_memory.c   memory of chunks, kept between runs
// aggregate_result.c   the result: in memory, or in a temporary file
// aggregate_spill.c    chunks in a temporary file
// aggregate_combine.c  chunks that pile up
// aggregate_choose.c   what a sample says: scales, tables, partitions
// aggregate_block.c    records to tables of threads and to partitions
// aggregate_partition.c     partitions to rows
// aggregate_pieces.c   partitions whose rows the budget has no room for
// aggregate_sorted.c   partitions to rows, by sorting
// aggregate_across.c   results of several runs, over partitions that the program named
// aggregate_direct.c     partitions to rows where keys are numbers of rows
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_RUN_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_RUN_H

#include "shuffle/aggregate/aggregate.h"
#include "shuffle/aggregate/aggregate_device.h"
#include "engine/engine_private.h"
#include "engine/memory/spill.h"
#include "shuffle/aggregate/radix_partitions.h"
#include "shuffle/aggregate/key_table.h"
#include "shuffle/aggregate/direct_table.h"

typedef struct hdst__aggregate_choice {
    uint64_t sampled;                   // records
    double distinct;                    // keys, estimated
    bool blocks;                        // threads have tables
    bool sorted;                        // partitions are sorted, in place of tables
    uint32_t block_bits, partition_bits, table_bits;     // rows of a thread's table; partitions; rows of a partition's table at first
    uint32_t tier_count[HDST__TIER_WIDE + 1];       // float sums by how they are held
    char why[160];
} hdst__aggregate_choice;

typedef struct hdst__aggregate_slab {      // memory for chunks
    struct hdst__aggregate_slab *next;
    uint64_t bytes;
} hdst__aggregate_slab;

// What a thread wrote at once: where the records of a partition are. A directory of these (of raw records, by partition; then of rows, by partition) is in the file, behind them.
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

typedef struct hdst__aggregate_piece {     // some records, to be taken apart
    const hdst__storage *storage;
    const void *const *buffers;
    uint64_t at, count;                 // place in the storage
    uint64_t first;                     // of the input
} hdst__aggregate_piece;

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
    const hdst__storage *piece;         // of records that are taken apart in one go
    pthread_mutex_t lock;               // of what follows
    pthread_cond_t counted;             // a partition's rows were, or the run stops
    uint64_t next_record, end;          // of the input, or of the slice at hand; the number of its records
    uint64_t before;                    // records of slices before it
    uint64_t seed;                      // of places in tables of wide cells
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
    void **piece;                       // memory for run->piece; NULL: records are read where they lie
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
    uint32_t split;                     // bits of the hash by which the partition at hand is taken piece by piece, as one table for it has no room
    uint64_t piece_of_partition;             // which one: the partition's bits of the hash and these
    uint64_t most_rows;                 // of a piece so far
    bool ranges;                        // the piece is one hash, taken by ranges of its keys
    bool has_from;                      // not the first of them
    uint64_t *bounds;                   // keys: the range's first one, and where it and those after it end, the nearest last
    uint32_t ends;                      // without one the range has no end
    uint64_t pieces, range_count;       // that were reduced; of them, ranges
    hdst__key_table table, wide;        // of a partition
    uint64_t *sorted, sorted_words;
    struct hdst__aggregate_sorter *sorter; // of partitions that are sorted
    bool sorts;                         // the partition at hand
    uint64_t crowded_partitions, longest;    // sorted as keys crowd in the table; places from a key's home, of all tables
    bool block_was_crowded;
    uint64_t moved[3];                  // rows with a word that could overflow, from: the block, piles, partitions
    uint64_t in, to_partitions, out;         // records; tuples and rows that left the blocks; keys
    uint64_t flushes;
    hdst__direct_table direct_table;          // of a partition, where keys are numbers of rows
    uint64_t first_row;                 // of it
    uint64_t strays, stray, stray_key;  // then: records whose key is none; the first one, UINT64_MAX without one
    char nothing;                       // the place of no rows
} hdst__aggregate_worker;

struct hdst__aggregate {
    hdst__engine *engine;
    hdst__sink sink;
    struct hdst__aggregate_stream *stream; // NULL: none is open
    hdst__arena arena;
    hdst__aggregation_layout *layout;
    hdst__container container;          // that the user insists on
    hdst__aggregate_device *on_device;
    bool device_did;                    // the last run
    bool unchecked;
    hdst__run_stats stats;
    hdst__aggregate_choice choice;
    bool ran;
    uint64_t keys, flushes, spilled, combined_in, combined_out;
    uint64_t crowded_partitions, crowded_blocks, longest, pieces, range_count;       // of the workers
    uint64_t stray, stray_key;          // of the last run: the first record whose key is no number of a row, UINT64_MAX without one
    hdst__aggregate_slab *slabs;           // not in use
    char *rows;                         // the result
    hdst__spill file;                   // of rows that the budget has no room for
    const void *mapped;                 // then: `rows`
    uint64_t row_count, row_bytes;      // row_bytes: what was reserved
};

// aggregate.c: the steps of a run.
typedef hdst_status (*hdst__aggregate_step)(hdst__aggregate_worker *worker);
hdst_status hdst__aggregate_begin(hdst__aggregation *run, hdst_error *error);     // looks at the first records, chooses, makes workers
hdst_status hdst__aggregate_add(hdst__aggregation *run, hdst_error *error);       // records next_record ... end
hdst_status hdst__aggregate_finish(hdst__aggregation *run, hdst_error *error);    // all were added: their rows
void hdst__aggregate_init_pass(hdst__aggregation *run);
void hdst__aggregate_end_pass(hdst__aggregation *run);
uint32_t hdst__aggregate_threads(const hdst__aggregation *run);                    // as many as pay, and as have enough of the budget each
uint64_t hdst__aggregate_share(const hdst__aggregation *run);                      // bytes of the budget for each thread
// aggregate_stream.c
void hdst__aggregate_drop(hdst__aggregate *aggregate);                                   // what is open; the engine's mutex is held

// aggregate_choose.c: looks at the first records. Sets tiers and scales in run->layout.
uint64_t hdst__aggregate_sample(const hdst__aggregation *run);                     // so many are looked at, where there are more
hdst_status hdst__aggregate_choose(hdst__aggregation *run, hdst_error *error);
double hdst__aggregate_distinct_of(double seen, double n, double most);    // keys in all, where n records had `seen`
// aggregate_block.c: all records of the input that no other thread takes, and then what is left in its table.
hdst_status hdst__aggregate_blocks(hdst__aggregate_worker *worker);
hdst_status hdst__aggregate_flush(hdst__aggregate_worker *worker);
// aggregate_pieces.c: where the partition at hand, or the piece, has no room, a piece of it. false: it cannot be made smaller, or the error is another; it stays.
bool hdst__aggregate_split(hdst__aggregate_worker *worker);
void hdst__aggregate_next_piece(hdst__aggregate_worker *worker, uint64_t rows);       // behind one that had so many
// Of records of a partition, those of the piece, to the front of the worker's buffer; their bytes. `from` may lie there.
uint64_t hdst__aggregate_pick(const hdst__aggregate_worker *worker, const char *from, uint64_t bytes, uint32_t kind);
bool hdst__aggregate_make_bounds(hdst__aggregate_worker *worker);                    // false: no memory
void hdst__aggregate_share_memory(hdst__aggregation *run, uint32_t threads);      // before partitions are reduced by so many
uint64_t hdst__aggregate_shared_memory(const hdst__aggregation *run);             // what they may still take, together
// aggregate_partition.c: all partitions that no other thread takes.
hdst_status hdst__aggregate_reduce_partitions(hdst__aggregate_worker *worker);
bool hdst__aggregate_take_partition(hdst__aggregation *run, uint32_t *partition);            // the next one. false: none is left, or the run must end
char *hdst__aggregate_buffer(hdst__aggregate_worker *worker);                         // worker->buffer. NULL: no memory, the error is set
// A partition's raw records and its rows: the chunks of all threads, and then what was spilled of them. false: no memory or the file cannot be read, the error is set.
typedef bool (*hdst__aggregate_adder)(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk);
bool hdst__aggregate_each_chunk(hdst__aggregate_worker *worker, uint32_t partition, hdst__aggregate_adder add_raw, hdst__aggregate_adder add_rows);
// Sums of a row that could overflow move to its wide cells; addends of the batch that are too large, or too fine, for words go there. false: no memory, the error is set.
bool hdst__aggregate_move_full(hdst__aggregate_worker *worker, uint64_t *row);
bool hdst__aggregate_add_misfits(hdst__aggregate_worker *worker);

// aggregate_sorted.c: the raw records and the rows of a partition, chunk by chunk, and then its rows in order, which are the sorter's until the next partition. false: no memory, the
// error is set.
bool hdst__aggregate_sorted_add(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk);
bool hdst__aggregate_sorted_add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk);
bool hdst__aggregate_sorted_add_table(hdst__aggregate_worker *worker);               // the rows of the worker's table, which stay there
bool hdst__aggregate_sorted_end(hdst__aggregate_worker *worker, const uint64_t **rows, uint64_t *count);
// Of the keys at hand, one about in the middle, with others before it. NULL: there are no two.
const uint64_t *hdst__aggregate_sorted_middle(const hdst__aggregate_worker *worker);
void hdst__aggregate_free_sorter(hdst__aggregate_worker *worker);
// Who has wide cells: a hash that cannot be foreseen, for their table is in no order. Where hashes say all of a key so does this one.
uint32_t hdst__aggregate_wide_hash(const hdst__aggregation *run, uint32_t hash, const uint64_t *key);
uint32_t hdst__aggregate_unwide_hash(const hdst__aggregation *run, uint32_t wide_hash);
// The wide cells of a key in the partition that is reduced, made if there are none, behind its tag and key. NULL: no memory.
uint64_t *hdst__aggregate_wide(hdst__aggregate_worker *worker, uint32_t hash, const uint64_t *key);
// Sums in the cells of a row move to its wide cells. false: no memory, the error is set.
bool hdst__aggregate_move_cells(hdst__aggregate_worker *worker, uint32_t hash, const uint64_t *key, uint64_t *cells);
// aggregate_direct.c: the same as hdst__aggregate_reduce_partitions where keys are numbers of rows. Each partition is written where it belongs.
hdst_status hdst__aggregate_reduce_direct(hdst__aggregate_worker *worker);

// aggregate_input.c
hdst_status hdst__aggregate_open_input(hdst__aggregation *run, hdst_error *error);
hdst_status hdst__aggregate_close_input(hdst__aggregation *run, hdst_error *error);
// The next records that nobody took, at most `most`, read to `memory` (NULL where they lie in the host's memory); none at the end. For one thread at a time.
hdst_status hdst__aggregate_next(hdst__aggregation *run, uint64_t most, void **memory, hdst__aggregate_piece *piece, hdst_error *error);
bool hdst__aggregate_piece_memory(hdst__aggregation *run, void ***memory);         // false: no memory
void hdst__aggregate_free_piece(hdst__aggregation *run, void **memory);

// aggregate_combine.c
bool hdst__aggregate_piles_up(const hdst__aggregate_worker *worker);      // it holds far more than rows of all keys would take
// The records of each partition become rows. *freed: chunks are free now. false: the run must end, its error is set.
bool hdst__aggregate_combine(hdst__aggregate_worker *worker, bool *freed);
void hdst__aggregate_free_combiner(hdst__aggregate_worker *worker);

// aggregate_spill.c
hdst_status hdst__aggregate_spill(hdst__aggregate_worker *worker);        // all its chunks; their memory is free then
// All the rest too, where some had to be spilled: what the chunks took is the result's then.
hdst_status hdst__aggregate_spill_rest(hdst__aggregation *run, hdst_error *error);
// What was not, of the piece of the partition that is taken now.
bool hdst__aggregate_add_picked(hdst__aggregate_worker *worker, const char *from, uint64_t bytes, uint32_t kind /* 0: raw, 1: rows */, hdst__aggregate_adder add);
hdst_status hdst__aggregate_read_spilled(hdst__aggregate_worker *worker, uint32_t kind, uint32_t partition, hdst__aggregate_adder add);
void hdst__aggregate_forget_spilled(hdst__aggregation *run);

// aggregate_memory.c
void *hdst__aggregate_take(hdst__aggregation *run, uint64_t bytes, const char *what, hdst_error *error);    // counts towards the budget; NULL: error is set
void hdst__aggregate_give(hdst__aggregation *run, void *memory);
void *hdst__aggregate_more(void *worker, uint64_t bytes);      // hdst__chunk_memory
bool hdst__aggregate_first_slab(hdst__aggregate_worker *worker);  // so that each thread has one, to spill from and fill again
void hdst__aggregate_give_slabs(hdst__aggregate_worker *worker);  // back to the budget; nothing is in them
void hdst__aggregate_keep_slabs(hdst__aggregation *run, hdst__aggregate_slab *slabs);     // for the next run, where the budget has room for them
void hdst__aggregate_free_kept(hdst__aggregate *aggregate);
// aggregate_result.c
// Room for the rows that are expected. None, where the budget is short: then partitions keep their rows until all are counted.
void hdst__aggregate_expect_rows(hdst__aggregation *run);
hdst_status hdst__aggregate_take_rows(hdst__aggregation *run, hdst_error *error);      // the same for keys that are numbers of rows, whose result has a place in any case
// The place of a partition's rows: where they belong, or memory of its own. Waits for the count of the partition before. NULL: there is none, they go to the file.
char *hdst__aggregate_place(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count);
// Records in order to the file, as number `at` and on of the partition's, which does not change that way: begin waits for the partition before, end tells the number of all.
void hdst__aggregate_begin_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition);
bool hdst__aggregate_put_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t at, const void *records, uint64_t count);     // false: error is set
void hdst__aggregate_end_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count);
void hdst__aggregate_give_partition(hdst__aggregation *run, hdst__aggregate_result *result);
void hdst__aggregate_forget_rows(hdst__aggregate *aggregate);                            // of the last run
hdst_status hdst__aggregate_join(hdst__aggregation *run, hdst_error *error);       // all rows one after another

#endif
