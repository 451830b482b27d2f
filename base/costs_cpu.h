// SPDX-License-Identifier: Apache-2.0
// What CPU devices cost: sizes at which the engine takes another way on them, each with its unit. They are chosen, not measured, where nothing is said.
#ifndef HDST_BASE_COSTS_CPU_H
#define HDST_BASE_COSTS_CPU_H

// --- Stages (engine/) ---

// A word of a strip's table, to be cleared and added to the device's by each launch: 85 ms for two strips of 16.8M words each, on two cores of a Xeon.
#define HDST__CPU_FLUSH_WORD_SECONDS 2.5e-9

enum {
    HDST__CPU_STRIPS_PER_UNIT = 8,              // strips per core: evens out what cores do beside. KMeans takes 1.07 to 1.2 of a C program with 16 threads of a
                                                // Xeon with 64 strips, 6 with 2
    HDST__CPU_BIG_STRIP_BYTES = 256 << 10,      // a strip's table that leaves the caches of a core: then a strip per core
    HDST__CPU_LONG_FLUSH_BYTES = 96 << 10,      // a strip's words that take long to add to first-level accumulators (4 ns each): then two strips per core. The
                                                // gradient of 8,000 samples to 23,860 sums spent a seventh of its time so with eight
    HDST__CPU_STRIP_OUTPUT_BYTES = 8 << 20,     // output of a slice where strips leave gaps, which the host closes: while it lies in a cache, if there is much
    HDST__CPU_TEXT_SLICE_BYTES = 1 << 20,       // texts of a slice, with their spans
    HDST__CPU_MOST_TOKENS = 3,                  // times as many tokens as there are have room, where there is room for the most that there might be
    HDST__CPU_TEXT_OUTPUT_BYTES = 16 << 20,     // what comes of it: a word of six letters and a blank is a record of 24 bytes; more is cut
    HDST__CPU_COMBINE_AHEAD_BLOCKS = 3,         // blocks from the one whose records go to such a table to that of C structs that is asked for meanwhile
    HDST__CPU_COMBINE_LEAST = 1 << 16,          // given before tables of the cores are used: by so many it is known what keys are like. Chosen, not measured
    HDST__CPU_COMBINE_LEAST_BITS = 12,          // logarithm of the rows of such a table at first
    HDST__CPU_COMBINE_TABLE_BYTES = 16 << 20,   // of one at most, as of a thread's own
    HDST__CPU_COMBINE_WAITS = 1 << 18,          // given before a run no longer waits for them with small slices
    HDST__CPU_COMBINED_ROWS_BYTES = 512 << 10,  // of a core's table of rows of words, which shares the second cache with the records at hand,
    HDST__CPU_COMBINED_ROWS_TIMES = 6,          // and has so many times as many places as there may be keys, at least
    HDST__CPU_COUNTED_INPUT_BYTES = 8 << 20,    // input of a slice whose records are counted first: the second run finds most of it in a cache
    HDST__CPU_LEAST_FLUSH = 64,                 // records; a strip that flushed more often would do little else
    HDST__CPU_DIRTY_PAGES = 16,                 // of first-level accumulators that are read and cleared one by one; of more all are
    HDST__CPU_SORT_STRIPS_PER_UNIT = 4,         // strips per core that sort
    HDST__CPU_SORT_LEAST_STRIP = 1 << 14,       // records of such a strip
    HDST__CPU_BINARY_STARTS = 16,               // processes of a program until its binary is asked for where the driver keeps machine code itself (PoCL):
                                                // that takes 0.3 s and saves 0.02 s, its look at the source, in each process
    HDST__CPU_CALLBACK_RECORDS = 4096,          // records of a C function's thread: one for fewer costs more than it saves
};

// --- The compiler (codegen/): forms and what they are worth. A "node" is an operation in an expression. Chosen, not measured, where nothing is said ---

// Records of a block, and the bytes that they keep there, each at most. Arrays of a block are to stay in the first-level cache, those of the smallest in
// the second. 128 records are best on Intel, within a few percent on AMD.
#define HDST__CPU_BLOCKS {{HDST__CPU_BLOCK, 256}, {64, 1024}, {32, 4096}, {16, 8192}}

