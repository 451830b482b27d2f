// SPDX-License-Identifier: Apache-2.0
// Plans whose device table has first-level words (accum/first_level.h): CPU devices, large tables. The engine's mutex is held.
#ifndef HDST_ENGINE_STAGE_LAUNCH_FIRST_LEVEL_H
#define HDST_ENGINE_STAGE_LAUNCH_FIRST_LEVEL_H

#include "engine/stage/launch_plan.h"

// Whether the run about to begin is a batch: all of it is one launch of one strip, of few records, and who asked takes rows. The kernel then clears what it
// needs, and rounds what it can. To be asked before the table is cleared.
bool hdst__plan_is_batch(const hdst__launch_plan *plan);
// Before a run: the marks, the first-level words and those pages of the cells that the last run touched become zero.
hdst_status hdst__plan_first_level_clear(hdst__launch_plan *plan, hdst_error *error);
// After a run that went well, with marks and first-level words in `table`: what else is needed is read to its place there.
hdst_status hdst__plan_first_level_read(hdst__launch_plan *plan, int64_t *table, hdst_error *error);

// Where a CPU's table is the host's memory too: runs bring it there, and nothing is copied. NULL: the host needs memory of its own for it. Owned by the plan.
int64_t *hdst__plan_table_in_place(const hdst__launch_plan *plan);
// Words from the table's beginning that each run brings back; of a batch without the low words, which are in place with those of its sums that need them.
uint64_t hdst__plan_first_level_back(const hdst__launch_plan *plan);

#endif
