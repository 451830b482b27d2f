// SPDX-License-Identifier: Apache-2.0
// Costs of GPUs: sizes and numbers of records at which the engine chooses another way on them, each with its unit and where it was
// measured.
#ifndef HDST_BASE_COSTS_GPU_H
#define HDST_BASE_COSTS_GPU_H

// --- Stages, sorts and reductions by key (engine/, shuffle/) ---

enum {
    HDST__GPU_KEPT_SHARE = 8, HDST__GPU_KEPT_LEAST_BYTES = 64 << 10,        // of a device's budget: buffers that nobody uses and that are kept; a buffer that
                                                // is. Chosen, not measured
    HDST__GPU_CLASSED_SHARE = 1024,             // of a device's budget: a buffer of at most that is rounded up to a size class, by an eighth. Chosen
    // Small buffers are parts of larger ones: so large at least and at most, this share of the budget, with room for so many of the largest. Chosen
    HDST__GPU_ARENA_LEAST_BYTES = 256 << 10, HDST__GPU_ARENA_BYTES = 2 << 20, HDST__GPU_ARENA_SHARE = 64, HDST__GPU_ARENA_PARTS = 32,
    HDST__GPU_ARENA_UNUSED = 4,                 // times an arena that the budget has left, or none is made
    HDST__GPU_ARENA_WAITING_SHARE = 8,          // of an arena: so much that was given back is asked at once whether it is still in use
    HDST__GPU_UNIT_WEIGHT = 6,                  // CPU cores that a compute unit is worth, until it is measured: KMeans, an H200 against 16 cores
    // Work-groups per compute unit.
    HDST__GPU_GROUPS_PER_UNIT = 32,         // KMeans of 100M points takes 1.63, 1.62, 1.56, 1.68 ms with 8, 16, 32, 64 of them
    HDST__GPU_TUPLE_GROUPS_PER_UNIT = 24,    // by way of tuples: several times as many as have room at once. Chosen, not measured
    HDST__GPU_TABLE_GROUPS_PER_UNIT = 8,    // with a table in device memory for each of them. Chosen, not measured
    // The same with tiles and plain sums, whose lanes have 255 registers. H100, gradient of the neural net, merge included: 1.09, 1.02, 0.97 ms with 8, 4, 2
    HDST__GPU_FAST_TILE_GROUPS_PER_UNIT = 2,
    // That add up products by tiles, as many as have room at once. H200, the same gradient, that part alone: 0.40, 0.24, 0.32, 0.26 ms with 2, 4, 6, 8; exact
    // sums 0.93, 0.95, 0.95, 0.97
    HDST__GPU_PRODUCT_GROUPS_PER_UNIT = 4,
    HDST__GPU_PLAIN_GROUPS_PER_UNIT = 128,  // without tables: a * x + b runs at 0.91, 0.94, 0.95 of the speed of a copy with 32, 64, 128 of them
    HDST__GPU_MERGED_TABLES = 8,            // of work-groups in device memory, that a work-item reads at once as it merges them: a neural net gradient takes
                                            // 0.185 ms of an H100 to merge 938 tables, 0.224 one by one
    HDST__GPU_FINISH_GROUPS_PER_UNIT = 16,  // of the kernel that makes rows of accumulators. Chosen, not measured

    HDST__GPU_FACTOR_SHARE = 8,             // of a device's memory that is left: what records of a slice leave for sums of products. Chosen, not measured
    HDST__GPU_TABLE_SHARE = 8,              // of the device's memory that is left: for tables of work-groups there. Chosen, not measured
    HDST__GPU_TEXT_OUTPUT_BYTES = 128 << 20,    // of records of texts that somebody takes as they come. Chosen, not measured
    HDST__GPU_OUTPUT_BYTES = 256 << 20,     // output records of a slice: one that is soon over leaves a GPU idle. Chosen, not measured

    // Additions in device memory or by way of tuples. H200, 200M records: additions in device memory take 2.4, 2.1, 2.2, 9.4, 12 ms with 64k, 256k, 1M,
    // 16M, 100M rows, tuples 1.9, 2.0, 2.8, 3.5, 4.8.
    HDST__GPU_LEAST_TUPLES = 1 << 20,       // records of a slice, for tuples
    HDST__GPU_MOST_TUPLES = 1 << 30,        // records of a slice
    HDST__GPU_FEW_WORDS = 400000,           // words of a table: up to here tuples
    HDST__GPU_CACHED_WORDS = 2 << 20,       // words of a table that stays in the second-level cache: above, tuples again

