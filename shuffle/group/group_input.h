// SPDX-License-Identifier: Apache-2.0
// All records of an input, as they lie: in a cached dataset's segments or other memory of the host's, which nothing is copied from; else as they were read.
#ifndef HDST_SHUFFLE_GROUP_GROUP_INPUT_H
#define HDST_SHUFFLE_GROUP_GROUP_INPUT_H

#include "base/arena.h"
#include "engine/memory/host_rows.h"
#include "shuffle/group/group.h"

typedef struct hdst__group_extent {     // records that lie together
    const hdst__storage *storage;
    const void *const *buffers;
    uint64_t first, count;              // the first one is the storage's first
} hdst__group_extent;

typedef struct hdst__group_input {
    const hdst__group *group;
    uint64_t records;
    const char *lies;               // all of them as C structs; NULL: in extents
    hdst__group_extent *extent;
    uint64_t extents;
    bool copies;                    // extents have another layout: windows are copied
    bool handed_over;               // the cache's memory is the host's until the end
    hdst__rows rows;                // where they had to be read
    hdst__arena arena;
    const hdst__storage *window;    // of copies
    uint64_t window_records;
} hdst__group_input;

// The group's input as a whole. The engine is locked until the end, if it is read where it lies. With an error nothing is left to end.
hdst_status hdst__group_input_open(hdst__group *group, const hdst__reader *reader, hdst__group_input *input, hdst_error *error);
// Rows that were read: they are the input's, which frees them.
void hdst__group_input_of_rows(const hdst__group *group, hdst__rows *rows, hdst__group_input *input);
hdst_status hdst__group_input_close(hdst__group_input *input, hdst_error *error);      // twice is fine

// Records from `first` on as C structs: *count of them at most, and at most `window_records`. `copy`: the calling thread's memory
// for so many, where the input copies.
const char *hdst__group_input_window(const hdst__group_input *input, uint64_t first, uint64_t *count, char *copy);
// Where the group's key, of one field, lies in those of an extent that are together, and in how many bytes the next one does; NULL: it takes a window.
const char *hdst__group_input_keys(const hdst__group_input *input, uint64_t first, uint64_t *count, uint64_t *stride);

#endif
