// SPDX-License-Identifier: Apache-2.0
// The kernels of shuffle/aggregate/aggregate_slices.h as text.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICE_TEXT_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICE_TEXT_H

#include "shuffle/aggregate/aggregation_layout.h"
#include "base/writer.h"

enum { HDST__SLICE_LANES = 256 };
#define HDST__SLICE_HEAP_BIT (UINT64_C(1) << 61)        // of an address in the heap (slice_key.cl): no address of the host has it

// NULL, or why records of this layout are none that a device could reduce slice by slice with the same bits.
const char *hdst__aggregate_slice_why_not(const hdst__aggregation_layout *layout);
// Of a layout that is one.
void hdst__aggregate_slice_text(hdst__writer *out, const hdst__aggregation_layout *layout);

#endif