    HDST__GPU_TUPLE_BYTES = 32,             // of a tuple, at most, while nothing is known of it

    HDST__GPU_LEAST_FINISHED = 64 << 10,    // bytes of a table: below, the host reads and rounds it as quickly as another kernel starts

    // Tables of several GPUs that become one, by way of the host: 0.06 ms for half a mebibyte from one to another, on H100s.
    HDST__GPU_MOST_WITH_SLICES = 4 << 20,   // bytes of a table that comes to the host behind the last slice. Chosen, not measured
    HDST__GPU_LEAST_SCATTERED = 4 << 20,    // of one of which each makes a part of the rows. Chosen, not measured
    HDST__GPU_SCATTER_PIECE_BYTES = 8 << 20,        // of its words on their way together, half as many where they are narrow: 64 MiB each way take
                                            // 1.49 ms in pieces of 4 MiB, at the link's speed 1.22

    // From so many records on a device works, fewer stay on the host. Chosen, not measured
    HDST__GPU_SORT_LEAST = 1 << 18,         // sorted
    HDST__GPU_PICK_LEAST = 1 << 19,         // looked through for candidates for the largest values
    HDST__GPU_BY_KEY_LEAST = 1 << 18,       // reduced by key
    HDST__GPU_BY_KEY_SLICE_LEAST = 1 << 14, //     of a slice, with texts in their keys, to be added to rows there

    // Tables in which a kernel's records with short texts as keys become one. Chosen, not measured
    HDST__GPU_COMBINE_HOT_BYTES = 12 << 10, // of a work-group's local memory, for keys that it met early
    HDST__GPU_COMBINE_GROUPS_PER_UNIT = 8,  // no more than have room at once
    HDST__GPU_COMBINE_BITS = 21,            // logarithm of the rows, at most
    HDST__GPU_COMBINE_SHARE = 16,           // of what the device has left
    HDST__GPU_COMBINE_LOOKS = 4,            // times the least records of a slice (above) that were made, to tell whether it pays

    // Rows by keys with texts, which stay on a device from slice to slice. Chosen, not measured
    HDST__GPU_SLICE_GROUPS_PER_UNIT = 8,    // work-groups that look for keys: no more than have room at once, as each has values of its own to add up
    HDST__GPU_SLICE_HOT_ROWS = 512, HDST__GPU_SLICE_HOT_BYTES = 8 << 10,        // rows that came first, whose values those are
    HDST__GPU_SLICE_SHARE = 64,             // of what the device, and the host, have left: for rows and their table; for bytes of keys
    HDST__GPU_SLICE_ROWS = 1 << 22,         // at most
    HDST__GPU_SLICE_HEAP_BYTES = 32 << 20,  // of keys, at most
    HDST__GPU_SLICE_KEY_BYTES = 1 << 12,    // of a text, at most: a work-item goes through its bytes one by one
    HDST__GPU_SLICE_PIECE_BYTES = 4 << 20,  // of rows on their way to the host
    HDST__GPU_SLICE_LOOKS = 64,             // times the least records of a slice: once it has seen so many one can tell whether it pays

    // A search for the quickest shape (engine/stage/shape_search.h). Chosen, not measured
    HDST__GPU_TUNING_LEAST = 1 << 20,       // records of a slice whose time says something of its shape: a tenth of a millisecond or more on a large GPU,
    HDST__GPU_TUNING_BYTES = 8 << 20,       // or so many bytes of them,
    HDST__GPU_TUNING_FEWEST = 1 << 14,      // but no fewer records than these
    HDST__GPU_TRIED_LEAST_GROUP = 64, HDST__GPU_TRIED_MOST_GROUP = 512,     // work-items
    HDST__GPU_TRIED_MOST_RECORDS = 8,       // of a lane
    HDST__GPU_TUNING_TRIES = 12, HDST__GPU_TUNING_SAMPLES = 3,              // shapes; slices of each in a round
    HDST__GPU_TUNING_SLICES = 200,          // given out for samples, at most; slices of very different lengths may need more than tries times samples
    HDST__GPU_TUNING_MOST_UNITS = 1024,     // work-groups per compute unit

    // Fixed-point accumulators. Chosen, not measured
    HDST__GPU_LEAST_OVERFLOW_CELLS = 1 << 10,  // of the overflow table
    HDST__GPU_OVERFLOW_CELLS_PER_WORD = 2,     // of the table: no more than are ever needed
    HDST__GPU_OVERFLOW_BYTES = 128 << 20, HDST__GPU_OVERFLOW_SHARE = 16,      // the overflow table; its share of what is left
    HDST__GPU_HEAVY_PAIRS = 3,                // equal rows among a sample's: then additions in device memory wait for each other

