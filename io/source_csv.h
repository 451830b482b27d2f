// SPDX-License-Identifier: Apache-2.0
// Separated text in blocks of any size, so that tests have their borders everywhere; and texts whose rows are all data.
#ifndef HDST_IO_SOURCE_CSV_H
#define HDST_IO_SOURCE_CSV_H

#include "io/source.h"

// As hdst__source_csv. bytes: of a block, of which each may be gone through by another thread, and of what is read at once; 0: as is quick.
hdst__source *hdst__source_csv_in_blocks(const hdst__allocator *allocator, const char *path, const char *columns, uint64_t bytes, const hdst__cancel *cancel,
                                         hdst_error *error);

// A list: no row is a header, commas, semicolons or blanks and tabs delimit, and there may be no rows (a source of `least` columns then).
typedef struct hdst__csv_list {
    const char *const *names;       // of its columns, `most` of them
    size_t least, most;             // columns of a row
    char comment;                   // lines that begin with it are skipped as those with '#' are; 0: no others
    const char *row_hint, *sign_hint;   // what a row should be; that a number must not be negative
} hdst__csv_list;

// Looks at the first bytes of a text (unpacked; fewer than 1024 only where it has no more) and says whether its first row stands for itself: then it is no row
// of the source, and hdst__source_csv_first_row tells it. An error ends the opening.
typedef hdst_status (*hdst__csv_start)(void *user, const char *bytes, size_t count, bool *first_row_apart, hdst_error *error);
// `list` outlives the source; `start` is called before this returns.
hdst__source *hdst__source_csv_list(const hdst__allocator *allocator, const char *path, const hdst__csv_list *list, uint64_t bytes, hdst__csv_start start,
                                    void *user, const hdst__cancel *cancel, hdst_error *error);
const char *hdst__source_csv_first_row(const hdst__source *source, uint64_t *line);     // "" where it has none apart
uint64_t hdst__source_csv_model_line(const hdst__source *source);       // of its first row; 0: it has none
// Adds to an error where a row's column stands: file, line, column, and the line as the cause. Reads the rows from the last known place on.
void hdst__source_csv_locate(const hdst__source *source, uint64_t row, size_t column, hdst_error *error);

#endif
