// SPDX-License-Identifier: Apache-2.0
// Records of an input as they are read where memory is short: a few at a time.
#ifndef HDST_SHUFFLE_GROUP_GROUP_BATCH_H
#define HDST_SHUFFLE_GROUP_GROUP_BATCH_H

#include "base/arena.h"
#include "shuffle/group/group.h"
#include "engine/memory/reader.h"
#include "record/layout.h"

typedef struct hdst__group_batch {
    hdst__arena arena;
    const hdst__storage *storage;
    char *rows;
    uint64_t records;               // at most
} hdst__group_batch;

hdst_status hdst__group_batch_make(const hdst__group *group, hdst__group_batch *batch, const hdst__reader *input,
                                   hdst_error *error); // its end: hdst__arena_destroy
// Records first ... first + count - 1 of the input, as many as a batch has at most.
hdst_status hdst__group_batch_read(const hdst__group *group, const hdst__group_batch *batch, const hdst__reader *input, uint64_t first, uint64_t *count,
                                   hdst_error *error);

#endif