    // Reductions by key and sorts. Chosen, not measured
    HDST__GPU_HASH_GROUPS_PER_UNIT = 16,    // work-groups that take records apart
    HDST__GPU_GROUP_KEPT_SHARE = 4,         // of a device's budget that is unused: records in the order of their groups stay until the next run. Chosen
    HDST__GPU_KEYS_SEARCHED = 4 << 20,      // keys whose first records are searched for at once. Chosen, not measured
    HDST__GPU_SCAN_GROUPS_PER_UNIT = 2,     // work-groups that count
    HDST__GPU_SORT_GROUPS_PER_UNIT = 8, HDST__GPU_SORT_GROUP = 256,         // work-groups; work-items of one
    HDST__GPU_SORT_KEY_BYTES = 64,          // keys of a lane that moves them with an index, or where groups are no larger
    // Of keys alone, and of so many: 200M of 4 bytes take 0.98 ms a pass on an H100, 1.16 with 256 by 64; 0.99 with 256 by 96, 1.08 with 384 by 84.
    HDST__GPU_SORT_LARGE_GROUP = 384, HDST__GPU_SORT_LARGE_KEY_BYTES = 108, HDST__GPU_SORT_LARGE_LEAST = 1 << 23,
    HDST__GPU_SORT_LOCAL_BYTES = 40 << 10, HDST__GPU_SORT_LARGE_LOCAL_BYTES = 48 << 10,     // local memory of a work-group
    HDST__GPU_KEY_GROUP_TUPLES = 2048,      // for a work-group of its own: eight of a work-item
    HDST__GPU_KEY_LOCAL_BYTES = 48 << 10,   // of local memory that is used; where there is less, shares of it:
    HDST__GPU_KEY_TILE_BYTES = 32 << 10, HDST__GPU_HEAVY_TABLE_BYTES = 24 << 10,
    HDST__GPU_KEY_TABLE_SPARE_BYTES = 128,  // of a work-group with a table that takes all the rest
    HDST__GPU_KEY_COUNTED_BITS = 14, HDST__GPU_KEY_COUNTED_BITS_LEAST = 10,       // partitions that a work-group counts at once: two bytes each
    HDST__GPU_KEY_TILE_ROWS = 16,           // tuples of a lane, at most
    HDST__GPU_KEY_TUPLES_PER_ROW = 2,       // of a partition's table, at least, for which it is emptier
    HDST__GPU_KEY_CHUNK_TILES = 4,          // of a work-group that puts tuples in order again. Chosen, not measured
    HDST__GPU_KEY_TABLE_LEAST_ROWS = 64, HDST__GPU_KEY_TABLE_MOST_ROWS = 4096,
    HDST__GPU_KEY_TUPLE_WORDS = 16,         // of 32 bits; records of more are reduced on the host
    HDST__GPU_KEY_MANY_RECORDS = 4000000, HDST__GPU_KEY_MANY_PARTITION_BITS = 8,       // more records have so many partitions at least
    HDST__GPU_KEY_SOME_RECORDS = 100000, HDST__GPU_KEY_SOME_PARTITION_BITS = 6,
    HDST__GPU_KEY_SAMPLE_RECORDS = 1 << 15, HDST__GPU_KEY_ADDENDS = 1 << 12,           // looked at first; addends of a float sum
    HDST__GPU_KEY_MAP_BITS = 22,            // of the hash: a bit for each value of them counts distinct keys
    HDST__GPU_COUNTED_TUPLES = 1 << 22,     // of which that is done
    HDST__GPU_RARE_KEY_RECORDS = 2000,      // few keys: one in so many records has a key that the sample has once
    HDST__GPU_HEAVY_TIMES = 12,             // that a heavy hitter comes in the sample, at least
    HDST__GPU_HEAVY_HITTERS = 512,          // where not all keys are
    HDST__GPU_HEAVY_SEEDS = 32,             // of a hash, that are tried so that they lie apart in their table
    HDST__GPU_HEAVY_LEAST_PLACES = 16,      // of that table
    HDST__GPU_HEAVY_COPIES = 16,            // of it, at most
    HDST__GPU_KEY_OVERFLOW_CELLS = 512,        // of the overflow table, beside those that the sample lets expect

