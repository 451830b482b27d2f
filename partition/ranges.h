// SPDX-License-Identifier: Apache-2.0
// Records of the input that are not given out: ranges in ascending order that do not overlap and are taken from either end.
#ifndef HDST_PARTITION_RANGES_H
#define HDST_PARTITION_RANGES_H

#include "partition/policy.h"

typedef struct hdst__ranges {
    const hdst__allocator *allocator;
    hdst__share *range;
    uint32_t count, room;
    uint64_t records;               // of all
} hdst__ranges;

bool hdst__ranges_reserve(hdst__ranges *ranges, uint32_t more);     // room to add so many without failing; false: out of memory
// Joins it with its neighbours. It overlaps none. False: out of memory, and nothing has changed. An empty one is nothing.
bool hdst__ranges_add(hdst__ranges *ranges, const hdst__share *range);
bool hdst__ranges_add_all(hdst__ranges *ranges, const hdst__ranges *others);    // all or none
void hdst__ranges_clear(hdst__ranges *ranges);      // keeps its memory
void hdst__ranges_free(hdst__ranges *ranges);

// From the first range, or the last one: so many records as near as multiples of the unit come to it from below, one unit at least, no more than the range
// has. False: there are none. A cut lies at a multiple of the unit.
bool hdst__ranges_take_first(hdst__ranges *ranges, uint64_t records, uint64_t unit, hdst__share *taken);
bool hdst__ranges_take_last(hdst__ranges *ranges, uint64_t records, uint64_t unit, hdst__share *taken);

#endif
