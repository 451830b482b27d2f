// SPDX-License-Identifier: Apache-2.0
// The rows of all partitions, one after another, in memory or in a temporary file.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_RESULT_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_RESULT_H

#include "shuffle/aggregate/aggregate_run.h"

// Room for the rows that are expected. None, where the budget is short: then partitions keep their rows until all are counted.
void hdst__aggregate_expect_rows(hdst__aggregation *run);
hdst_status hdst__aggregate_take_rows(hdst__aggregation *run,
                                      hdst_error *error); // the same for keys that are numbers of rows, whose result has a place in any case
hdst_status hdst__aggregate_end_rows(hdst__aggregation *run, hdst_error *error);      // the same: once all partitions are written
// The place of a partition's rows: where they belong, or memory of its own. Waits for the count of the partition before. NULL: there is none, they go to the
// file.
char *hdst__aggregate_place(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count);
// Records in order to the file, as number `at` and on of the partition's, which does not change that way: begin waits for the partition before, end tells the
// number of all.
void hdst__aggregate_begin_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition);
// false: the error is set
bool hdst__aggregate_put_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t at, const void *records, uint64_t count);
void hdst__aggregate_end_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count);
void hdst__aggregate_give_partition(hdst__aggregation *run, hdst__aggregate_result *result);
void hdst__aggregate_forget_rows(hdst__aggregate *aggregate);                      // of the last run
hdst_status hdst__aggregate_join(hdst__aggregation *run, hdst_error *error);       // all rows one after another

#endif
