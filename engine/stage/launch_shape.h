// SPDX-License-Identifier: Apache-2.0
// The shape of a plan's GPU kernel: from the rules, or from a file that an earlier run left, or measured on the slices of this run and the next ones
// (shape_search.h).
//
// The file lies in the kernel cache under a key of hdst, device, driver, source and the size of the input (a power of 4). What needs no compiler is
// tried in the first runs with enough records; what does is tried once the kernel has been busy for four times what compiling will have taken
// (hdst__tuning_mode: or at once, or never).
#ifndef HDST_ENGINE_STAGE_LAUNCH_SHAPE_H
#define HDST_ENGINE_STAGE_LAUNCH_SHAPE_H

#include "engine/stage/launch_plan.h"

typedef struct hdst__plan_tuning {
    hdst__tuning search;
    const hdst__kernel *kernel[HDST__GPU_TUNING_TRIES];
    hdst__program *program[HDST__GPU_TUNING_TRIES];     // NULL: not loaded; that of the best one is the plan's
    hdst__hash key;
    bool was_kept;                  // the search began with what a file said
    double rule_seconds, seconds;   // a record, with the rules' shape and with the best one; 0: not measured
    double busy_seconds, compile_seconds;   // of the plan's runs; of compiling for the search
    char why[160];                  // for plan->items_why
} hdst__plan_tuning;

// With the plan's kernel and items chosen by rule: takes another shape if there is a file that says so. Does nothing for what is no GPU kernel of hdst's own.
// Allocates from the plan's arena.
void hdst__plan_tuning_begin(hdst__launch_plan *plan);
void hdst__plan_tuning_end(hdst__launch_plan *plan);        // unloads all programs but the plan's

// Places that the output of the widest shape under test needs, `words` at least (hdst__kernel_places).
uint64_t hdst__plan_tuning_places(const hdst__launch_plan *plan, uint64_t words);
// Before a run: loads what it is to try. The search, or NULL when this run tries nothing.
hdst__tuning *hdst__plan_tuning_before(hdst__launch_plan *plan);
// After a run that went well, which kept the device busy for so long: takes the best shape so far and keeps it on disk.
void hdst__plan_tuning_after(hdst__launch_plan *plan, double busy_seconds);

void hdst__plan_tuning_explain(const hdst__launch_plan *plan, hdst__buffer *out);

#endif
