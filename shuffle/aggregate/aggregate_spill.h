// SPDX-License-Identifier: Apache-2.0
// Chunks that the memory budget has no room for, in a temporary file.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPILL_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPILL_H

#include "shuffle/aggregate/aggregate_run.h"

hdst_status hdst__aggregate_spill(hdst__aggregate_worker *worker);        // all its chunks; their memory is free then
// All the rest too, where some had to be spilled: what the chunks took is the result's then.
hdst_status hdst__aggregate_spill_rest(hdst__aggregation *run, hdst_error *error);
void hdst__aggregate_forget_spilled(hdst__aggregation *run);

// Of a directory, the entry of a partition's raw records (kind 0) or rows (1).
static inline uint64_t hdst__aggregate_spilled_entry(const hdst__aggregation *run, uint32_t kind, uint32_t partition)
{
    return ((uint64_t)kind << run->choice.partition_bits) + partition;
}

#endif
