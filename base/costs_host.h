// SPDX-License-Identifier: Apache-2.0
// Costs of the host's memory and time, whatever the device, each with its unit. All are estimates where nothing else is said.
#ifndef HDST_BASE_COSTS_HOST_H
#define HDST_BASE_COSTS_HOST_H

#include <stdint.h>

// --- Stages (engine/) ---

enum {
    HDST__HOST_STREAM_BYTES = 32 << 20,         // a segment of the ring
    HDST__HOST_STREAM_LEAST_BYTES = 4 << 20,    // a segment of the ring, which is not cut smaller for the sake of overlap
    HDST__HOST_OUTPUT_BYTES = 32 << 20,         // output records of a slice
    // Shares of what is left of the budgets: three segments and four slices' outputs leave half of it to tables and results.
    HDST__HOST_STREAM_SHARE = 8, HDST__HOST_OUTPUT_SHARE = 32,
    HDST__HOST_FIRST_RECORDS = 1 << 18,         // of a slice, while nothing is known of the time of a record
    HDST__HOST_FOLD_RECORDS = 1 << 20,          // of a slice of a fold, at least: 16384 work-items
    HDST__HOST_SAMPLE_RECORDS = 256, HDST__HOST_SAMPLE_RUNS = 16,       // a look at the data before it is run: records at most, in so many places
    HDST__HOST_IN_PLACE_BYTES = 1 << 20,        // of an output record that kernels write where it stays, at most: a chunk of a store holds many
    HDST__HOST_WINDOW_SLACK_BYTES = 1 << 16,    // room in a window of the output beyond what is expected (HDST__HOST_WINDOW_MARGIN)
    HDST__HOST_FIRST_CHUNK_BYTES = 16 << 20,    // of output that stays, where nobody knows how much will come; each later chunk is twice as large
    HDST__HOST_COPY_BYTES = 16 << 20,           // of a copy of it to the host
    HDST__HOST_STAGING_BYTES = 64 << 20,        // of a piece on its way to memory that the host cannot reach
    HDST__HOST_BATCH_BYTES = 16 << 20,          // rows that are read between two looks at whether the run was cancelled
    HDST__HOST_PIECE_BYTES = 4 << 20, HDST__HOST_PIECE_SHARE = 8,       // rows that go through memory; their share of what the budget has left
    // A fold in input order: records that are read at a time, at most; bytes, as read and as C structs; their share of what the budget has left.
    HDST__HOST_ORDERED_RECORDS = 4096, HDST__HOST_ORDERED_BYTES = 8 << 20, HDST__HOST_ORDERED_SHARE = 8,
    HDST__HOST_LEFT_SHARE = 4,                  // of the budget, which rows leave that may as well be in a file
    HDST__HOST_GRACE_SECONDS = 2,               // a device that goes on for so long after a cancel is given up
};

#define HDST__HOST_CHUNK_BYTES ((uint64_t)2 << 30)     // of a cached dataset's segment, or of output that stays, at most: each is a launch
#define HDST__HOST_OUTPUT_MARGIN 1.25           // a slice's output is expected to fit with so much to spare: one that does not runs twice
#define HDST__HOST_WINDOW_MARGIN 1.05           // the same of a window; more would have the budget hold what nobody needs
#define HDST__HOST_ASK_SECONDS 0.02             // of work, to ask a device between slices whether a record failed
#define HDST__HOST_KERNEL_SHARE (1.0 / 50)      // of the interpreter's time a compiled kernel takes about this much
#define HDST__HOST_SLICE_SECONDS 0.25           // a slice is not longer, so that a run can be cancelled, nor much shorter
#define HDST__HOST_TRY_SECONDS 5e-3             // of a slice that tries a shape: many of them are soon done, and none is lost in what comes before and after it
#define HDST__HOST_SAMPLE_SECONDS 2e-3          // what a look at the data may take, about

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
