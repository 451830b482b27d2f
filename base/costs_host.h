// SPDX-License-Identifier: Apache-2.0
// Costs of the host's memory and time, whatever the device, each with its unit. All are estimates where nothing else is said.
#ifndef HDST_BASE_COSTS_HOST_H
#define HDST_BASE_COSTS_HOST_H

#include <stdint.h>

// --- Stages (engine/) ---

enum {
    HDST__HOST_STREAM_BYTES = 32 << 20,         // a segment of the ring
    HDST__HOST_TEXT_STREAM_BYTES = 8 << 20,     // of texts, which are read by pieces and need no long transfers; GPUs compute more lines at once
    HDST__HOST_STREAM_LEAST_BYTES = 4 << 20,    // a segment of the ring, which is not cut smaller for the sake of overlap
    HDST__HOST_OUTPUT_BYTES = 32 << 20,         // output records of a slice
    HDST__HOST_LANDING_BYTES = 16 << 20,        // of a slice's output that is a device's alone, on their way to the host: chosen, not measured
    // Shares of what is left of the budgets: three segments and four slices' outputs leave half of it to tables and results.
    HDST__HOST_STREAM_SHARE = 8, HDST__HOST_OUTPUT_SHARE = 32,
    HDST__HOST_RECORD_OUTPUT_SHARE = 4,         // of the budgets, which what one record gives may take; it must have room beside all else
    HDST__HOST_RECORD_PARTS = 1024, HDST__HOST_RECORD_PART_BYTES = 256,     // of a text that is taken apart: parts of a slice at most; least bytes of one
    HDST__HOST_FIRST_RECORDS = 1 << 18,         // of a slice, while nothing is known of the time of a record
    HDST__HOST_FOLD_RECORDS = 1 << 20,          // of a slice of a fold, at least: 16384 work-items
    HDST__HOST_SAMPLE_RECORDS = 256, HDST__HOST_SAMPLE_RUNS = 16,       // a look at the data before it is run: records at most, in so many places
    // A run of it ends its loops behind so many turns, or emitted records: with a record that has far more it takes less than 1 s and about 15 ms.
    // Turns of a function that does not emit are many, as scales come of what stands behind its loops: a neural net has hundreds of thousands.
    HDST__HOST_SAMPLE_TURNS = 1 << 20, HDST__HOST_SAMPLE_EMITTED = 1 << 14,
    HDST__HOST_IN_PLACE_BYTES = 1 << 20,        // of an output record that kernels write where it stays, at most: a chunk of a store holds many
    HDST__HOST_WINDOW_SLACK_BYTES = 1 << 16,    // room in a window of the output beyond what is expected (HDST__HOST_WINDOW_MARGIN)
    HDST__HOST_FIRST_CHUNK_BYTES = 16 << 20,    // of output that stays, where nobody knows how much will come; each later chunk is twice as large
    HDST__HOST_OPEN_RECORDS = 1 << 20,          // that an input is taken to have at least, of which nobody knows how many it has
    HDST__HOST_PINNED_LEAST_BYTES = 16 << 20,   // of output that devices copy right into. An H200's driver takes 31 ms to pin a GiB. Chosen, not measured
    HDST__HOST_COPY_BYTES = 16 << 20,           // of a copy of it to the host
    HDST__HOST_STAGING_BYTES = 64 << 20,        // of a piece on its way to memory that the host cannot reach
    HDST__HOST_BATCH_BYTES = 16 << 20,          // rows that are read between two looks at whether the run was cancelled
    HDST__HOST_PIECE_BYTES = 4 << 20, HDST__HOST_PIECE_SHARE = 8,       // rows that go through memory; their share of what the budget has left
    // A fold in input order: records that are read at a time, at most; bytes, as read and as C structs; their share of what the budget has left.
    HDST__HOST_ORDERED_RECORDS = 4096, HDST__HOST_ORDERED_BYTES = 8 << 20, HDST__HOST_ORDERED_SHARE = 8,
    HDST__HOST_LEFT_SHARE = 4,                  // of the budget, which rows leave that may as well be in a file
    HDST__HOST_RESIDENT_REST_SHARE = 8,         // of what nobody uses, left when a part of a cached dataset stays
    HDST__HOST_LEAN_SHARE = 8,                  // of what is left: what is there only for speed takes no more, once a run had no memory. Chosen, not measured
    HDST__HOST_SLICES_IN_FLIGHT = 4,            // on a device
    HDST__HOST_TEXT_SLICES_IN_FLIGHT = 2,       // of texts, of which there is more output than input, and which is taken by the same cores
    HDST__HOST_WAITING_SHARE = 8,               // of the budget, for output of workers that are ahead of others
    HDST__HOST_SHARE_BYTES = 32 << 20,          // of input that several devices share, at least: chosen, not measured
    HDST__HOST_RING_SEGMENTS = 3,               // one is filled, one is copied or waits, one is computed on
    HDST__HOST_SAMPLE_OVERRUN = 2,              // times what a look at the data may take of a processor: then it ends early
    HDST__HOST_SAMPLE_WAITS = 32,               // times the same by the clock: it waits for files, or for a processor that others have
    HDST__HOST_PAGE_BYTES = 4096,               // OpenCL devices ask for no more; a larger machine page is only an alignment that is not reached
    HDST__HOST_HUGE_SHARE = 32,                 // of what is left: more is not given away for the alignment of huge pages
    HDST__HOST_WAIT_NANOSECONDS = 20 * 1000 * 1000,     // of a wait between two looks at whether the call was cancelled
    HDST__HOST_GRACE_SECONDS = 2,               // a device that goes on for so long after a cancel is given up
    HDST__HOST_GRACE_TIMES = 15,                // as many times as long where others have the processors that a CPU device would work on. Chosen
};

