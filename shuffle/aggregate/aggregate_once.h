// SPDX-License-Identifier: Apache-2.0
// A reduction by key in one place: the steps on the host's threads, or all of it on one device. The engine's mutex is held, but on a worker's own thread.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_ONCE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_ONCE_H

#include "shuffle/aggregate/aggregate_run.h"

// Of the same records and key, for some of the input: what it gives is left unfinished. Ended by hdst__aggregate_release, then freed. NULL: out of memory.
hdst__aggregate *hdst__aggregate_create_part(const hdst__aggregate *of);
void hdst__aggregate_release(hdst__aggregate *aggregate);       // all that it has, but for parts
void hdst__aggregate_free_kept(hdst__aggregate *aggregate);     // the last result, and memory that is kept for the next run
void hdst__aggregate_begin_anew(hdst__aggregate *aggregate);    // forgets the last run
hdst_status hdst__aggregate_run_on_host(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error);
// aggregate->device_did tells whether the device could.
hdst_status hdst__aggregate_run_on_device(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error);

#endif
