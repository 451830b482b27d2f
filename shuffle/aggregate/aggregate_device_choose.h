// SPDX-License-Identifier: Apache-2.0
// What a sample says of a reduction by key on a GPU: heavy hitters, scales, partitions. The engine's mutex is held.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_CHOOSE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_DEVICE_CHOOSE_H

#include "shuffle/aggregate/aggregate_device_state.h"

hdst_status hdst__aggregate_device_choose(hdst__aggregate_device *d, const hdst__dataset_cache *cache, hdst_error *error);
void hdst__aggregate_device_choose_partitions(hdst__aggregate_device *d);           // again, for choice.distinct
void hdst__aggregate_device_choose_again(hdst__aggregate_device *d);      // partitions, for the same records as in the last run
// How many keys there are, from bits set in the map for `share` of the hashes.
double hdst__aggregate_device_distinct_of(const uint64_t *map, double share);

#endif