enum {
    HDST__CPU_BLOCK = 128,                      // records
    HDST__CPU_MASKED_BLOCK = 64,                // records, with loops that go on while any record is in them: four vectors of floats, which hide each
                                                // other's latency
    HDST__CPU_SUMMING_BLOCK = 512,              // records, where a few addends are kept for each and no loop turns around records: what a block needs once
    HDST__CPU_SUMMING_BLOCK_BYTES = 24,         //     is shared by more; bytes kept of a record, at most
    HDST__CPU_RUNS_BLOCK = 2048,                // records that add to rows in order: what is read and written of each row has left the caches when the next
                                                // block begins, so fewer blocks wait for it (PageRank of 2^20 vertices 1.15 times quicker); half where
    HDST__CPU_RUNS_BLOCK_BYTES = 12,            //     more is kept of a record
    HDST__CPU_LONGER_BLOCK = 256,               // the same where more is kept: running sums are read and written less often
    HDST__CPU_LONGER_BLOCK_BYTES = 64,
    HDST__CPU_LEAST_BLOCK = 32,                 // records of a block of wide rows,
    HDST__CPU_WIDE_RECORD_BYTES = 512,          //     of which so many bytes are read
    HDST__CPU_COLUMN_BYTES = 256 << 10,         //     and whose columns are to stay in the second-level cache
    HDST__CPU_LAYOUT_BLOCK = 512,               // records of the layout's blocks that are read whole, at most: with half of one at a time the processor's
                                                // prefetching loses the thread (KMeans 1.2 times slower)
    HDST__CPU_AHEAD_BYTES = 2 << 10,            // of C structs, that are asked for ahead of a block of them
    HDST__CPU_AHEAD_BLOCK_BYTES = 4 << 10,      //     of no more bytes: more at once hold up what is to be read now
    HDST__CPU_AHEAD_KEPT_BYTES = 128,           //     on a processor that asks for structs by itself: where more is kept of a record, and so much is done
                                                //     with a block before the next one is read that it has stopped asking
    HDST__CPU_LOOKUP_BATCH = 16,                // rows of a hash table that a loop asks for before it reads the first: as many as a core waits for at a time
    HDST__CPU_STRIP_STEP = 64,                  // records: strips begin at a multiple of it, or of a block
    HDST__CPU_FEW_STEP = 4,                     //     of few wide records: as many as dots are computed of at once; a strip has
    HDST__CPU_FEW_RECORDS = 48,                 //     so many at least: to clear its table and to add it up takes as long as thirty of them

    // Vectors.
    HDST__CPU_VECTOR_BYTES = 64,                // of what a record loop mostly works on: a vector of AVX-512, two of AVX2
    HDST__CPU_INTERLEAVE = 4,                   // vectors side by side in a loop of at most
    HDST__CPU_INTERLEAVED_STATEMENTS = 4,       //     so many statements, or
    HDST__CPU_INTERLEAVED_NODES = 640,          //     so many nodes of all vectors together when records leave the loop
    HDST__CPU_FISSION_NODES = 24,               // of a loop over elements beside a sum in order: fewer are not worth a loop without it
    HDST__CPU_MASKED_VECTORS = 8,               // in a loop of fewer the turns that are left are a vector too
    HDST__CPU_PAIRED_LEAST_NODES = 320,         // two vectors side by side share their constants (Black-Scholes takes 0.87 of the time);
    HDST__CPU_PAIRED_MOST_NODES = 1024,         //     longer ones take long to compile
    HDST__CPU_LOOP_OF_ITS_OWN_NODES = 64,       // fewer are not worth a record loop of their own beside a scalar one
    HDST__CPU_RECOMPUTED_NODES = 256,           // of a value that is computed again in a block; what is more is kept

    // Loops around records.
    HDST__CPU_JAMMED_TURNS = 4, HDST__CPU_JAMMED_NODES = 256,           // turns of an outer loop that share a record loop; its nodes
    HDST__CPU_ROW_JAMMED_TURNS = 4, HDST__CPU_ROW_JAMMED_NODES = 400,   // the same of loops over a row's elements
    HDST__CPU_MASKED_TURNS = 4, HDST__CPU_MASKED_TURN_NODES = 320,      // turns of a masked loop between two looks at whether anyone is in it; nodes of one
    HDST__CPU_ASKED_BRANCH_NODES = 192,         // of a masked branch that is worth asking whether anyone takes it
    HDST__CPU_PLAIN_BRANCH_NODES = 48,          // of a branch that all compute: less than the cost of asking
    HDST__CPU_RUN_THROUGH_TURNS = 64,           // of a loop that is run through though nobody may be in it

