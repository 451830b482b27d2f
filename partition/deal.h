// SPDX-License-Identifier: Apache-2.0
// A job of several workers under way, which the policies for several workers share: whose records are which, how quick each worker is, who is at work. A
// policy adds what it gives out when. Functions named hdst__deal_ lock, but for begin and end; those named hdst__dealt_ are for a policy that holds the lock.
#ifndef HDST_PARTITION_DEAL_H
#define HDST_PARTITION_DEAL_H

#include "partition/allot.h"
#include "partition/ranges.h"

#include <pthread.h>

typedef struct hdst__dealt_worker {
    hdst__power *power;             // the caller's, kept true by its own thread alone
    bool copies_apart;
    hdst__ranges resident, own;     // what lies with it; what is put down for it, and may be stolen
    uint64_t under_way;             // records that it was given and has not told of
    double fixed_under_way;         // seconds, of their shares
    double fixed, copy, kernel;     // seconds, as they are now; kernel 0: not known
    double spread;                  // mean deviation of a slice's seconds per record from what was expected, as a part of that
    uint32_t slices;                // that this goes by, of earlier runs too
    bool had_any;                   // shares
    bool had_resident;              // last
    bool leaves;
    bool waits;                     // was told that there is nothing for it, and no slice of it has ended since: the others must do without it
    const char *reason;             // why it has nothing; NULL: it has its part
} hdst__dealt_worker;

struct hdst__schedule {
    const hdst__allocator *allocator;
    pthread_mutex_t mutex;
    uint64_t unit;
    uint32_t workers;
    hdst__dealt_worker *worker;
    hdst__allotment *allotment;     // scratch, of all workers
    hdst__ranges pool;              // for whoever comes
    bool split;                     // the pool was divided
    double seconds;                 // that the job was thought to take
};

hdst__schedule *hdst__deal_begin(const hdst__job *job, const hdst__allocator *allocator);
uint64_t hdst__deal_slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits);
void hdst__deal_done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost);
bool hdst__deal_give_back(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool leaves);
const char *hdst__deal_left_out(hdst__schedule *schedule, uint32_t worker);
double hdst__deal_seconds(hdst__schedule *schedule);
void hdst__deal_end(hdst__schedule *schedule);

// --- For policies ---

double hdst__dealt_each(const hdst__dealt_worker *worker);      // seconds of a record that has to be copied in; its speed is known
// All workers as `hdst__allot` wants them, with what is put down for none of them. Those that leave, wait or are not known take no part, nor does `without`.
void hdst__dealt_allotments(const hdst__schedule *schedule, uint32_t without, hdst__allotment *allotment);
// Whether its speed was measured, and on how many slices at least; those of workers that leave do not matter.
bool hdst__dealt_all_measured(const hdst__schedule *schedule, uint32_t slices);
// The largest spread of a worker's seconds per record.
double hdst__dealt_spread(const hdst__schedule *schedule);
// Divides the pool by the powers of all workers, so that they end together, in the order of workers; a worker that is left out gets its reason, and the
// schedule its seconds. Out of memory: the pool stays, and `split` is false.
void hdst__dealt_split(hdst__schedule *schedule);
// Back to the pool. Out of memory: nothing has changed.
void hdst__dealt_join(hdst__schedule *schedule);
// Of what lies with the worker; false: nothing is left of it.
bool hdst__dealt_resident(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
// All of what is put down for it.
bool hdst__dealt_own(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
// Of the pool: a slice, shrinking towards the end, unless the other workers would have done the rest sooner.
bool hdst__dealt_pool(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
// The same of what is put down for it, then of the pool, and at last from the end of what another has too much of.
bool hdst__dealt_own_or_others(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
// What lies with it, or what another of these functions has. Where copies run beside kernels they take turns: one is copied in while the other runs.
typedef bool hdst__dealt_function(hdst__schedule *schedule, uint32_t worker, hdst__share *share);
bool hdst__dealt_in_turns(hdst__schedule *schedule, uint32_t worker, hdst__dealt_function *other, hdst__share *share);
// Notes what the worker gets: `given` is what the policy's `next` returns.
bool hdst__dealt(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool given);

#endif
