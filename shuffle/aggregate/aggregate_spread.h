// SPDX-License-Identifier: Apache-2.0
// Reductions by key of a cached input that lies on several devices (engine/memory/spread_cache.c): each device reduces what lies with it, on a thread of its
// own, and leaves it unfinished; what the host can read better than a device can reduce it, the host's threads take meanwhile. Then all of that is merged.
// Sums are exact until they are rounded, so the rows and their bits are those of one device.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPREAD_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SPREAD_H

#include "shuffle/aggregate/aggregate_run.h"

// aggregate->spread_did is false, and nothing has happened, where the input does not lie so, no device can, there is no memory for it, or a device's driver
// fails: then the input lies nowhere any more.
hdst_status hdst__aggregate_run_spread(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error);
void hdst__aggregate_forget_parts(hdst__aggregate *aggregate);
void hdst__aggregate_explain_spread(const hdst__aggregate *aggregate, hdst__buffer *out);       // of the last run, if it was one

#endif
