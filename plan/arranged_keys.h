// SPDX-License-Identifier: Apache-2.0
// Which keys there are in records that are in the order of an integer key, and in which order a reduction by it gives them: what such a reduction needs to
// know to add up stretches of records where it would look for keys in a hash table.
#ifndef HDST_PLAN_ARRANGED_KEYS_H
#define HDST_PLAN_ARRANGED_KEYS_H

#include "plan/plan.h"

typedef struct hdst__arranged_keys {
    uint64_t count;             // keys; each has its number in the order of the records
    uint64_t *starts;           // the number of its first record, as hdst__key_starts has them. NULL: not made
    uint64_t *bits;             // the key: signed ones extended
    uint32_t *numbers;          // of each record the number of its key
    uint32_t *order;            // numbers of the keys, in the order of (hash, key) (record/key_hash.h)
    hdst__plan_rows held_starts, held_numbers;
    hdst__plan_rows rows;       // of a table that has one for each key, at least one
} hdst__arranged_keys;

// Reads the records once, unless that has been done, or `starts` say it all (plan/key_starts.h; NULL: unknown). HDST_E_MEMORY: the budget has no room for
// them, or there are too many records. There are none then.
hdst_status hdst__arranged_keys_make(hdst__arranged_keys *keys, hdst__runtime *runtime, const hdst__reader *reader, uint32_t leaf,
                                     const hdst__plan_rows *starts, hdst_error *error);
void hdst__arranged_keys_forget(hdst__arranged_keys *keys, hdst__runtime *runtime);      // they are made again for who wants them

#endif
