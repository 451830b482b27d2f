// SPDX-License-Identifier: Apache-2.0
// The order of the records of a part.
#ifndef HDST_SHUFFLE_GROUP_GROUP_ORDER_H
#define HDST_SHUFFLE_GROUP_GROUP_ORDER_H

#include "shuffle/group/group.h"
#include "shuffle/group/group_input.h"

// Orders the records of a part as the group's rows, and finds their runs. The input is closed then. With a bad record that is not to be skipped HDST_OK, and
// nothing else.
hdst_status hdst__group_order(hdst__group *group, hdst__group_input *input, hdst_error *error);

#endif
