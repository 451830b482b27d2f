// SPDX-License-Identifier: Apache-2.0
// What a source of separated text holds, and its rows as cells: made by source_csv.c, read by csv_rows.c and csv_texts.c.
#ifndef HDST_IO_CSV_SOURCE_H
#define HDST_IO_CSV_SOURCE_H

#include "io/bound.h"
#include "io/csv_index.h"
#include "io/source_csv.h"

typedef struct hdst__csv_state {
    hdst__csv_file file;
    hdst__csv_reader reader;    // of the first rows: while the source is opened
    hdst__csv_cursors cursors;  // of all others
    const hdst__cancel *cancel;
    uint64_t block_bytes;
    locale_t c_locale;
    size_t field_count;         // of every row
    bool escaped;               // \t, \n, \r and \\ in texts stand for one byte each
    hdst__csv_place first;      // where the data starts, after the header
    uint64_t model_line;        // the row whose number of fields the others must have
    hdst__csv_index index;
    size_t *fields;             // by column of the source: the field
    const hdst__csv_list *list; // NULL: a table that may have a header
    char first_row[160];        // of a list whose first row stands for itself, as far as it fits
    uint64_t first_row_line;
    char **names;               // of all fields, NULL without a header
} hdst__csv_state;

typedef struct hdst__csv_cells {        // what rows are read to
    const hdst__row_form *as;
    uint64_t cell_bytes, row_bytes;
    bool has_texts;             // some are texts: hdst__csv_raw_text in their cells
    char *scratch;              // room for a row, where rows may be left out: those that are passed over are looked at, too
} hdst__csv_cells;

// By field: what of a row is wanted, and where it goes.
void hdst__csv_choose_wanted(const hdst__source *source, const hdst__csv_cells *cells, hdst__csv_wanted *wanted);
// Whether the row that was read last, or (wrong: HDST_E_FORMAT) could not be read, is kept: its values are then at `row`. Where rows may be left out *kept may
// be false, with the error filled; else what is wrong is returned. row: NULL: only its number of fields is looked at.
hdst_status hdst__csv_judge_row(const hdst__source *source, const hdst__csv_reader *reader, const hdst__csv_cells *cells, hdst_status wrong, char *row,
                                bool *kept, hdst_error *error);
// Rows from the cursor's place up to row `end`: those that are plain one after another, others by all rules. to: NULL: they are passed over.
hdst_status hdst__csv_read_rows(const hdst__source *source, hdst__csv_cursor *cursor, const hdst__csv_cells *cells, uint64_t end, char *to, hdst_error *error);
// As hdst__bound_source_fill, of records with texts.
hdst_status hdst__csv_fill_texts(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                 uint64_t to_first, hdst_error *error);

#endif
