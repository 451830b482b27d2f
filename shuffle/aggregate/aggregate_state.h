// SPDX-License-Identifier: Apache-2.0
// Results that are kept unfinished: in place of a record each key has its row of a container, and behind it the number of its superaccumulators, from 1 on, in
// a list of the reduction (0: it has none).
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_STATE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_STATE_H

#include "shuffle/aggregate/aggregate_run.h"

// Of the result, for one key.
static inline uint64_t hdst__aggregate_row_bytes(const hdst__aggregation *run)
{
    return run->aggregate->keeps_state ? (run->layout->row_words + 1) * sizeof(uint64_t) : run->layout->record->size;
}

// Rows of a worker's partition. False: no memory, the error is set.
bool hdst__aggregate_write_state(hdst__aggregate_worker *worker, const uint64_t *rows, uint64_t count, uint64_t *to);
void hdst__aggregate_forget_state(hdst__aggregate *aggregate);      // the superaccumulators and finished rows of the last run
// After a run on the device, which has them: they come to the host. HDST_OK, and the device did nothing: there is no room for them.
hdst_status hdst__aggregate_read_state(hdst__aggregate *aggregate, hdst_error *error);
// Of the result, which is in host memory: a key's state, and its superaccumulators; NULL: it has none.
const uint64_t *hdst__aggregate_state_of(const hdst__aggregate *aggregate, uint64_t i);
const int64_t *hdst__aggregate_exact_of(const hdst__aggregate *aggregate, const uint64_t *state);
// A partial of `rows` rows without a key, of what is reduced. NULL: out of memory.
hdst__partial *hdst__aggregate_empty_partial(const hdst__aggregate *aggregate, const hdst__allocator *allocator, uint64_t rows);
// Merges the state of a key into one of its rows. False: no memory.
bool hdst__aggregate_add_state(const hdst__aggregate *aggregate, const uint64_t *state, hdst__partial *to, uint64_t row);
// After a run: records in place of states. *rows is the reduction's.
hdst_status hdst__aggregate_finish_state(hdst__aggregate *aggregate, const void **rows, hdst_error *error);

#endif