    HDST__GPU_SMALL_COPY_BYTES = 64 << 10,  // a copy that goes the way of the launches: overlapped it saves less than a wait between queues. Chosen
};

#define HDST__GPU_TUNING_MARGIN 0.02            // by which a shape is better than the best so far. Chosen, not measured
#define HDST__GPU_TUNING_HOPELESS 1.5           // times the best one's quickest slice: then a shape gets no second one. Chosen, not measured

// Asking a GPU whether it is through: at first all the time, then in pauses, a share of what has passed. Chosen, not measured.
#define HDST__GPU_BUSY_SECONDS 10e-3
#define HDST__GPU_PAUSE_SHARE (1.0 / 256)
#define HDST__GPU_PAUSE_SECONDS 5e-3            // the longest

#define HDST__GPU_COMPILE_SHARE 4               // shapes that need a compiler are tried once a kernel was busy for so many times the time of compiling. Chosen
#define HDST__GPU_COMPILE_SECONDS 0.3           // of a kernel, as a guess

#define HDST__GPU_KEY_OVERFLOW_MARGIN 1.5         // times those
// Of a partition's table, where it has HDST__GPU_KEY_TUPLES_PER_ROW; else, and rather than that tuples are put in order twice. H200: 300,000 keys of 8 bytes
// of 100M records take 2.26 ms with tables 22 % full, 2.9 with 44; 4M keys of 4 bytes 4.4 with 28 %, 5.4 with 56.
#define HDST__GPU_KEY_TABLE_LOAD 0.3
#define HDST__GPU_KEY_TABLE_MOST_LOAD 0.42

// --- The compiler (codegen/). A "node" is an operation in an expression. Measured on an H200 where times are given; chosen, not measured, elsewhere ---

enum {
    // Shape: work-items of a work-group, records of a lane. Several records keep enough loads under way and share what a uniform loop reads; registers set
    // the limit. Least squares over 100M records takes 1.16, 0.80, 0.68 ms with 2, 4, 8 of them; a step of logistic regression over 210M records 5.2 and
    // 3.8 ms with 1 and 2.
    HDST__GPU_GROUP = 256,                      // work-items
    HDST__GPU_WIDE_RECORD_BYTES = 512, HDST__GPU_WIDE_GROUP = 128,      // of a record read, whose loops keep a lane busy: more work-groups share a small input
    HDST__GPU_LONG_BODY_NODES = 600,            // above: a record for each lane
    HDST__GPU_MIDDLE_BODY_NODES = 200,          // above: two, or one
    HDST__GPU_SHORT_BODY_NODES = 120,           // above: four, or two with more than so many additions:
    HDST__GPU_SHORT_BODY_ADDS = 3,
    HDST__GPU_ADDITION_NODES = 10,              // that an addition counts as
    HDST__GPU_COARSENED_LOADS = 16,             // of a record that are made ahead; what has more is read where it is used
    HDST__GPU_RECORD_WORDS = 16,                // of 32 bits, of a record that is loaded as vectors: more would only fill registers
    HDST__GPU_FOLD_GROUP = 64,                  // work-items that fold records in order

