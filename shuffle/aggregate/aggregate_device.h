// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU (shuffle/aggregate/hash_*.cl): tuples in partitions by hash, a hash table in local memory for each partition. The result stays on
// the device, in the order of (hash, key), with the bits that the container in host memory gives.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_H

#include "shuffle/aggregate/aggregate.h"
#include "shuffle/aggregate/aggregation_layout.h"
#include "engine/memory/cached_dataset.h"
#include "engine/common/run_stats.h"

typedef struct hdst__aggregate_device hdst__aggregate_device;

// NULL: out of memory. Opens and compiles nothing yet.
hdst__aggregate_device *hdst__aggregate_device_create(hdst__engine *engine, hdst__aggregation_layout *layout);
void hdst__aggregate_device_destroy(hdst__aggregate_device *device);         // NULL is fine
// From the next run on: on this device, in place of the engine's first.
void hdst__aggregate_device_put_on(hdst__aggregate_device *device, struct hdst__device *on);
// From the next run on all keys are expected to be below this; 0: nothing is expected. Only how rows are made depends on it.
void hdst__aggregate_device_keys_below(hdst__aggregate_device *device, uint64_t bound);
bool hdst__aggregate_device_did_rows(const hdst__aggregate_device *device);      // whether the last run that was done did make use of it
// From the next run on rows are left unfinished, for hdst__aggregate_device_read_states.
void hdst__aggregate_device_keep_states(hdst__aggregate_device *device);
// Whether the device can do it at all, and so many records pay. With the engine's mutex held, unless it was put on a device.
bool hdst__aggregate_device_can(const hdst__aggregate_device *device, uint64_t records);
// The same of another device, and of records as a program has them.
bool hdst__aggregate_device_can_on(hdst__aggregate_device *device, const struct hdst__device *on, uint64_t records);
// With the engine's mutex held. *done is false, and nothing has happened, where the device cannot, has no room or does not pay; hdst__aggregate_device_why_not
// says why. Sets precision classes and scales of the values. What an earlier run learned of the same cache serves again if its `version` is the same.
hdst_status hdst__aggregate_device_run(hdst__aggregate_device *device, const hdst__aggregate_input *input, hdst__run_stats *stats, bool *done,
                                       hdst_error *error);
// With the engine's mutex held. Whether records that a stage gives, at most so many, had better stay on the device in whole, to be reduced there: it can, and
// has the room.
bool hdst__aggregate_device_suits(hdst__aggregate_device *device, uint64_t records);
// That device, or NULL. hdst__aggregate_device_why_not says why where it can, but has not the room.
struct hdst__device *hdst__aggregate_device_suiting(hdst__aggregate_device *device, uint64_t records);
// Such rows of the last run that was done: *count states (aggregate_state.h) of the layout, as it is, at `states`, and superaccumulators of *exact_count keys
// at `exact`, whose numbers the states have. Both are the caller's, of the engine's memory. HDST_E_MEMORY: there is no room.
hdst_status hdst__aggregate_device_read_states(hdst__aggregate_device *device, uint64_t **states, uint64_t *count, int64_t **exact, uint64_t *exact_count,
                                               hdst_error *error);
hdst__dataset_cache *hdst__aggregate_device_rows(hdst__aggregate_device *device);     // the result of the last run that was done
const char *hdst__aggregate_device_why_not(const hdst__aggregate_device *device);     // "" where there is nothing to tell
bool hdst__aggregate_device_may_do_later(const hdst__aggregate_device *device);       // what the last run did not: memory was short, the keys are no reason
void hdst__aggregate_device_explain(const hdst__aggregate_device *device, hdst__buffer *out);

#endif
