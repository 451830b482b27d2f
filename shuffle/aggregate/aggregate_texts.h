// SPDX-License-Identifier: Apache-2.0
// The text heap of a run whose keys have texts: their bytes go there from slices and input, which do not last, and stay as long as the result does.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_TEXTS_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_TEXTS_H

#include "shuffle/aggregate/aggregate_run.h"

// One that is empty, unless the run has one or its keys have no texts.
hdst_status hdst__aggregate_take_texts(hdst__aggregation *run, hdst_error *error);
void hdst__aggregate_drop_texts(hdst__aggregate *aggregate);
// What a thread puts there; its block and its pieces know then that keys have texts.
void hdst__aggregate_make_keeper(hdst__aggregate_worker *worker);

#endif
