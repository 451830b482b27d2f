// SPDX-License-Identifier: Apache-2.0
// A reduction by key on a GPU over records that lie in registered memory of the program's.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_REGISTERED_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_REGISTERED_H

#include "shuffle/aggregate/aggregate_run.h"

// Runs it there if that pays; aggregate->device_did tells whether it did. The engine's mutex is held.
hdst_status hdst__aggregate_run_registered(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error);

#endif