    // Rows: one record, with SIMD over its elements.
    HDST__CPU_ELEMENT_TURNS = 8,                // of a loop that becomes one over elements
    HDST__CPU_ROW_SUM_ELEMENTS = 16,            // of a local array that makes a row: a vector of floats
    HDST__CPU_SCATTER_NODES = 16,               // for each addition, of a function that hardly does more than add: a converted field, a check of it, an addend
    // Registers of a tile of sums over rows, of 32: 20 or 24 sums and four vectors of a row (measured: 5 by 4 of doubles; of floats 6 by 4, which takes
    // 0.94 of the time of 6 by 2).
    HDST__CPU_ROW_SUM_UNITS = 5, HDST__CPU_ROW_SUM_VECTORS = 4, HDST__CPU_ROW_SUM_LANES = 8,
    HDST__CPU_SPARSE_ROW_UNITS = 16,            // units of exact sums over rows from which on zeros are left out of blocks that are mostly zeros: registers are
                                                // of units there
    HDST__CPU_FAST_ROW_UNITS = 6, HDST__CPU_FAST_ROW_VECTORS = 4, HDST__CPU_FAST_ROW_LANES = 16,
    HDST__CPU_ROW_DOT_UNITS = 5, HDST__CPU_ROW_DOT_RECORDS = 4,         // of a tile of dot products: twenty sums, four vectors of records, one of the broadcast
    HDST__CPU_ROW_DOT_AHEAD = 2,                //     whose records are asked for so many tiles ahead

    // Accumulators.
    HDST__CPU_REGISTER_WORDS = 16,              // of a row that stays in registers
    HDST__CPU_BLOCK_SUMS = 512,                 // words of an accumulator whose sums have levels in private memory: 448 bytes each (704 for floats), in the
                                                // second-level cache, read and written once a block (79 sums of doubles: 33 ns a record, 51 in fixed point)
    HDST__CPU_ALIKE_SUMS = 3,                   // sums whose addends are made alike, from which on they have a loop of their own: it takes 50 to 100 ms when
                                                // the kernel is compiled, and saves storing addends (six sums: 0.35 ns a record, 0.38 without)
    HDST__CPU_PAGE_LEAST_WORDS = 32,            // of a strip's table that are added while a page is locked; fewer take atomic operations. Chosen, not measured
    HDST__CPU_FIRST_LEVEL_PAGES = 8,            // of superaccumulators (HDST__PAGE_WORDS each) that are worth first-level accumulators in front
    HDST__CPU_NARROW_ROWS = 1 << 14,            // of a strip's table, from which on words of 32 bits pay: with words of 64 a first-level cache has no room
    HDST__CPU_TWO_TABLES_WORDS = 1 << 10,       // of both tables of a strip that records take in turn: half a first-level cache

    // A loop over a block that adds to such sums.
    HDST__CPU_SUM_LANES = 16,                   // floats of a vector; half as many doubles
    HDST__CPU_SUM_NODES = 6,                    // of an addend: they are computed again for what does not fit
    // Groups of a family that is added beside the next block's records: of four and more a step takes 0.89 to 0.98 of the time, of two or three 1.01.
    HDST__CPU_PIPELINED_GROUPS = 4,

    // Input and output.
    HDST__CPU_UNPACKED_BYTES = 256 << 10,       // of arrays that a block's fields are unpacked to: above, they would only move from one cache to another
    HDST__CPU_STRIDED_VALUES = 8,               // of one kind in a record: strided reads up to here are vector loads and shuffles, beyond slow gathers
    HDST__CPU_UNPACKED_ELEMENTS = 8,            // of a field, each written out; more go by a loop, and are not prefetched
    HDST__CPU_COUNTED_NODES = 48,               // of a form that counts output: more would be as much work as making it
    HDST__CPU_PRIVATE_BYTES = 4 << 20,          // of private memory of a work-item, at most: drivers tell only when it is too late
};

#endif
