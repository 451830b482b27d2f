// SPDX-License-Identifier: Apache-2.0
// Keys with more records than there is room for: counted, and then read one key after another.
#ifndef HDST_SHUFFLE_GROUP_GROUP_LARGE_H
#define HDST_SHUFFLE_GROUP_GROUP_LARGE_H

#include "shuffle/group/group_batch.h"
#include "engine/memory/reader.h"

typedef struct hdst__group_large {        // reads the records of one key
    hdst__group *group;
    const hdst__reader *input;
    const char *key;                // a record with it
    hdst__group_batch batch;
    uint64_t at, in_batch, left;    // records of the input that were read; in the last batch; of these, not looked at yet
} hdst__group_large;

// All keys of the part at hand, where it is too large: counts them.
hdst_status hdst__group_list_large(hdst__group *group, const hdst__reader *input, hdst_error *error);
// The records of key `k` of a large part, in the order of the input. The group must stay as it is.
hdst_status hdst__group_large_open(hdst__group_large *large, hdst__group *group, const hdst__reader *input, uint64_t k, hdst_error *error);
// The next ones, at most `most`; fewer only at the end.
hdst_status hdst__group_large_next(hdst__group_large *large, char *rows, uint64_t most, uint64_t *count, hdst_error *error);
void hdst__group_large_close(hdst__group_large *large);     // safe on a zeroed one

#endif
