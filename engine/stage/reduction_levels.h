// SPDX-License-Identifier: Apache-2.0
// The levels at which a reduction combines, and what enters and leaves each:
//     block    what one thread, strip or work-group has: its own table
//     device   what its blocks give
//     node     what the devices of a machine give
//     cluster  what the machines give
// The last step of a machine always combines: with one device it is the device's step that is left out of the levels, and what it does counts as the node's.
#ifndef HDST_ENGINE_STAGE_REDUCTION_LEVELS_H
#define HDST_ENGINE_STAGE_REDUCTION_LEVELS_H

#include "engine/engine.h"

// The counts of a reduction of `in` records to `out` of which blocks make `from_blocks`, if `highest` is the highest level that combines.
void hdst__levels_count(hdst__run_stats *stats, hdst__hpr highest, uint64_t in, uint64_t from_blocks, uint64_t out);
const char *hdst__hpr_name(hdst__hpr hpr);

#endif
