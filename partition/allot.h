// SPDX-License-Identifier: Apache-2.0
// Partitioning by a table of computing powers (FlinkCL, algorithm 4.2): how many records each worker has so that all end together.
//
// Of a worker it is known until when it is busy, and what records cost it in fixed, copy and kernel parts (FlinkCL, equations 1 to 3). n more records, in
// one share, end at
//     busy + fixed + n * (copy + kernel)                                  where copies and kernels take turns,
//     fixed + the later of copying + n * copy and busy + n * kernel       where copies run beside kernels,
// and at `busy` where n is 0: a worker that would end later with its first unit than the others with all of it gets none.
#ifndef HDST_PARTITION_ALLOT_H
#define HDST_PARTITION_ALLOT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__allotment {
    double busy, copying;           // seconds from now: its kernels, its copies
    double fixed, copy, kernel;     // seconds; kernel: over 0. A worker that takes no part has infinity in `fixed`
    bool copies_apart;
    uint64_t records;               // out: a multiple of the unit, but where the last ones are fewer
} hdst__allotment;

double hdst__allotment_end(const hdst__allotment *worker, double records);
double hdst__allotment_records(const hdst__allotment *worker, double seconds);      // that have ended by then; under 0: it is late already

// The least time in which all are done, in whole units: exact but for one unit's time where `records` is no multiple of it. With no worker that takes
// part: infinity, and none has any.
double hdst__allot(hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit);

// The same without the split.
double hdst__allot_seconds(const hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit);

#endif
