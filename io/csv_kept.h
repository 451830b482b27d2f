// SPDX-License-Identifier: Apache-2.0
// Which rows of separated text are kept as records, where others are left out: rows with another number of fields, with cells that do not parse, or with
// empty cells whose field says so. They are found once, by all threads, and each reader finds the same ones again.
#ifndef HDST_IO_CSV_KEPT_H
#define HDST_IO_CSV_KEPT_H

#include "io/csv_source.h"

typedef struct hdst__csv_kept {
    hdst__csv_index index;      // of the rows that are kept
    hdst__csv_cursors cursors;  // whose places count these
} hdst__csv_kept;

// As hdst__source_format's keep and forget.
hdst_status hdst__csv_keep(hdst__bound_source *bound, hdst_error *error);
void hdst__csv_forget(hdst__bound_source *bound);
// Keeps rows by their number of fields alone: for who counts rows that are not bound.
hdst__csv_judge hdst__csv_judge_fields(const hdst__source *source);

#endif
