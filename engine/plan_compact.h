// SPDX-License-Identifier: Apache-2.0
// Plans whose device table is compact: see codegen/table.h. Only where the device makes rows of its accumulators.
#ifndef HDST_ENGINE_PLAN_COMPACT_H
#define HDST_ENGINE_PLAN_COMPACT_H

#include "engine/plan.h"

// For hdst__kernel_options, with the plan's tiers chosen: bits of an addend in a word of a compact table of so many records; 0: tables may not be compact.
uint32_t hdst__plan_compact_bits(const hdst__launch_plan *plan, uint64_t records);
// With the kernel made: scales for the words of its compact tables. False: too many of the sampled addends would not fit them.
bool hdst__plan_compact_scales(hdst__launch_plan *plan);

// Memory for the spare cells of the plan's kernel, if it has any.
hdst_status hdst__plan_compact_take(hdst__launch_plan *plan, hdst_error *error);
hdst_status hdst__plan_compact_clear(hdst__launch_plan *plan, hdst_error *error);       // before a run
hdst_status hdst__plan_compact_check(hdst__launch_plan *plan, hdst_error *error);       // after one: plan->spares_are_full when its results are worth nothing

#endif
