// SPDX-License-Identifier: Apache-2.0
// Memory of a reduction by key: what is taken counts towards the engine's budget. Slabs, of which chunks are made, serve the next run again.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_MEMORY_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_MEMORY_H

#include "shuffle/aggregate/aggregate_run.h"

void *hdst__aggregate_take(hdst__aggregation *run, uint64_t bytes, const char *what, hdst_error *error);        // NULL: error is set
void hdst__aggregate_give(hdst__aggregation *run, void *memory);

uint32_t hdst__aggregate_threads_for(const hdst__aggregation *run, uint64_t records);  // as many as pay
uint32_t hdst__aggregate_threads(const hdst__aggregation *run);                 // as many as pay, and as have enough of the budget each
uint64_t hdst__aggregate_share(const hdst__aggregation *run);                   // bytes of the budget for each thread
void hdst__aggregate_share_memory(hdst__aggregation *run, uint32_t threads);    // before partitions are reduced by so many: what is left is theirs
uint64_t hdst__aggregate_shared_memory(const hdst__aggregation *run);           // what they may still take, together

void hdst__aggregate_give_slabs(hdst__aggregate_worker *worker);                // back to the budget; nothing is in them
void hdst__aggregate_keep_slabs(hdst__aggregation *run, hdst__aggregate_slab *slabs);       // for the next run, where the budget has room for them
void hdst__aggregate_free_slabs(hdst__aggregate *aggregate);                    // those that were kept

char *hdst__aggregate_buffer(hdst__aggregate_worker *worker);                   // worker->buffer. NULL: no memory, the error is set

#endif
