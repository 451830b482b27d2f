// SPDX-License-Identifier: Apache-2.0
// What is read to reduce a partition.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_READ_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_READ_H

#include "shuffle/aggregate/aggregate_run.h"

bool hdst__aggregate_take_partition(hdst__aggregation *run, uint32_t *partition);            // the next one. false: none is left, or the run must end
// A partition's raw records and its rows: the chunks of all threads, and then what was spilled of them; of worker->piece alone where it is split. false: no
// memory or the file cannot be read, the error is set.
typedef bool (*hdst__aggregate_adder)(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk);
bool hdst__aggregate_each_chunk(hdst__aggregate_worker *worker, uint32_t partition, hdst__aggregate_adder add_raw, hdst__aggregate_adder add_rows);

#endif
