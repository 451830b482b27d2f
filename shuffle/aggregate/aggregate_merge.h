// SPDX-License-Identifier: Apache-2.0
// Unfinished results of several reductions by the same key become one: their keys meet as in a merge sort, in the order of (hash, key), and what each has of
// a key is added before it is rounded, once.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_MERGE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_MERGE_H

#include "shuffle/aggregate/aggregate_run.h"

// Of `count` reductions that kept their state, of one layout but for scales and precision classes, HDST__MOST_WORKERS at most. *rows are *row_count finished
// records, the caller's, of the engine's memory.
hdst_status hdst__aggregate_merge(hdst__aggregate *const *from, uint32_t count, char **rows, uint64_t *row_count, hdst_error *error);

#endif
