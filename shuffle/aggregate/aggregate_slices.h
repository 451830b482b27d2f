// SPDX-License-Identifier: Apache-2.0
// Records with texts in their keys, reduced slice by slice on the GPU that they come from (shuffle/aggregate/slice_gpu.cl), so that fewer cross the link to
// the host, which reduces what is left: the same bits, for only values that may be reduced in any grouping are.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICES_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICES_H

#include "engine/engine.h"
#include "engine/memory/consumer.h"
#include "shuffle/aggregate/aggregation_layout.h"
#include "base/buffer.h"

typedef struct hdst__aggregate_slices hdst__aggregate_slices;

// NULL: out of memory.
hdst__aggregate_slices *hdst__aggregate_slices_create(hdst__engine *engine, const hdst__aggregation_layout *layout);
void hdst__aggregate_slices_destroy(hdst__aggregate_slices *slices);        // NULL is fine
void hdst__aggregate_slices_begin(hdst__aggregate_slices *slices);          // a run: counts anew, tries anew whether it pays
// As hdst__consumer.combine. Records that are few, or do not become fewer by half, stay as they are.
hdst_status hdst__aggregate_slices_combine(hdst__aggregate_slices *slices, hdst__slice_records *records, hdst_error *error);
void hdst__aggregate_slices_explain(const hdst__aggregate_slices *slices, hdst__buffer *out);

#endif
