// SPDX-License-Identifier: Apache-2.0
// Records with texts in their keys, reduced on the GPU whose slices they come from (shuffle/aggregate/slice_gpu.cl): rows by key, which stay there from slice
// to slice and go to the host in the end, or when there is no room for more. The host reduces them with what was left: the same bits, for only values that may
// be reduced in any grouping are.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICES_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_SLICES_H

#include "engine/common/run_stats.h"
#include "engine/engine.h"
#include "engine/memory/consumer.h"
#include "shuffle/aggregate/aggregation_layout.h"
#include "base/buffer.h"

typedef struct hdst__aggregate_slices hdst__aggregate_slices;

// As hdst__consumer.take: rows as records, whose texts last until it returns.
typedef hdst_status (*hdst__take_rows)(void *user, const void *rows, uint64_t count, uint64_t expected, hdst_error *error);

// All are called with the engine's mutex held. NULL: out of memory.
hdst__aggregate_slices *hdst__aggregate_slices_create(hdst__engine *engine, const hdst__aggregation_layout *layout);
void hdst__aggregate_slices_destroy(hdst__aggregate_slices *slices);        // NULL is fine
void hdst__aggregate_slices_begin(hdst__aggregate_slices *slices);          // a run: forgets rows, counts anew, tries anew whether it pays
// As hdst__consumer.combine and .left. Few records stay as they are, as do all once it was seen that most keys come once.
hdst_status hdst__aggregate_slices_combine(hdst__aggregate_slices *slices, uint32_t slot, const hdst__slice_records *records, hdst_error *error);
hdst_status hdst__aggregate_slices_left(hdst__aggregate_slices *slices, uint32_t slot, hdst__slice_records *records, hdst_error *error);
bool hdst__aggregate_slices_is_full(const hdst__aggregate_slices *slices);  // its rows are to be given before the next slice
// All rows go to `take`, piece by piece; the device has none then. *stats counts the bytes.
hdst_status hdst__aggregate_slices_give(hdst__aggregate_slices *slices, hdst__run_stats *stats, hdst__take_rows take, void *user, hdst_error *error);
void hdst__aggregate_slices_explain(const hdst__aggregate_slices *slices, hdst__buffer *out);

#endif
