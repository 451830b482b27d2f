// SPDX-License-Identifier: Apache-2.0
// Plans whose device table has first-level words (accum/first_level.h): CPU devices, large tables. The engine's mutex is held.
#ifndef HDST_ENGINE_STAGE_LAUNCH_FIRST_LEVEL_H
#define HDST_ENGINE_STAGE_LAUNCH_FIRST_LEVEL_H

#include "engine/stage/launch_plan.h"

// Before a run: the marks, the first-level words and those pages of the cells that the last run touched become zero.
hdst_status hdst__plan_first_level_clear(hdst__launch_plan *plan, hdst_error *error);
// After a run that went well, with marks and first-level words in `table`: the marked pages are read to their places there.
hdst_status hdst__plan_first_level_read(hdst__launch_plan *plan, int64_t *table, hdst_error *error);

#endif
