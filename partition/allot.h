// SPDX-License-Identifier: Apache-2.0
// Partitioning by a table of computing powers (FlinkCL, algorithm 4.2): how many records each worker has so that all end together.
//
// Of a worker it is known what it has still to do before it could begin, and what records cost it in fixed, copy and kernel parts (FlinkCL, equations 1
// to 3). n records, in one share, end at
//     busy + fixed + n * (copy + kernel)          where copies and kernels take turns,
//     busy + fixed + n * max(copy, kernel)        where copies run beside kernels,
// and at `busy` where n is 0: a worker that would end later with its first unit than the others with all of it gets none.
#ifndef HDST_PARTITION_ALLOT_H
#define HDST_PARTITION_ALLOT_H

#include <stdint.h>

typedef struct hdst__allotment {
    double busy, fixed, each;       // seconds; each: of a record, over 0. A worker that takes no part has infinity in `fixed`
    uint64_t records;               // out: a multiple of the unit, but where the last ones are fewer
} hdst__allotment;

// The least time in which all are done, in whole units: exact but for one unit's time where `records` is no multiple of it. With no worker that takes
// part: infinity, and none has any.
double hdst__allot(hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit);

// The same without the split.
double hdst__allot_seconds(const hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit);

#endif
