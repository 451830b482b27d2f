// SPDX-License-Identifier: Apache-2.0
// What a cached dataset keeps between runs, whichever results read it.
#ifndef HDST_PLAN_MATERIALISED_H
#define HDST_PLAN_MATERIALISED_H

#include "plan/plan.h"

// Plans what is below the cache, once. The context's lock is held, as for all here.
hdst_status hdst__kept_make(hdst_dataset *cache, hdst_error *error);
// Runs that plan if the cache holds nothing. *resident is where a stage finds the records after its first pass over them. The run's figures are added
// to `stats`.
hdst_status hdst__kept_fill(hdst_dataset *cache, hdst__reader *reader, hdst__dataset_cache **resident, hdst__run_stats *stats, hdst_error *error);
hdst__plan *hdst__kept_plan(hdst__kept *kept);
bool hdst__kept_is_filled(const hdst__kept *kept);
void hdst__kept_release(hdst__kept *kept);      // gives the memory back; the next run fills it again
void hdst__kept_destroy(hdst__kept *kept);

#endif
