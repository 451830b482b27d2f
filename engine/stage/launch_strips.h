// SPDX-License-Identifier: Apache-2.0
// Strips of a plan on a CPU device: how many, as far as the memory budget has room for their tables.
#ifndef HDST_ENGINE_STAGE_LAUNCH_STRIPS_H
#define HDST_ENGINE_STAGE_LAUNCH_STRIPS_H

#include "engine/stage/launch_plan.h"

bool hdst__plan_has_argument(const hdst__launch_plan *plan, hdst__arg_kind kind);
// Whether its tables have room for few strips only, and addends of all of them may as well go to the device's table at once: then its kernel is to be made so.
bool hdst__plan_adds_directly(const hdst__launch_plan *plan);
uint64_t hdst__plan_bytes_of_results(const hdst__launch_plan *plan);        // the rows that the tables become
hdst_status hdst__plan_choose_strips(hdst__launch_plan *plan, hdst_error *error);      // plan->items and why. HDST_E_MEMORY: there is no room for one
// How long a slice is to take whose launch adds up so many words of its strips' tables: long enough for that to be a small part of it.
double hdst__slice_seconds(uint64_t words);
double hdst__plan_slice_seconds(const hdst__launch_plan *plan);

#endif