#define HDST__HOST_TABLE_SHARE 0.6              // of what the budget has left, for tables of accumulators: in more there are few strips, or no room
#define HDST__HOST_SPREAD_KEYS (1 << 16)        // keys of a cached input that is spread to be reduced by key, at most: chosen, not measured
#define HDST__HOST_SPREAD_KEYS_SHARE 64         // records that each of them has, at least: the same
#define HDST__HOST_SPREAD_TIMES 32              // HDST__HOST_SHARE_BYTES that it has at least: one H200 takes 0.6 ms for an eighth of that
#define HDST__HOST_EVEN 1.1                     // a cached input whose devices end together within this stays where it lies
#define HDST__HOST_CHUNK_BYTES ((uint64_t)2 << 30)     // of a cached dataset's segment, or of output that stays, at most: each is a launch
#define HDST__HOST_OUTPUT_MARGIN 1.25           // a slice's output is expected to fit with so much to spare: one that does not runs twice
#define HDST__HOST_WINDOW_MARGIN 1.05           // the same of a window; more would have the budget hold what nobody needs
#define HDST__HOST_ASK_SECONDS 0.02             // of work, to ask a device between slices whether a record failed
#define HDST__HOST_KERNEL_SHARE (1.0 / 50)      // of the interpreter's time a compiled kernel takes about this much
// That a byte of what a device has no room for took to read, until it is kept on the host and pinned, which takes 80e-12 with an H100 and 16 cores. Points
// in the page cache are kept in the third run then, which pays from the eighth on; five take 8 % longer, 50 take 0.72 of the time.
#define HDST__HOST_PIN_SECONDS 50e-12
#define HDST__HOST_SLICE_SECONDS 0.25           // a slice is hardly longer, so that a run can be cancelled, nor much shorter
#define HDST__HOST_LONG_SLICE_SECONDS 1.0       // one that adds up large tables at its end is not longer,
#define HDST__HOST_FLUSHES_OF_SLICE 8           // nor so many times as long as that takes
#define HDST__HOST_TRY_SECONDS 5e-3             // of a slice that tries a shape: many of them are soon done, and none is lost in what comes before and after it
#define HDST__HOST_SAMPLE_SECONDS 2e-3          // of a processor: what a look at the data may take, about

// --- Shares of several workers (partition/). Chosen ---

enum {
    HDST__HOST_PROBE_RECORDS = 1 << 14, HDST__HOST_PROBE_SHARE = 8,     // of a worker whose speed nobody knows, at first; of its equal part of what is left
    HDST__HOST_GUESSED_SHARE = 8,               // of a slice's time, where a record's was not measured
    HDST__HOST_TAIL_SHARE = 2,                  // of what a worker may expect of the rest: a share of it
    HDST__HOST_STEADY_SLICES = 4,               // of each worker, before one can tell whether it is steady
    HDST__HOST_FIXED_TIMES = 4,                 // the fixed part of a slice: what its records take at least, where there is time
};