    // Accumulators.
    HDST__GPU_REGISTER_WORDS = 16, HDST__GPU_LANE_SUM_WORDS = 8, HDST__GPU_PAIR_SUM_WORDS = 32,        // of a row in registers: any; running sums; of doubles
    // Sums of doubles that work-items own: at most, and the fewest; nodes of a loop's copies that tell them apart; work-items of a work-group; values that a
    // record leaves for them, as eighths of local memory; tables beside them; records at once. H200, 78 sums of 24 values, 20M records: 2.87, 2.33 ms one
    // record, four at once; by hand and untested 1.39 ms with 128 work-items and records, 1.37 with 256 and 128, 1.50 with 160 and 80.
    HDST__GPU_OWNED_SUMS = 256, HDST__GPU_OWNED_LEAST = HDST__GPU_PAIR_SUM_WORDS / 2 + 1, HDST__GPU_OWNED_NODES = 8192, HDST__GPU_OWNED_GROUP = 128,
    HDST__GPU_OWNED_LOCAL_EIGHTHS = 6, HDST__GPU_OWNED_COPIES = 4, HDST__GPU_OWNED_RECORDS = 4,
    HDST__GPU_OWNED_EACH = 4,                   // of a work-item. Chosen, not measured
    HDST__GPU_TABLE_COPIES = 16,                // of a table in local memory, that fewer lanes meet in a word
    // So few copies leave wide rows to loops of work-groups. H200, KMeans by ten, local memory and loops, C structs: 200,000 records of 256 columns 0.61,
    // 0.19 ms (one copy), of 128 0.32, 0.11 (two), of 64 0.167, 0.075 (four), of 32 0.10, 0.11 (eight); 60,000 of 784 by one 0.87, 0.15.
    HDST__GPU_FEW_COPIES = 4,
    // Of local memory, for elements of a wide table while a work-group's loop runs. The same of 784 columns by 20: 0.48 ms without, 0.277; by 26 0.64, 0.69.
    HDST__GPU_TILE_BYTES = 24 << 10,
    HDST__GPU_OWN_TABLE_BYTES = 2 << 20,        // of a work-group's table in device memory: there are hundreds
    HDST__GPU_SHARED_TABLE_BYTES = 16 << 20, HDST__GPU_SHARED_TABLES = 8,       // of all tables that work-groups share: they stay in the second-level cache.
                                                // H200, KMeans of 60,000 x 784 by ten, C structs: 0.207, 0.215, 0.220 ms with 8, 32, 128
                                                // of them, 0.243 with one of each of 469 work-groups; columns 0.235, 0.242, 0.243, 0.260
    HDST__GPU_MADE_TOGETHER = 32,               // additions that share a test,
    HDST__GPU_TESTED_TOGETHER = 8,              //     of doubles in registers: their addends take registers until the test is made
    HDST__GPU_COOPERATIVE_TURNS = 32,           // of a loop that the work-group shares,
    HDST__GPU_COOPERATIVE_FEW_TURNS = 8,        //     and of others once it shares one: additions that stay behind meet in device memory
    // Turns of its inner loop whose sums a lane has at once. H100, the neural net of 60,000 samples: exact sums take 1.67, 1.45 ms with ten turns of two,
    // four records, 1.54, 1.47 with fifteen; plain floats 1.21, 1.29 with ten, 0.96 with thirty turns of two records.
    HDST__GPU_COOPERATIVE_JAMMED = 10, HDST__GPU_COOPERATIVE_FAST_JAMMED = 30,
    HDST__GPU_COOPERATIVE_FEW_RECORDS = 2,      // that a lane takes at once where it has more sums than that
    HDST__GPU_KEPT_TURNS = 64,                  // of which a record keeps what is added when they have ended
    HDST__GPU_COOPERATIVE_RECORDS = 4,          // that a lane of such a loop takes at once,
    // and where its sums are in local memory: their loads are under way together. As doubles there they are for so many records of a work-group at most. H200,
    // KMeans of 60,000 x 784 by ten: 0.185 ms with 32, 0.207 with sixteen (C structs), 0.231, 0.235 (columns; by five 0.35, 0.205).
    HDST__GPU_COOPERATIVE_TILE_RECORDS = 32, HDST__GPU_COOPERATIVE_TILE_COLUMN_RECORDS = 16, HDST__GPU_COOPERATIVE_TILE_SPAN = 512,

    // Sums of products by a kernel of their own (codegen/pass/product_tiles.c): the fewest factors, elements and sums of one; nodes of its addend; a product
    // that is a single tile has tiles of its own if it has this share of the sums of the largest. Chosen, not measured
    HDST__GPU_PRODUCT_FACTORS = 4, HDST__GPU_PRODUCT_ELEMENTS = 32, HDST__GPU_PRODUCT_LEAST_SUMS = 256,
    HDST__GPU_PRODUCT_NODES = 16, HDST__GPU_PRODUCT_SHARE = 8,
    HDST__GPU_PRODUCT_LEAST_GROUP = 32,         // work-items
    // Sums of a lane, and lanes one below another with factors of their own. H200, by hand, 60,000 records, 30 factors by 784 elements, plain floats: 8 by 5
    // sums and 4 lanes take 0.186 ms, 8 by 7 0.32, 8 by 8 0.25, 15 by 5 and 2 lanes 0.25; two doubles each: 4 by 5 and 8 lanes 0.80, 8 by 3 and 4 lanes 0.88,
    // 8 by 5 1.13. Each sum of a lane has all 30 factors of two elements, which it reads where they lie: 0.18 for C structs alone.
    HDST__GPU_PRODUCT_FAST_FACTORS = 8, HDST__GPU_PRODUCT_FAST_DOWN = 4, HDST__GPU_PRODUCT_FAST_SUMS = 64,
    HDST__GPU_PRODUCT_EXACT_FACTORS = 4, HDST__GPU_PRODUCT_EXACT_DOWN = 8, HDST__GPU_PRODUCT_EXACT_SUMS = 20,
    HDST__GPU_PRODUCT_EXACT_COST = 8,           // of an exact addition, in plain ones
    HDST__GPU_PRODUCT_LEAST_STEPS = 4,          // where local memory is small. Chosen, not measured
    HDST__GPU_PRODUCT_STEPS = 32,               // records whose factors and elements are in local memory: with 16 the above takes 0.31 ms
    HDST__GPU_PRODUCT_LOADS = 4, HDST__GPU_PRODUCT_UNROLLED = 2,       // elements that a lane puts there at once; records that it takes from there at once
    HDST__GPU_PRODUCT_MOST_RECORDS = 1024,      // that go to registers before these go to a table: as many as twofold_add allows
    HDST__GPU_PRODUCT_LEAST_RECORDS = 64,       // of a stretch that has a table of its own. Chosen, not measured

