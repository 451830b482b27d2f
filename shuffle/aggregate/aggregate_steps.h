// SPDX-License-Identifier: Apache-2.0
// The steps of a run, on all its threads.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_STEPS_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_STEPS_H

#include "shuffle/aggregate/aggregate_run.h"

void hdst__aggregate_begin_run(hdst__aggregation *run);                            // before all others
void hdst__aggregate_end_run(hdst__aggregation *run);                              // however the steps ended
hdst_status hdst__aggregate_begin(hdst__aggregation *run, hdst_error *error);     // looks at the first records, chooses, makes workers
hdst_status hdst__aggregate_add(hdst__aggregation *run, hdst_error *error);       // records next_record ... end
hdst_status hdst__aggregate_finish(hdst__aggregation *run, hdst_error *error);    // all were added: their rows

#endif
