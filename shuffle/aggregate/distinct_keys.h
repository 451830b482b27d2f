// SPDX-License-Identifier: Apache-2.0
// How many keys there are, from a sample.
#ifndef HDST_SHUFFLE_AGGREGATE_DISTINCT_KEYS_H
#define HDST_SHUFFLE_AGGREGATE_DISTINCT_KEYS_H

#include <stdint.h>

// Linear counting: keys whose hashes set these bits of the map of 1 << bits.
double hdst__distinct_keys_counted(const uint64_t *map, uint32_t bits);
// Keys in all, at most `most`, where n records had `seen`.
double hdst__distinct_keys_expected(double seen, double n, double most);
// The same where the first half of the n records had `half` of them: right also of keys that come again soon or not at all.
double hdst__distinct_keys_going_on(double half, double seen, double n, double most);

#endif