    // Tiles of records by rows of broadcasts. H100, by hand: 60,000 rows of 784 by 30 take 0.29 ms with 8 records by 15 turns of a lane, 0.36 with 4 by 15,
    // 0.42 with 8 by 8, 0.54 with 4 by 30; by 10 rows 0.11 with 8 by 10, 0.21 with 4 by 10.
    HDST__GPU_TILE_GROUP = 128,                 // work-items
    HDST__GPU_TILE_TURNS = 30,                  // of a loop whose dots are made at once: they lie in local memory for all records of a work-group
    HDST__GPU_TILE_RECORDS = 8, HDST__GPU_TILE_UNITS = 15,      // of a lane: records, turns
    // Records of a lane beside a table of the work-group in device memory, for whose additions registers are left then: a step of KMeans over 60,000 points
    // of 784 coordinates with ten centers takes 0.53 ms with four and 128 of a work-group, 0.58 with four and 64, 0.77 with eight; 0.68 without tiles.
    HDST__GPU_TILE_TABLE_RECORDS = 4,
    // Below so many turns memory is what counts, and a small input is to have work-groups enough: a lane has one record. 8192 rows of 8192 by one take
    // 0.097 ms with one, 0.106 with two, 0.15 with four; reading them alone takes 0.091.
    HDST__GPU_TILE_FEW_TURNS = 4,
    // Sums of a lane for which compilers are asked to take two steps at once. H200, KMeans of 60,000 x 784 by ten, the distances alone, C structs: 0.29 ms
    // one by one, 0.11 two at once, 0.09 four; with the additions behind them 0.36, 0.32, 0.34.
    HDST__GPU_TILE_UNROLLED_SUMS = 40,
    // Steps of a lane's sum that stand one behind another then, so that their loads are under way together: 0.13 ms with one. H200, a turn of the same as a
    // loop: 0.124 with 8, 0.102 with 16, 0.101 with 32.
    HDST__GPU_TILE_STEPS = 16,
    // Turns of a lane's sums that are unrolled where wide sums are another kernel's: 0.25, 0.26, 0.33 ms with 2, 4, 1 of them, H200, 60,000 records by 30 rows
    HDST__GPU_TILE_APART_UNROLLED = 2,
    HDST__GPU_TILE_SPAN = 64,                   // records of a work-group, where a lane has several
    // Of sums that are written as loops: turns of the loop around that are made at once, and the fewest; of a lane; steps whose values are in local memory.
    // H100, 60,000 rows of 512 (C structs; columns) by 256: 1.82, 1.14 ms with 4 turns and 8 steps, 1.05, 1.30 with 4 and 16, 1.08, 0.99 with 8 and 16.
    HDST__GPU_TILE_ORDERED_TURNS = 64, HDST__GPU_TILE_ORDERED_LEAST = 32, HDST__GPU_TILE_ORDERED_UNITS = 8, HDST__GPU_TILE_ORDERED_STEPS = 16,
    HDST__GPU_TILE_LOCAL_EIGHTHS = 5,           // of local memory, at most

    // Additions by way of tuples.
    HDST__GPU_TUPLE_VALUES = 3,                 // words beside the key
    HDST__GPU_TUPLE_TILE_ROWS = 16,             // tuples of a lane
    HDST__GPU_HEAVY_TILES = 16,                 // a partition with so many tiles more than its share has heavy hitters

    HDST__GPU_PRIVATE_BYTES = 64 << 10,         // of private memory of a work-item, at most: drivers tell only when it is too late
};

#endif