#define HDST__HOST_TAIL_SECONDS 5e-4            //     and this: with 2e-3 an H200 and 16 cores lost 4 % of 50 ms more
// Of a record's seconds from slice to slice, by which they differ: as steady as this, and the input is divided; no more when they differ by the other.
#define HDST__HOST_STEADY 0.15
#define HDST__HOST_UNSTEADY 0.3
#define HDST__HOST_DRIFT 0.1                    // of what was measured earlier: more, and it is replaced
// A CPU joins a GPU where the program asked for all devices: once that has worked so long alone (opening a CPU and compiling for it takes 0.1 to 0.4 s), and
// for as long as of so many runs together the quickest takes less than this part of what the quickest took alone.
#define HDST__HOST_JOIN_SECONDS 2
#define HDST__HOST_JOIN_RUNS 4
#define HDST__HOST_JOIN_GAIN 0.95
#define HDST__HOST_POWER_SECONDS 0.05           // of a run's slices together: less says little of a device
#define HDST__HOST_LONGEST_SECONDS 1e6          // of a slice or a record: what a file says beyond is not true

// --- Reductions by key, groups, sorts (shuffle/). Chosen, not measured, where nothing is said ---

enum {
    // What all of them share.
    HDST__HOST_CACHE_LINE_BYTES = 64,           // of x86-64 and most of arm64: what threads write apart, and at once
    HDST__HOST_HUGE_PAGE_BYTES = 2 << 20,       // of x86-64 and arm64. A matrix-vector product over 62 MB takes 113 ns a row with them, 185 without
    HDST__HOST_HUGE_LEAST_BYTES = 4 << 20,      // of memory that asks for them
    HDST__HOST_CANCEL_RECORDS = 1 << 16,        // between two looks at whether the run was cancelled,
    HDST__HOST_MERGE_CANCEL_RECORDS = 1 << 12,  //     while runs are merged

    // Reductions by key: what the first records tell.
    HDST__HOST_KEY_SAMPLE_RECORDS = 1 << 17, HDST__HOST_KEY_SAMPLE_BYTES = 32 << 20,    // looked at first, at most,
    HDST__HOST_KEY_SAMPLE_LEAST = 1024,                                                 //     but so many records whatever they take
    HDST__HOST_KEY_SAMPLE_SHARE = 16,           // of what is left of the budget, for records that are pushed
    HDST__HOST_KEY_MAP_BITS = 21, HDST__HOST_KEY_MAP_FEW_BITS = 17,     // of the hash: a bit for each value of them counts distinct keys; where memory is short
    HDST__HOST_KEY_MAP_SHARE = 16,              // of the budget: memory is short where the larger map takes more
    HDST__HOST_KEY_ADDENDS = 1 << 14,           // of a float sum

    // Reductions by key: threads and their memory.
    HDST__HOST_KEY_THREAD_RECORDS = 1 << 15, HDST__HOST_KEY_THREAD_BYTES = 2 << 20,     // for a thread of its own; of the budget
    HDST__HOST_KEY_RESERVE_SHARE = 8,           // of what is left, which is not for partitions: rows wait there for others
    HDST__HOST_KEY_STRETCH_RECORDS = 1 << 16,   // that a thread takes at once from those that lie in memory
    HDST__HOST_KEY_LEAST_STRETCH_RECORDS = 1 << 12,     // and at least: about 40 us
    HDST__HOST_KEY_PIECE_BYTES = 256 << 10, HDST__HOST_KEY_PIECE_SHARE = 16,    // of input that is copied; of a thread's memory
    HDST__HOST_KEY_BATCH_WORDS = 64 << 10,      // of columns and rows of records that are taken apart together: 512 KiB, in a core's second-level cache
    HDST__HOST_SLABS_OF_THREAD = 8, HDST__HOST_SLAB_SHARE = 4,          // slabs that a thread's records fill; its memory's share of one, at most
    HDST__HOST_SLAB_LEAST_BYTES = 256 << 10, HDST__HOST_SLAB_MOST_BYTES = 32 << 20,
    HDST__HOST_SLAB_RESERVE_SHARE = 4,          // of the run's memory, left to the tables that come after
    HDST__HOST_CHUNK_SHARE = 8,                 // of a thread's memory: a chunk of each partition, of raw records and of rows
    HDST__HOST_SPILL_BUFFER_BYTES = 256 << 10, HDST__HOST_SPILL_BUFFER_SHARE = 16,      // of what goes to files; of a thread's memory

