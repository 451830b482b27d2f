// SPDX-License-Identifier: Apache-2.0
// The order of the rows of one partition, which lie together, and the runs of equal keys in it. A thread takes one after another.
#ifndef HDST_SHUFFLE_GROUP_GROUP_PART_H
#define HDST_SHUFFLE_GROUP_GROUP_PART_H

#include "shuffle/group/group.h"
#include "shuffle/group/group_table.h"

typedef struct hdst__group_runs {       // memory for runs, as it comes
    struct hdst__group_runs *before;
    uint64_t used, capacity;
    hdst__run run[];
} hdst__group_runs;

typedef struct hdst__group_part_worker {        // what a thread keeps from part to part
    const hdst__group *group;
    hdst__group_table table;
    hdst__group_runs *runs;
    char *scratch;                      // rows in order, before they go back
    uint64_t scratch_bytes;
    void *words;                        // for a part that is sorted, and once more
    uint64_t word_bytes;
} hdst__group_part_worker;

typedef struct hdst__group_part {
    uint64_t first, count;              // its rows, of the group's
    uint64_t base;                      // the least number
    unsigned bits;                      // of numbers, less it
    hdst__run *run;                     // set: where its runs are until the worker ends, if they are wanted
    uint64_t runs;
} hdst__group_part;

// `rows`: the group's, all of them. false: out of memory, or cancelled.
bool hdst__group_part_order(hdst__group_part_worker *worker, char *rows, hdst__group_part *part);
void hdst__group_part_worker_end(hdst__group_part_worker *worker);

#endif
