// SPDX-License-Identifier: Apache-2.0
// Records that come slice by slice: what is open between the slices.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_STREAM_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_STREAM_H

#include "shuffle/aggregate/aggregate_run.h"

void hdst__aggregate_drop(hdst__aggregate *aggregate);                  // what is open; the engine's mutex is held

#endif
