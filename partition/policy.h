// SPDX-License-Identifier: Apache-2.0
// A scheduling policy: which worker of a run takes which records, and how many of them at once. It is one file, with a line in the table of policies.c.
// Policies know numbers alone, nothing of devices, kernels or files, and none changes a result.
//
// A run is a job. Each worker (a device) asks for shares of the input until there are none. Of a share it reads pieces, a segment's worth each, and asks
// for each launch how many records of the piece it is to take, a slice; of each slice that has ended it tells how long it took. Slices are submitted
// ahead, so several may be under way when the next one is asked for.
//
// With several workers each asks from a thread of its own: a policy for them locks what they share.
#ifndef HDST_PARTITION_POLICY_H
#define HDST_PARTITION_POLICY_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__job {
    uint64_t records;               // of the input
    uint32_t workers;
    double *seconds_per_record;     // by worker: as earlier runs, or a sample, have it; 0: not known. The policy keeps it true; outlives the job
} hdst__job;

typedef struct hdst__share {        // a run of records of the input
    uint64_t first, count;
} hdst__share;

typedef struct hdst__slice_limits { // of the next slice, as things are now
    uint64_t left;                  // records at hand: of the piece and of the share. A slice may be so short, whatever the others say
    uint64_t unit;                  // records: what is chosen by time is a multiple of it
    uint64_t least, most;           // records, 1 <= least <= most: what a launch is worth, and what there is room for
    double seconds;                 // that it is to take
} hdst__slice_limits;

typedef struct hdst__schedule hdst__schedule;       // a job under way; each policy has its own

typedef struct hdst__policy {
    const char *name;
    bool (*suits)(const hdst__job *job);
    hdst__schedule *(*begin)(const hdst__job *job, const hdst__allocator *allocator);      // NULL: out of memory
    // The worker's next share: behind those it had, and not empty. All shares together are the input, once. False: there are no more for it.
    bool (*next)(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
    uint64_t (*slice)(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits);        // records, from 1 to limits->left
    void (*done)(hdst__schedule *schedule, uint32_t worker, uint64_t records, double seconds);     // of a slice; 0 seconds: not known
    void (*end)(hdst__schedule *schedule);      // of a job that is complete, or was broken off
} hdst__policy;

extern const hdst__policy hdst__policy_one_worker;

// The first of the table that suits; there is one for every job of one worker.
const hdst__policy *hdst__policy_for(const hdst__job *job);

#endif
