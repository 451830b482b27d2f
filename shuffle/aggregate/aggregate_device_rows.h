// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU where all keys are below a number: a table with a row for each of them (shuffle/aggregate/hash_rows.cl).
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_ROWS_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_ROWS_H

#include "shuffle/aggregate/aggregate_device_state.h"

// Whether keys are said to be below a number, and records are such that a table can have them.
bool hdst__aggregate_device_has_rows(const hdst__aggregate_device *d);
// Reduces the records of the cache, one or more, which lie on the device; the rows are then d->store's, and d->rows of them. *done false: a key is not
// below the number, or the table has no room, and nothing was done.
hdst_status hdst__aggregate_device_run_rows(hdst__aggregate_device *d, const hdst__dataset_cache *cache, bool *done, hdst_error *error);

#endif
