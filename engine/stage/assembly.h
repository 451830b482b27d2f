// SPDX-License-Identifier: Apache-2.0
// Output records of several workers, put in the order of the input. Each share of the input has a chunk; a worker fills those of its own shares, one thread
// (that of the first worker) takes chunks that are whole, in order, and gives them to the output or to who consumes it.
//
// Where each record of the input gives one, or each run of so many, its place is known beforehand: a chunk then is a stretch of the output itself and
// nothing is copied twice.
// Where a consumer takes them, chunks wait for those before them; so that they do not pile up, a worker that is far ahead waits before its next share.
//
// Of a run that ends early so many of the first output records are wanted. Those count that are output of a stretch of the input without a gap from its
// start; once they are enough, what else was made is thrown away. A worker whose share lies where nothing will be wanted, as it looks, waits as well.
#ifndef HDST_ENGINE_STAGE_ASSEMBLY_H
#define HDST_ENGINE_STAGE_ASSEMBLY_H

#include "engine/memory/consumer.h"
#include "engine/memory/output.h"
#include "partition/policy.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct hdst__chunk {
    hdst__share share;              // of the input
    uint64_t taken;                 // records of it whose output is here
    uint64_t ready;                 //     and how much that is
    hdst__output output;
    struct hdst__chunk *next;       // in order of the input
} hdst__chunk;

typedef struct hdst__assembly {
    pthread_mutex_t mutex;          // guards all below
    pthread_cond_t changed;
    hdst__output *to;               // its consumer takes the records, or it holds them
    uint64_t group;                 // not 0: so many records of the input give one, and chunks are stretches of `to`
    uint64_t expected;              // records that a consumer is told to expect
    uint64_t records;               // of the input
    hdst__chunk *first;
    uint64_t reached;               // records of the input whose output was given away
    uint64_t waiting_bytes, most_waiting;   // of whole chunks that wait for others; what may wait before workers do
    bool ends;                      // no more will come: an error, or a record failed, or there is enough
    uint64_t limit;                 // not 0: output records that are wanted, from the first on
    double each;                    // output records of a record, as was seen so far
    uint64_t seen_records, seen_outputs;    //     in these
    uint64_t passed, given;         // records of the input in chunks that were taken off the list, and their output
    uint64_t whole_to;              // records of the input without a gap whose output is here, or was given away
    _Atomic uint64_t whole_outputs; //     and how much that is
} hdst__assembly;

// group: one output record for each so many records of the input, as shares are cut; there must be room for all. 0: nobody knows. each: output records of
// a record, as far as one can tell. limit: that are wanted; 0: all.
hdst_status hdst__assembly_init(hdst__assembly *assembly, hdst__output *to, uint64_t group, uint64_t records, double each, uint64_t limit, hdst_error *error);
void hdst__assembly_destroy(hdst__assembly *assembly);

// Whether too much waits for output that comes before this share's. The share that all wait for must not wait itself.
bool hdst__assembly_is_full(hdst__assembly *assembly, const hdst__share *share);
// The chunk of a share. With `may_wait` after a wait for as long as that is so: for a worker, not the first, with nothing in flight that others may wait for.
// NULL: out of memory.
hdst__chunk *hdst__assembly_begin(hdst__assembly *assembly, const hdst__share *share, bool may_wait);
// So many more records of the chunk's share have their output in it. True: now there is enough, and nobody need go on.
bool hdst__assembly_taken(hdst__assembly *assembly, hdst__chunk *chunk, uint64_t records);
// The input turned out to end behind so many records of the chunk's share.
void hdst__assembly_cut(hdst__assembly *assembly, hdst__chunk *chunk, uint64_t records);
// Gives away what is whole, in order. With `all` it waits for the rest, until all is given away or nothing more comes. On the first worker's thread.
hdst_status hdst__assembly_give(hdst__assembly *assembly, bool all, hdst_error *error);
void hdst__assembly_end(hdst__assembly *assembly);     // no more will come: nobody waits any longer
// Where so many were wanted, behind the end of all workers: gives away what is missing, and tells whether there was enough.
hdst_status hdst__assembly_give_wanted(hdst__assembly *assembly, bool *enough, hdst_error *error);

#endif
