// SPDX-License-Identifier: Apache-2.0
// Where the records of each key begin, in records that are in the order of an integer key: what a CPU's reduction by that key needs to look at no key.
#ifndef HDST_PLAN_KEY_STARTS_H
#define HDST_PLAN_KEY_STARTS_H

#include "plan/arranged_keys.h"

typedef struct hdst__key_starts {
    uint64_t limit;             // wanted for keys below it; 0: not wanted
    uint64_t made;              // made for keys below it; 0: not made
    const char *found;          // where, for explain; NULL: there is nothing to tell
    hdst__plan_rows rows;       // uint64_t: for key k the number of its first record, up to the largest key; UINT64_MAX behind it. That alone: there are others
} hdst__key_starts;

// Reads the records once, unless that has been done, be it for `keys`; where they lie if that is a device's own memory, `resident` (NULL: elsewhere). A budget
// that has no room for them is no error: then they are as with other keys.
hdst_status hdst__key_starts_make(hdst__key_starts *starts, hdst__runtime *runtime, const hdst__reader *reader, hdst__dataset_cache *resident, uint32_t leaf,
                                  const hdst__arranged_keys *keys, hdst_error *error);
const hdst__plan_rows *hdst__key_starts_of_all(const hdst__key_starts *starts);      // `rows`, if they are made and there are no other keys; else NULL
void hdst__key_starts_forget(hdst__key_starts *starts, hdst__runtime *runtime);        // they are made again when they are asked for

#endif
