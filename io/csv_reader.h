// SPDX-License-Identifier: Apache-2.0
// Rows of separated text, split into fields, from any offset of a file: a window of the file in memory that moves and grows to hold a row.
//
// Threads: one reader is used from one thread at a time; several readers of one file at once.
//
// A field may be quoted: "a ""b"", c"; a quoted field may hold line ends. Blanks around a field do not belong to it. Lines end in LF or CRLF.
#ifndef HDST_IO_CSV_READER_H
#define HDST_IO_CSV_READER_H

#include "io/csv_file.h"
#include "io/csv_scan.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__csv_field {
    const char *text;       // in the window: valid until the next row is read. A quoted one without the quotes; "" inside stay doubled
    size_t length;
} hdst__csv_field;

typedef struct hdst__csv_place {        // of a row's start
    uint64_t offset, line;
    uint64_t row;           // rows with data before it
} hdst__csv_place;

static inline void hdst__csv_place_move(hdst__csv_place *place, const char *text, const hdst__csv_stretch *stretch)
{
    *place = (hdst__csv_place){place->offset + (uint64_t)(stretch->behind - text), place->line + stretch->lines, place->row + stretch->rows};
}

typedef enum hdst__csv_row_kind { HDST__CSV_DATA, HDST__CSV_SKIP, HDST__CSV_END } hdst__csv_row_kind;   // SKIP: blank, or a comment (#)

typedef struct hdst__csv_reader {
    const hdst__allocator *allocator;
    const hdst__csv_file *file;
    char delimiter;         // ' ' means runs of blanks and tabs
    char comment;           // lines that begin with it are skipped as those with '#' are; 0: no others. Set by who opened the reader
    char *window;           // followed by HDST__CSV_SLACK zero bytes
    uint64_t base, length, capacity;
    bool fixed;             // the window stays as it is: what is wanted lies in it, or the file changed
    uint64_t ahead;         // how much is loaded at once
    uint64_t until;         // where what is wanted ends: no more is loaded, but for the last row
    // The row that was read last:
    hdst__csv_field *fields;
    size_t field_count, field_capacity;
    const char *start, *end;    // without the line end
    uint64_t line;          // of its start, from 1
    uint64_t next_offset, next_line;    // behind it; next_offset is 0 after an error, unless it is known where the row ends all the same
} hdst__csv_reader;

hdst_status hdst__csv_reader_open(hdst__csv_reader *reader, const hdst__allocator *allocator, const hdst__csv_file *file, char delimiter,
                                  uint64_t window_bytes, hdst_error *error);
void hdst__csv_reader_close(hdst__csv_reader *reader);
// Over bytes of the file from `base` on that lie in memory already, with HDST__CSV_SLACK zero ones behind them. Ends with hdst__csv_reader_leave, which leaves
// that memory; also where nothing was opened but zeroed.
void hdst__csv_reader_over(hdst__csv_reader *reader, const hdst__allocator *allocator, const hdst__csv_file *file, char delimiter, char *bytes, uint64_t base,
                           uint64_t count);
void hdst__csv_reader_leave(hdst__csv_reader *reader);
// Loads what is at `offset`, unless it is there, and says where: from *text to *limit, one byte at least.
hdst_status hdst__csv_reader_view(hdst__csv_reader *reader, uint64_t offset, const char **text, const char **limit, hdst_error *error);
// Reads the row at `offset`, whose line the caller knows. Errors: an unterminated quote, text after a closing quote, a row of more than 64 MiB.
hdst_status hdst__csv_reader_row(hdst__csv_reader *reader, uint64_t offset, uint64_t line, hdst__csv_row_kind *kind, hdst_error *error);
// Reads the next row with data from `place` on, which moves behind it. *more is false at the end of the file.
hdst_status hdst__csv_reader_data(hdst__csv_reader *reader, hdst__csv_place *place, bool *more, hdst_error *error);
// HDST_E_FORMAT when the row that was read last has not as many fields as the one of line `model_line`.
hdst_status hdst__csv_reader_check(const hdst__csv_reader *reader, size_t field_count, uint64_t model_line, hdst_error *error);
// Line and column (bytes, from 1) of a place in the row that was read last, and the line with a caret as the cause.
void hdst__csv_reader_locate(const hdst__csv_reader *reader, const char *place, size_t length, hdst_error *error);

// Whether a field of the row that was read last stood in quotes.
static inline bool hdst__csv_is_quoted(const hdst__csv_reader *reader, const hdst__csv_field *field)
{
    return field->text > reader->start && field->text[-1] == '"';
}

#endif
