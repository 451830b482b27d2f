// SPDX-License-Identifier: Apache-2.0
// What the host's memory and time cost, whatever the device. Each has its unit; all are chosen, not measured, where nothing else is said.
#ifndef HDST_BASE_COSTS_HOST_H
#define HDST_BASE_COSTS_HOST_H

enum {
    HDST__HOST_STREAM_BYTES = 32 << 20,         // a segment of the ring
    HDST__HOST_STREAM_LEAST_BYTES = 4 << 20,    // a segment of the ring, which is not cut smaller for the sake of overlap
    HDST__HOST_OUTPUT_BYTES = 32 << 20,         // output records of a slice
    // Shares of what is left of the budgets: three segments and four slices' outputs leave half of it to tables and results.
    HDST__HOST_STREAM_SHARE = 8, HDST__HOST_OUTPUT_SHARE = 32,
    HDST__HOST_FIRST_RECORDS = 1 << 18,         // of a slice, while nothing is known of the time of a record
    HDST__HOST_GRACE_SECONDS = 2,               // a device that goes on for so long after a cancel is given up
};

#define HDST__HOST_SLICE_SECONDS 0.25           // a slice is not longer, so that a run can be cancelled, nor much shorter
#define HDST__HOST_TRY_SECONDS 5e-3             // of a slice that tries a shape: many of them are soon done, and none is lost in what comes before and after it
#define HDST__HOST_SAMPLE_SECONDS 2e-3          // what a look at the data may take, about

#endif
