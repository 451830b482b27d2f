// SPDX-License-Identifier: Apache-2.0
// The power of a plan's device for its function: measured in runs that are long enough to tell, kept in a table of the device and in a file beside the
// compiled programs, and found there by plans of later processes that share a run among devices.
#ifndef HDST_ENGINE_STAGE_LAUNCH_POWER_H
#define HDST_ENGINE_STAGE_LAUNCH_POWER_H

#include "engine/stage/launch_plan.h"
#include "partition/power_estimate.h"

// Before a run on several workers: where the plan has not measured its power itself, it takes what the table or a file says.
void hdst__plan_power_before(hdst__launch_plan *plan);
// After a run that went well: what its slices cost.
void hdst__plan_power_after(hdst__launch_plan *plan, const hdst__power_estimate *run);

#endif
