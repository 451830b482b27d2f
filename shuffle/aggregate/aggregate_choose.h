// SPDX-License-Identifier: Apache-2.0
// What the first records say.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_CHOOSE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_CHOOSE_H

#include "shuffle/aggregate/aggregate_run.h"
#include "shuffle/aggregate/distinct_keys.h"

uint64_t hdst__aggregate_sample(const hdst__aggregation *run);                     // so many records are looked at, where there are more
// Looks at them; run->choice is made then, and precision classes and scales in run->layout.
hdst_status hdst__aggregate_choose(hdst__aggregation *run, hdst_error *error);
// At least so many keys, as was seen since: tables of partitions that are made from now on are large enough.
void hdst__aggregate_expect_keys(hdst__aggregation *run, uint64_t keys);
// What rows that kernels make are to be like (accum/combining.h). false: threads have no tables, or those would not stay in a cache.
bool hdst__aggregate_rows_like(const hdst__aggregation *run, hdst__combined_like *like);

#endif
