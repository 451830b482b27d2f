// SPDX-License-Identifier: Apache-2.0
// The last level: a thread reduces all partitions that no other thread takes, in tables, by sorting, or where keys are numbers of rows where these have their
// places.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_PARTITION_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_PARTITION_H

#include "shuffle/aggregate/aggregate_run.h"

hdst_status hdst__aggregate_reduce_partitions(hdst__aggregate_worker *worker);
void hdst__aggregate_plan_direct(hdst__aggregation *run);          // how many rows each takes at once; before
hdst_status hdst__aggregate_reduce_direct(hdst__aggregate_worker *worker);          // aggregate_direct.c: keys are numbers of rows

#endif
