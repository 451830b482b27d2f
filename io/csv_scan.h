// SPDX-License-Identifier: Apache-2.0
// Finds rows of separated text, 64 bytes at a time. It knows plain rows only: as many fields as all rows have, quotes where fields begin and end, no number
// that is not finite; and lines without data. What else there is (mistakes, and what is seldom) is for io/csv_reader.h, which knows all rules.
#ifndef HDST_IO_CSV_SCAN_H
#define HDST_IO_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HDST__CSV_SLACK = 128 };     // zero bytes behind a text

typedef struct hdst__csv_shape {
    char delimiter;         // ' ' means runs of blanks and tabs
    size_t field_count;     // of every row
    char comment;           // lines that begin with it are skipped as those with '#' are; 0: no others
} hdst__csv_shape;

typedef struct hdst__csv_stretch {      // of a text that was gone through
    const char *behind;     // its end: the start of a line
    uint64_t rows, lines;
} hdst__csv_stretch;

// Counts plain rows from `text` on, where a line starts: `most` of them, and such as start before `stop` and end before `limit`. Where neither of these is the
// reason to end, the next row is not plain.
hdst__csv_stretch hdst__csv_scan(const hdst__csv_shape *shape, const char *text, const char *stop, const char *limit, uint64_t most);

// Whether a row may begin so: neither blank nor a comment.
static inline bool hdst__csv_begins_plain(const hdst__csv_shape *shape, const char *row)
{
    while (*row == ' ' || *row == '\t') row++;
    return ((unsigned char)*row > '#' && *row != shape->comment) || *row == '"';        // so are digits, signs, letters, the delimiters that are no blanks
}

// Whether a line has no data: it is blank, or a comment.
static inline bool hdst__csv_is_skipped(const hdst__csv_shape *shape, const char *line)
{
    while (*line == ' ' || *line == '\t' || *line == '\r') line++;
    return *line == '\n' || *line == '#' || (shape->comment && *line == shape->comment);
}

#endif
