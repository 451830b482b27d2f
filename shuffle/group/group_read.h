// SPDX-License-Identifier: Apache-2.0
// The records of a range of the keys, where memory is short.
#ifndef HDST_SHUFFLE_GROUP_GROUP_READ_H
#define HDST_SHUFFLE_GROUP_GROUP_READ_H

#include "shuffle/group/group.h"
#include "engine/memory/host_rows.h"
#include "engine/memory/reader.h"

// The records of the next part. *full: there are more than fit.
hdst_status hdst__group_read_part(hdst__group *group, hdst__rows *rows, const hdst__reader *input, bool *full, hdst_error *error);
// Makes the next part smaller, so that its records fit; `large` where it is a single hash or dense key and they do not.
hdst_status hdst__group_narrow(hdst__group *group, const hdst__reader *input, hdst_error *error);
// Whether the record is of the next part. Notes in the first part what has a dense key out of range; `index`: of the record in the input.
bool hdst__group_in_part(hdst__group *group, const char *row, uint64_t index);
void hdst__group_forget_bad(hdst__group *group);     // before the input is read once more for the first part

#endif
