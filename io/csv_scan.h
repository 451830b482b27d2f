// SPDX-License-Identifier: Apache-2.0
// Finds rows of separated text, 64 bytes at a time. It knows plain rows only: one line, nothing quoted, as many fields as all rows have, no number that is not
// finite. What else there is (blank lines, comments, quotes, mistakes) is for io/csv_reader.h, which knows all rules.
#ifndef HDST_IO_CSV_SCAN_H
#define HDST_IO_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HDST__CSV_SLACK = 128 };     // bytes behind a text that must be readable, whatever they are

typedef struct hdst__csv_shape {
    char delimiter;         // ' ' means runs of blanks and tabs
    size_t field_count;     // of every row
} hdst__csv_shape;

// Counts plain rows from `text` on, where a row starts: `most` of them, and such as start before `stop` and end before `limit`. *behind is where it ended: at
// the start of the next row, which is not plain where neither of these is the reason.
uint64_t hdst__csv_scan(const hdst__csv_shape *shape, const char *text, const char *stop, const char *limit, uint64_t most, const char **behind);

// Whether a row may begin so: neither blank, nor a comment, nor quoted.
static inline bool hdst__csv_begins_plain(const char *row)
{
    while (*row == ' ' || *row == '\t') row++;
    return (unsigned char)*row > '#';       // so are digits, signs, letters, the delimiters that are no blanks
}

#endif