    // Reductions by key: tables and partitions.
    HDST__HOST_BLOCK_TABLE_BYTES = 512 << 10, HDST__HOST_BLOCK_TABLE_SHARE = 8,         // of a thread's table, and of a partition's: what fits a core's
                                                // second-level cache beside the records; of a thread's memory
    HDST__HOST_TEXT_TABLE_BYTES = 32 << 20,     // of one whose keys have texts: rows' homes are fetched ahead, so it grows beyond the caches as long as so
    HDST__HOST_TEXT_TABLE_NEW = 60,             // many of 100 records bring a new key, at most
    HDST__HOST_TABLE_LEAST_BITS = 6,            // places, as a power of two
    HDST__HOST_WIDE_TABLE_BITS = 6,             // the same of a table of superaccumulators, as it is made
    HDST__HOST_PARTITION_BITS = 12,             // of the hash, at most
    HDST__HOST_PARTITION_SHARE = 4, HDST__HOST_PARTITION_LEAST_BYTES = 5 << 10,         // of a thread's memory, for chunks and lines of all; of one, at least
    HDST__HOST_KEY_MANY_RECORDS = 4000000, HDST__HOST_KEY_MANY_PARTITION_BITS = 6,      // more records have so many partitions at least, so that threads
    HDST__HOST_KEY_SOME_RECORDS = 100000, HDST__HOST_KEY_SOME_PARTITION_BITS = 3,       //     find work
    HDST__HOST_SORTED_PARTITION_BYTES = 1 << 20,                        // of raw records that are sorted at once
    HDST__HOST_SORTED_PIECE_BYTES = 4 << 20, HDST__HOST_SORTED_PIECE_SHARE = 8,         // of rows that are sorted at once; of a thread's memory
    HDST__HOST_SORTED_PIECE_ROWS = 16,          //     and so many at least
    HDST__HOST_LINE_RECORD_BYTES = 256,         // of a record, at most, of which several are gathered until they fill whole cache lines
    HDST__HOST_COMBINED_BYTES = 256 << 20, HDST__HOST_COMBINED_TIMES = 16,      // of a thread's records, before they are combined in place; times what its
                                                // rows may take
    HDST__HOST_COMBINED_TRIES = 8,              // partitions that are tried before it is given up
    HDST__HOST_DIRECT_LEAST_CELLS = 1 << 19,    // of a table of rows, from which on its additions go by partitions of rows
    HDST__HOST_DIRECT_FUNCTION_TIMES = 2,       // elements without float sums count as one of so many where a function in front makes the tuples
    HDST__HOST_DIRECT_PIECE_SHARE = 2,          // of what the budget has left, for the rows that all threads take at once
    HDST__HOST_DIRECT_PARTITION_BYTES = 256 << 10, HDST__HOST_DIRECT_PARTITION_BITS = 6,        // of a partition's rows; partitions at least
    HDST__HOST_KEY_RESULT_SHARE = 2,            // of the run's memory: a larger result gets its memory as it comes

    // Groups.
    HDST__HOST_GROUP_LEAST_RECORDS = 64,        // in memory at once, where there is memory at all
    HDST__HOST_GROUP_SURVEY_SHARES = 4096,      // of a range of keys, counted in one scan
    HDST__HOST_GROUP_BATCH_BYTES = 1 << 20, HDST__HOST_GROUP_BATCH_SHARE = 8,   // that are read at once; of what the budget has left
    HDST__HOST_GROUP_PARTITION_BYTES = 128 << 10,       // of records: with their words they lie in a core's second-level cache
    HDST__HOST_GROUP_PARTITIONS = 2048,         // that records are moved to at once: more places than that are asked of memory one by one
    HDST__HOST_GROUP_THREAD_RECORDS = 1 << 14,  // for a thread of its own
    HDST__HOST_GROUP_WINDOW_RECORDS = 1024, HDST__HOST_GROUP_WINDOW_BYTES = 128 << 10,          // that are looked at together, at most
    HDST__HOST_GROUP_TABLE_SLOTS = 1024,        // of a table of the keys of a partition, at first
    HDST__HOST_GROUP_TABLE_PROBES = 8,          // of a record beyond the first, on average: with more of them the partition is sorted
    HDST__HOST_GROUP_TABLE_VAIN = 15,           // partitions that are sorted at once after one that had no use of its table
    HDST__HOST_GROUP_KEPT_SHARE = 16,           // of what the budget has left: memory for rows stays from run to run up to that
    HDST__HOST_GROUP_RUNS = 1 << 14,            // that a thread takes memory for at once, at most
    HDST__HOST_REPARTITION_PIECE_BYTES = 256 << 10, HDST__HOST_REPARTITION_PIECE_SHARE = 16,    // of records that get a number; of what the budget has left

