// SPDX-License-Identifier: Apache-2.0
// A scheduling policy: which worker of a run takes which records, and how many of them at once. It is one file, with a line in the table of policies.c.
// Policies know numbers alone, nothing of devices, kernels or files, and none changes a result.
//
// A run is a job. Each worker (a device) asks for shares of the input until there are none for it. Of a share it reads pieces, a segment's worth each, and
// asks for each launch how many records of the piece it is to take, a slice; of each slice that has ended it tells what it cost. Slices are submitted
// ahead, so several may be under way when the next one is asked for.
//
// Each worker asks from a thread of its own: but for `begin` and `end` all functions of a schedule may be called from several threads at once.
#ifndef HDST_PARTITION_POLICY_H
#define HDST_PARTITION_POLICY_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__share {        // a run of records of the input
    uint64_t first, count;
} hdst__share;

// What records cost a worker, in seconds; 0: not known (a kernel's), or nothing.
typedef struct hdst__power {
    double fixed;                   // of a slice, whatever its length
    double copy, kernel;            // of a record: on its way in; computed
    double spread;                  // of a record's seconds from slice to slice, as a part of them
    uint32_t slices;                // that it was measured on; 0: a guess
} hdst__power;

typedef enum hdst__wish { HDST__POLICY_AUTO, HDST__POLICY_STATIC, HDST__POLICY_DYNAMIC } hdst__wish;

typedef struct hdst__worker {
    hdst__power *power;             // as earlier runs, or a sample, have it. The policy keeps it true; it outlives the job
    bool copies_apart;              // copies in run beside kernels, as with a memory of its own: the slower of both counts, not their sum
    const hdst__share *resident;    // records whose data lie with it, in ascending order: nobody else copies them while it works
    uint32_t resident_count;        //     of different workers they do not overlap
} hdst__worker;

typedef struct hdst__job {
    uint64_t records;               // of the input
    uint64_t unit;                  // records: shares end at its multiples, or where the input or a resident share ends. A multiple of 64; 0: 64
    uint32_t workers;
    const hdst__worker *worker;     // copied, with resident shares, by `begin`
    hdst__wish wish;                // with several workers
} hdst__job;

typedef struct hdst__slice_limits { // of the next slice, as things are now
    uint64_t left;                  // records at hand: of the piece and of the share. A slice may be so short, whatever the others say
    uint64_t unit;                  // records: what is chosen by time is a multiple of it
    uint64_t least, most;           // records, 1 <= least <= most: what a launch is worth, and what there is room for
    double seconds;                 // that it is to take
} hdst__slice_limits;

typedef struct hdst__slice_cost {   // of a slice that has ended; seconds, 0: not known
    uint64_t records;
    double fixed, copy, kernel;
} hdst__slice_cost;

typedef struct hdst__schedule hdst__schedule;       // a job under way; each policy has its own

typedef struct hdst__policy {
    const char *name;
    bool (*suits)(const hdst__job *job);
    hdst__schedule *(*begin)(const hdst__job *job, const hdst__allocator *allocator);      // NULL: out of memory
    // The worker's next share, not empty. All shares together are the input, once. What lies with a worker ascends, and so does what does not, but for
    // what others have given back and for what it steals where it has nothing of its own left. False: there is nothing for it as things are. It asks
    // again when a slice of its own has ended. One that has none under way may ask again when another worker has ended a slice, and should when one has
    // given something back; it is not counted on: all records are given out by those that go on asking.
    bool (*next)(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
    uint64_t (*slice)(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits);        // records, from 1 to limits->left
    void (*done)(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost);
    // Records that were this worker's and that it will not have done: the rest of its share when it stops, all of its shares when what it made of them is
    // lost. Others get them. From `leaves` on it gets no more itself. False: out of memory, and the records are still the caller's.
    bool (*give_back)(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool leaves);
    const char *(*left_out)(hdst__schedule *schedule, uint32_t worker);    // why the worker has nothing, a constant text; NULL: it has its part
    double (*seconds)(hdst__schedule *schedule);    // that the job will take, as was thought when it began; 0: not known
    void (*end)(hdst__schedule *schedule);          // of a job that is complete, or was broken off
} hdst__policy;

extern const hdst__policy hdst__policy_one_worker, hdst__policy_static, hdst__policy_dynamic, hdst__policy_auto;

// The first of the table that suits; there is one for every job.
const hdst__policy *hdst__policy_for(const hdst__job *job);

#endif
