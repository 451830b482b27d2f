// SPDX-License-Identifier: Apache-2.0
// Memory for a group's rows, which stays from part to part and from run to run.
#ifndef HDST_SHUFFLE_GROUP_GROUP_MEMORY_H
#define HDST_SHUFFLE_GROUP_GROUP_MEMORY_H

#include "shuffle/group/group.h"

// Memory for the rows of a part: what an earlier one left, unless it is much larger.
hdst_status hdst__group_take_rows(hdst__group *group, uint64_t bytes, hdst_error *error);
void hdst__group_leave_rows(hdst__group *group);        // for those that come
void hdst__group_drop_kept(hdst__group *group);         // what was left

#endif
