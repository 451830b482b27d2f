// SPDX-License-Identifier: Apache-2.0
// The order of the records of a part.
#ifndef HDST_SHUFFLE_GROUP_GROUP_ORDER_H
#define HDST_SHUFFLE_GROUP_GROUP_ORDER_H

#include "shuffle/group/group.h"
#include "engine/memory/host_rows.h"

// Orders the rows of a part, which become the group's, and finds their runs. With a bad record that is not to be skipped HDST_OK, and nothing else.
hdst_status hdst__group_order(hdst__group *group, hdst__rows *rows, hdst_error *error);

#endif
