// SPDX-License-Identifier: Apache-2.0
// Where records are read.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_INPUT_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_INPUT_H

#include "shuffle/aggregate/aggregate_run.h"

hdst_status hdst__aggregate_open_input(hdst__aggregation *run, hdst_error *error);
hdst_status hdst__aggregate_close_input(hdst__aggregation *run, hdst_error *error);
// The next records that nobody took, at most `most`, to be had in `copy` (NULL where they lie in the host's memory); none at the end. For one thread at a time.
hdst_status hdst__aggregate_next(hdst__aggregation *run, uint64_t most, void **copy, hdst__aggregate_stretch *stretch, hdst_error *error);
// Reads them to `copy`, if they are unread: by any number of threads at once, each its own.
hdst_status hdst__aggregate_read_stretch(const hdst__aggregation *run, void **copy, hdst__aggregate_stretch *stretch, hdst_error *error);
bool hdst__aggregate_make_copy(hdst__aggregation *run, void ***copy);             // false: no memory
void hdst__aggregate_free_copy(hdst__aggregation *run, void **copy);

#endif
