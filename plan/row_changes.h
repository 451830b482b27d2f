// SPDX-License-Identifier: Apache-2.0
// Records that change rows of a value: each has the number of a row in front, then the fields of the row as they are from now on.
#ifndef HDST_PLAN_ROW_CHANGES_H
#define HDST_PLAN_ROW_CHANGES_H

#include "base/arena.h"
#include "plan/value.h"

typedef struct hdst__row_piece {    // bytes of a record that lie side by side in the row, too
    uint64_t from, to, bytes;
} hdst__row_piece;

typedef struct hdst__row_changes {
    const hdst__record *record;     // of the changes
    hdst__row_piece *pieces;        // in the arena
    size_t piece_count;
} hdst__row_changes;

// How records of `changes` change a value of `rows`; HDST_E_USAGE: they do not have a number and then its fields, or there are texts in them.
hdst_status hdst__row_changes_make(hdst__arena *arena, const hdst__record *changes, const hdst__record *rows, hdst__row_changes *made, hdst_error *error);
// Changes the rows in place, on a device that shares the host's memory too; of several records with one number the last one counts. HDST_E_RECORD with the
// number of the record: it names a row that there is not, and nothing was changed.
hdst_status hdst__row_changes_put(const hdst__row_changes *changes, hdst_value *value, const void *records, uint64_t count, hdst_error *error);

#endif
