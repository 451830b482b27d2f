// SPDX-License-Identifier: Apache-2.0
// The order of records by key on a device with memory of its own: they lie there, or are copied there once, are sorted by the hash of their key
// (shuffle/sort/) and stay for the function that reads them. Where runs of equal keys begin a kernel tells (group_runs.cl).
#ifndef HDST_SHUFFLE_GROUP_GROUP_DEVICE_H
#define HDST_SHUFFLE_GROUP_GROUP_DEVICE_H

#include "shuffle/group/group.h"

// All records of a group that has one part, as hdst__group_order orders them, but at `there` in place of `rows`. *done is false, and nothing there, where the
// host had better do it; group->why_host says why, if there is anything to tell.
hdst_status hdst__group_order_on_device(hdst__group *group, const hdst__reader *input, bool *done, hdst_error *error);
void hdst__group_leave_device(hdst__group *group);      // the records are no longer wanted; memory for the next ones stays
void hdst__group_rest_on_device(hdst__group *group);    // unless the device has not plenty
void hdst__group_end_device(hdst__group *group);        // NULL is fine

#endif
