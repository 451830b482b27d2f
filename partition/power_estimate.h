// SPDX-License-Identifier: Apache-2.0
// A worker's power from the slices that it ran, as robust as slices are not: one that met another program, a clock that went up late or a page fault does
// not matter. Per record and fixed part by Theil and Sen: the median of the slopes between all pairs of slices of lengths that differ, then the median of
// what is left beside; where lengths do not differ enough, or slices of one length differ by more than HDST__HOST_STEADY, the median of seconds per record.
// Up to 29 in 100 slices may be wrong by any amount.
#ifndef HDST_PARTITION_POWER_ESTIMATE_H
#define HDST_PARTITION_POWER_ESTIMATE_H

#include "partition/policy.h"

enum { HDST__POWER_SAMPLES = 64 };

typedef struct hdst__power_estimate {       // all zero to begin with
    hdst__slice_cost sample[HDST__POWER_SAMPLES];       // the last ones, in a ring
    uint32_t slices;                                    // so far
} hdst__power_estimate;

void hdst__power_estimate_add(hdst__power_estimate *estimate, const hdst__slice_cost *cost);        // one whose kernel's seconds are not known is nothing
// False: too few slices to tell (fewer than HDST__HOST_STEADY_SLICES).
bool hdst__power_estimate_read(const hdst__power_estimate *estimate, hdst__power *power);

#endif
