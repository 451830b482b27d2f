// SPDX-License-Identifier: Apache-2.0
// The block level of a thread: all records of the input that no other thread takes, and then what is left in its table.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_BLOCK_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_BLOCK_H

#include "shuffle/aggregate/aggregate_run.h"

hdst_status hdst__aggregate_blocks(hdst__aggregate_worker *worker);
hdst_status hdst__aggregate_flush(hdst__aggregate_worker *worker);
// Rows that kernels made of `records` records, to partitions. Nothing else works on the run meanwhile.
hdst_status hdst__aggregate_add_rows(hdst__aggregation *run, const uint64_t *rows, uint64_t count, uint64_t records, hdst_error *error);

#endif
