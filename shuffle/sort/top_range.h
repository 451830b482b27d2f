// SPDX-License-Identifier: Apache-2.0
// The best records of a range of records of a whole (accum/ranged_partial.h): in order, at most as many as are wanted. Where values are equal, the earlier
// records come first, so those of the left range do.
#ifndef HDST_SHUFFLE_SORT_TOP_RANGE_H
#define HDST_SHUFFLE_SORT_TOP_RANGE_H

#include "accum/ranged_partial.h"
#include "shuffle/sort/top_k.h"

typedef struct hdst__top_range {
    hdst__top_k top;                // what is compared; it has no rows
    const hdst__allocator *allocator;
} hdst__top_range;

// hdst__range_rule: user is an hdst__top_range.
hdst_status hdst__top_range_join(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error);
bool hdst__top_range_is_sound(void *user, const hdst__record_range *range);
// The best of all ranges, of which some may be missing; returns how many. `rows` has room for so many: hdst__top_range_most.
uint64_t hdst__top_range_finish(const hdst__top_range *of, const hdst__ranged_partial *partial, char *rows);
uint64_t hdst__top_range_most(const hdst__top_range *of, const hdst__ranged_partial *partial);

#endif
