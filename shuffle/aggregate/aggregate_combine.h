// SPDX-License-Identifier: Apache-2.0
// Tuples and rows that pile up in a thread's chunks.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_COMBINE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_COMBINE_H

#include "shuffle/aggregate/aggregate_run.h"

bool hdst__aggregate_piles_up(const hdst__aggregate_worker *worker);      // it holds far more than rows of all keys would take
// The records of each partition become rows. *freed: chunks are free now. false: the run must end, its error is set.
bool hdst__aggregate_combine(hdst__aggregate_worker *worker, bool *freed);
void hdst__aggregate_free_combiner(hdst__aggregate_worker *worker);

#endif
