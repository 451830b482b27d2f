// SPDX-License-Identifier: Apache-2.0
// Where the chunks of a thread's radix partitions get memory.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_CHUNKS_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_CHUNKS_H

#include "shuffle/aggregate/aggregate_run.h"

// hdst__chunk_memory of the worker `user`. What piles up is combined, where that pays; where the budget has no more, the thread's chunks go to a file and their
// memory is used again. NULL: the worker's error is set.
void *hdst__aggregate_more(void *user, uint64_t bytes);
bool hdst__aggregate_first_slab(hdst__aggregate_worker *worker);        // so that each thread has one, to spill from and fill again

#endif
