// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of plain rows of separated text: fields are found where numbers end; lines without data are passed over. Like io/csv_scan.h it leaves
// to io/csv_reader.h what is not plain.
#ifndef HDST_IO_CSV_NUMBERS_H
#define HDST_IO_CSV_NUMBERS_H

#include "io/csv_scan.h"
#include "io/source.h"

#include <locale.h>

typedef struct hdst__csv_wanted {       // of one field
    hdst__cell_form as;                 // of HDST__VOID: it is passed over, whatever it holds
    uint64_t cell;                      // where its number or text goes in a row, in bytes
    uint64_t valid;                     // where it goes whether it was not empty, if as.valid
} hdst__csv_wanted;

typedef struct hdst__csv_raw_text {     // in the cell of a text: where it stands
    char *bytes;                        // as they are in the file, without the quotes around them
    uint32_t length;
    uint32_t quoted;                    // whether it had such, so that "" in it stands for a quote
} hdst__csv_raw_text;

// Puts what a cell holds whose field is empty.
void hdst__csv_put_missing(const hdst__cell_form *as, char *cell);
// Reads up to `most` rows that end before `limit` (which HDST__CSV_SLACK bytes follow), row_bytes apart in `cells`; stops before a row that is not plain.
hdst__csv_stretch hdst__csv_numbers(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *limit, uint64_t most,
                                    char *cells, uint64_t row_bytes, locale_t c_locale);
// The same where some of what is wanted are texts (HDST__TEXT).
hdst__csv_stretch hdst__csv_values(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *limit, uint64_t most,
                                   char *cells, uint64_t row_bytes, locale_t c_locale);
// The rows whose fields parse so, for whoever only counts them: such as start before `stop` and end before `limit`, each of them read to `row`.
hdst__csv_stretch hdst__csv_try(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *stop, const char *limit, char *row,
                                locale_t c_locale);

#endif