    // Joins.
    HDST__HOST_JOIN_PIECE_BYTES = 256 << 10, HDST__HOST_JOIN_PIECE_SHARE = 16,      // of records that get their hash, or another layout; of what is left
    // A side is read through the hashes of the other one where it has so many records, and so many times as many; bits for each key of the small side; records
    // of that, at most: more bits are in no cache; of what is left, for what comes through.
    HDST__HOST_JOIN_FILTER_LEAST = 1 << 16, HDST__HOST_JOIN_FILTER_TIMES = 4, HDST__HOST_JOIN_FILTER_BITS = 8, HDST__HOST_JOIN_FILTER_MOST = 1 << 23,
    HDST__HOST_JOIN_FILTER_SHARE = 4,
    // Hash tables that are made once: records of a bucket; slots for so many keys; of what is left, for a table and its making.
    HDST__HOST_FROZEN_BUCKET = 3, HDST__HOST_FROZEN_SLOTS = 4, HDST__HOST_FROZEN_KEYS = 3, HDST__HOST_FROZEN_SHARE = 4,
    HDST__HOST_CROSS_SHARE = 4,                 // of what is left, for the right side of a cross
    HDST__HOST_JOIN_PLACES = 4096, HDST__HOST_JOIN_PLACE_RESULTS = 1024,    // places that reading may begin at, at most; results between two, at least

    // Sorts.
    HDST__HOST_GATHER_BYTES = 1 << 20,          // of rows that a thread puts in order at once
    HDST__HOST_SORT_BUCKET_RECORDS = 1 << 14,   // of a bucket, at least, where records are dealt to several
    HDST__HOST_SORT_CHUNK_BYTES = 16 << 10,     // of a bucket's records, where they are dealt as they come: a few hundred buckets have one that is not full
    HDST__HOST_SORT_BLOCK_MOST_BYTES = 64 << 20, HDST__HOST_SORT_BLOCK_SHARE = 4,       // of chunks that are asked for at once; of those that are there
    HDST__HOST_SORT_SAMPLE_BYTES = 8 << 20,     // of the first records, by which these buckets are chosen; fewer are sorted when all are there
    HDST__HOST_SORT_DEALING_THREADS = 4,        // at most: one thread deals, which more of them would wait for longer than it takes all to deal later
    HDST__HOST_INSERTION_RECORDS = 16,          // sorted by insertion
    HDST__HOST_SORT_BATCH_BYTES = 16 << 20,     // read between two looks at whether the run was cancelled
    HDST__HOST_SORT_PIECE_BYTES = 1 << 20, HDST__HOST_SORT_PIECE_SHARE = 4,     // of a copy to another layout, or to the host; of what the budget has left
    HDST__HOST_SORT_ROUNDING_BYTES = 1 << 18,   // that a run on a device loses to pages and to small memory
    HDST__HOST_RUN_PIECE_BYTES = 1 << 16,       // of a run that are written at once
    HDST__HOST_RUN_BUFFER_LEAST_BYTES = 64 << 10, HDST__HOST_RUN_BUFFER_MOST_BYTES = 1 << 20,   // of a run that is merged; more gains nothing
    HDST__HOST_RUN_MARKS = 256, HDST__HOST_RUN_MARK_RECORDS = 1 << 16,  // from which a merge goes on; records between two, at least
    HDST__HOST_TOP_LEAST_RECORDS = 4096, HDST__HOST_TOP_LEAST_BYTES = 256 << 10,        // of candidates for the largest, held at once: the less of both
};

// --- Files (io/). Chosen, not measured ---

