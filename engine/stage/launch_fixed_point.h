// SPDX-License-Identifier: Apache-2.0
// Plans whose device table is in fixed point: see accum/tables.h. Where the device makes rows of its accumulators, and where the host merges tables.
#ifndef HDST_ENGINE_STAGE_LAUNCH_FIXED_POINT_H
#define HDST_ENGINE_STAGE_LAUNCH_FIXED_POINT_H

#include "engine/stage/launch_plan.h"

// For hdst__kernel_options, with the plan's precision classes chosen: bits of an addend in a word of a table in fixed point of so many records; 0: tables
// may not be in fixed point.
uint32_t hdst__plan_fixed_point_bits(const hdst__launch_plan *plan, uint64_t records);
// With the kernel made: scales for the words of its tables in fixed point. False: too many of the sampled addends would not fit them.
bool hdst__plan_fixed_point_scales(hdst__launch_plan *plan);

// Whether so many records go to so many rows that tuples in order of partitions of the table are quicker than additions in device memory
// (hdst__kernel_options.may_take_tuples).
bool hdst__plan_may_part(const hdst__launch_plan *plan, uint64_t most_records);
void hdst__plan_tuple_slices(hdst__launch_plan *plan);       // few and long ones, whose tuples have room; does nothing for other kernels

// Memory for the overflow cells and the tuples of the plan's kernel, if it has any.
hdst_status hdst__plan_fit_tuples(hdst__launch_plan *plan, hdst_error *error);       // memory for those of a slice, whose length may have changed
hdst_status hdst__plan_fixed_point_take(hdst__launch_plan *plan, hdst_error *error);
hdst_status hdst__plan_fixed_point_clear(hdst__launch_plan *plan, hdst_error *error);       // before a run
// after one: plan->overflow_is_full when its results are worth nothing. `is_here`: plan->overflow_state is that run's; else it is asked for
hdst_status hdst__plan_fixed_point_check(hdst__launch_plan *plan, bool is_here, hdst_error *error);
// Behind it, where the words come to the host: plan->used_overflow, the overflow table if the run used any of it. HDST_E_MEMORY: the host has no room for it.
hdst_status hdst__plan_fixed_point_read(hdst__launch_plan *plan, hdst_error *error);
void hdst__plan_fixed_point_forget(hdst__launch_plan *plan);       // plan->used_overflow

// Whether all words of its table, whatever they stand for, meet by one operation, so that those of several devices can be added there. *op: which.
bool hdst__plan_has_one_op(const hdst__launch_plan *plan, hdst__word_op *op);

// Plans whose kernels write rows of the result as soon as they are complete (hdst__accum.writes_rows): the device has no table of them, but overflow cells
// for rows whose records lie in several strips, and for those with an addend that does not fit words.
// Words for each float sum that hold all addends of the sample. False: there are no such words; `plan` keeps those it has.
bool hdst__plan_rows_scales(hdst__launch_plan *plan);
bool hdst__plan_writes_rows(const hdst__launch_plan *plan);
// Overflow cells that a run may need if all addends fit.
uint64_t hdst__plan_rows_cells(const hdst__launch_plan *plan);
// Rows without records are zero.
hdst_status hdst__plan_rows_clear(hdst__launch_plan *plan, hdst_error *error);

#endif
