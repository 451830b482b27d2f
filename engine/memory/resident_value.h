// SPDX-License-Identifier: Apache-2.0
// Values that lie in a device's memory, as those who make and bind them see them; value_rows.h has what they consist of.
#ifndef HDST_ENGINE_MEMORY_RESIDENT_VALUE_H
#define HDST_ENGINE_MEMORY_RESIDENT_VALUE_H

#include "base/runtime.h"
#include "engine/memory/cached_dataset.h"

typedef struct hdst__value_rows hdst__value_rows;

// Rows of a value in the device's memory: what a run computed there and another one reads, without a way through the host. One thread at a time per object.
hdst__value_rows *hdst__value_rows_create(hdst__runtime *runtime);    // empty; NULL: out of memory
void hdst__value_rows_destroy(hdst__value_rows *rows);              // NULL is fine. No run may be using it.
// Copies all records of `from` (a stage's `resident`, since its last run), within the device. *taken is false, and the rows are as they were, where
// the records do not lie on a device as C structs, or (with a warning) the device has no room for them. An error while copying leaves undefined rows
// and *taken true.
hdst_status hdst__value_rows_take(hdst__value_rows *rows, const hdst__dataset_cache *from, bool *taken, hdst_error *error);
// A copy on the host, made when it is asked for; it belongs to `rows` and is valid until they change.
hdst_status hdst__value_rows_read(hdst__value_rows *rows, const void **host, hdst_error *error);

// The rows where the host may change them, until hdst__value_rows_close, which ends a call that gave them, whatever came between. *host is NULL where the
// device shares no memory with the host, or (it is not told) has no room for such memory: nothing is open then.
hdst_status hdst__value_rows_open(hdst__value_rows *rows, void **host, hdst_error *error);
hdst_status hdst__value_rows_close(hdst__value_rows *rows, hdst_error *error);

// A value's rows as records of their own that a stage reads: a copy within the device, which stays as it is when the value changes.
typedef struct hdst__value_records hdst__value_records;
hdst__value_records *hdst__value_records_create(hdst__runtime *runtime, const hdst__record *record);   // empty; NULL: out of memory
void hdst__value_records_destroy(hdst__value_records *records);     // NULL is fine. No run may be using it.
// The records, in place of those it had; *taken belongs to `records`. It is NULL where the device has no room for them.
hdst_status hdst__value_records_take(hdst__value_records *records, const hdst__value_rows *rows, hdst__dataset_cache **taken, hdst_error *error);

#endif
