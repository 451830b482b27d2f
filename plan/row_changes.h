// SPDX-License-Identifier: Apache-2.0
// Records that change rows of a value: each has the number of a row in front, then the fields of the row as they are from now on.
#ifndef HDST_PLAN_ROW_CHANGES_H
#define HDST_PLAN_ROW_CHANGES_H

#include "base/arena.h"
#include "engine/memory/changed_rows.h"
#include "plan/value.h"

typedef struct hdst__row_changes {  // zeroed at first
    const hdst__record *record;     // of the changes
    hdst__row_piece *pieces;        // in the arena
    size_t piece_count;
    hdst__row_change shape;         // both, for a device
    hdst__changed_rows *on_device;  // who changes rows there; NULL: nobody yet
    uint64_t times_there;           // that it did, since hdst__row_changes_begin
    const char *why_not;            // it did not the last time; a text that stays. "": there is nothing to tell; NULL: it did
} hdst__row_changes;

// How records of `changes` change a value of `rows`; HDST_E_USAGE: they do not have a number and then its fields, or there are texts in them.
hdst_status hdst__row_changes_make(hdst__arena *arena, const hdst__record *changes, const hdst__record *rows, hdst__row_changes *made, hdst_error *error);
// Changes the rows in place, by `records` on the host; of several with one number the last one counts. Rows in a device's own memory are changed there, where
// it has room for it. HDST_E_RECORD with the number of the record: it names a row that there is not, and nothing was changed.
hdst_status hdst__row_changes_put(hdst__row_changes *changes, hdst_value *value, const void *records, uint64_t count, hdst_error *error);
// The same by records that lie in the memory of the rows' device; `distinct`: each is known to name a row that there is, no two the same. *done false: they
// are to come to the host, and nothing was changed.
hdst_status hdst__row_changes_put_there(hdst__row_changes *changes, hdst_value *value, const hdst__dataset_cache *records, bool distinct, bool *done,
                                        hdst_error *error);
void hdst__row_changes_begin(hdst__row_changes *changes);       // a run
void hdst__row_changes_release(hdst__row_changes *changes);     // gives back what a device was used for; safe on zeroed ones, and twice

#endif
