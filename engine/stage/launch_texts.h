// SPDX-License-Identifier: Apache-2.0
// Texts beside the input of a plan whose device cannot reach the host's memory: the function's own, and those of values. They lie in one stretch of the host's
// memory, which is copied to the device; spans of values that go there refer to the stretch.
#ifndef HDST_ENGINE_STAGE_LAUNCH_TEXTS_H
#define HDST_ENGINE_STAGE_LAUNCH_TEXTS_H

#include "engine/stage/launch_plan.h"

// Whether the rows of a parameter go to the device by hdst__plan_texts_write.
bool hdst__plan_texts_has(const hdst__launch_plan *plan, size_t param);
// Writes all of them, and the stretch, as `values` has them now.
hdst_status hdst__plan_texts_write(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__run_stats *stats, hdst_error *error);
void hdst__plan_texts_free(hdst__launch_plan *plan);

#endif
