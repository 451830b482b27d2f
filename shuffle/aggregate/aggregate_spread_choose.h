// SPDX-License-Identifier: Apache-2.0
// Whether a cached input that lies nowhere yet is to be spread over several GPUs to be reduced by key.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPREAD_CHOOSE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPREAD_CHOOSE_H

#include "shuffle/aggregate/aggregate_run.h"

// *pays: all workers that are wanted are GPUs that can reduce it, and it is worth it: it has no room on the first one alone, or a sample has few keys, so that
// merging them costs little.
hdst_status hdst__aggregate_spread_pays(const hdst__aggregate *aggregate, const hdst__aggregate_input *input, bool *pays, hdst_error *error);

#endif