enum {
    HDST__HOST_CSV_WINDOW_BYTES = 1 << 18, HDST__HOST_CSV_MOST_BYTES = 1 << 26,         // of a file that are held at once, at first; of a row, at most
    HDST__HOST_CSV_ROW_BYTES = 1 << 10,         // that a row may have beyond a block of a file without another read
    HDST__HOST_CSV_BLOCK_BYTES = 1 << 13,       // of a file, between two places that are noted
    HDST__HOST_CSV_GROUP_BLOCKS = 8,           // that a thread reads at once
    HDST__HOST_CSV_MOST_BLOCKS = 1 << 18,       // of a file: larger files have larger blocks
    HDST__HOST_CSV_SAMPLE_ROWS = 32,            // looked at to tell what columns are
    HDST__HOST_WRITE_BUFFER_BYTES = 1 << 16,    // that are gathered before they are written
    HDST__HOST_TEXT_BLOCK_BYTES = 1 << 16,      // of a text, between two counts of lines, of which one is read to find a line
    HDST__HOST_TEXT_MOST_BLOCKS = 1 << 20,      // of texts: larger ones have larger blocks
    HDST__HOST_TEXT_GROUP_BLOCKS = 64,          // that a thread goes through at once
    HDST__HOST_TEXT_COUNTED_BYTES = 1 << 20,    // shorter texts are counted before they are read: it takes no time
    HDST__HOST_TEXT_READ_BYTES = 1 << 18,       // of lines, read at once: they stay in a core's second-level cache
    HDST__HOST_TEXT_PIECE_BYTES = 4 << 20,      // of the temporary file that unpacked texts share: a file's last one is not all used, nor written
    HDST__HOST_TEXT_INPUT_BYTES = 1 << 18, HDST__HOST_TEXT_OUTPUT_BYTES = 1 << 20,      // of a text that is unpacked, held on the way
    HDST__HOST_OPEN_FILES = 200,                // files of many that stay open; further ones are opened for each read, about 3 us
    HDST__HOST_BOUND_STAGING_BYTES = 120 << 10, // of rows that are read at once: a small block for the memory budget
    HDST__HOST_FILL_BYTES = 512 << 10,          // that a thread reads at once, where several do
    HDST__HOST_SCRATCH_BYTES = 64 << 10,        // of rows of a file that are taken apart at once
    HDST__HOST_CONVERT_NUMBERS = 256,           // that are converted at once, in a core's first-level cache
};

// --- The graph (plan/). Chosen, not measured ---

enum {
    HDST__HOST_SHORT_SHARE = 4, HDST__HOST_VERY_SHORT_SHARE = 2,        // of the budget: more in use is short, very short of memory
    HDST__HOST_GROUP_RESULT_SHARE = 8,          // of what the budget had left: more records of a result that comes piece by piece go to a file, or little
    HDST__HOST_BY_PARTITION_RESULT_SHARE = 4,   //     would be left for the pieces; the same of functions over partitions
    HDST__HOST_GROUP_WRITE_BYTES = 1 << 20,     // of records of large keys that are written at once
    // The largest few: a sample of the values gives a limit below which records are let go.
    HDST__HOST_TOP_SAMPLE_SHARE = 64, HDST__HOST_TOP_SAMPLE_RECORDS = 1 << 17,  // one record in so many, and not more than these,
    HDST__HOST_TOP_SAMPLE_STRETCHES = 256,      //     from so many places: values may go up or down along the input;
    HDST__HOST_TOP_SAMPLE_TIMES = 4,            //     times as many as are wanted: else the limit would let through a great part
};

#define HDST__HOST_KEY_RESULT_MARGIN 1.1        // of the rows of a result, beyond the keys that the sample lets expect
// Of a chunk of a partition, by the bits that choose one: fewer partitions have larger ones.
#define HDST__HOST_PARTITION_CHUNK_BYTES(bits) ((bits) <= 6 ? 64 << 10 : (bits) <= 9 ? 16 << 10 : 8 << 10)

// --- The compiler (codegen/), whatever the target: limits for the sake of its time and the driver's. A "node" is an operation in an expression. Chosen ---

enum {
    HDST__HOST_UNROLLED_TURNS = 8, HDST__HOST_UNROLLED_NODES = 512,     // turns of a loop that is written out; nodes of all copies together
    HDST__HOST_ARRAY_TURNS = 16, HDST__HOST_ARRAY_NODES = 1536,         // the same where that makes variables of arrays
    HDST__HOST_REPLACED_ELEMENTS = 64,          // of an array that becomes variables
    HDST__HOST_CONTRACTED_NODES = 16,           // of an array's element that is computed where it is read,
    HDST__HOST_CONTRACTED_READS = 4096,         // unless one statement reads the array more often: elements are told apart one by one
    HDST__HOST_CONVERTED_STATEMENTS = 16, HDST__HOST_CONVERTED_NODES = 256,     // of both branches that become selects: they are all evaluated
};

#endif
