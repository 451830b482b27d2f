// SPDX-License-Identifier: Apache-2.0
// Numbers of plain rows of separated text: fields are found where numbers end; lines without data are passed over. Like io/csv_scan.h it leaves
// to io/csv_reader.h what is not plain.
#ifndef HDST_IO_CSV_NUMBERS_H
#define HDST_IO_CSV_NUMBERS_H

#include "io/csv_scan.h"
#include "record/type.h"

#include <locale.h>

enum { HDST__CSV_CELL_BYTES = 8 };      // of a number among what is read

typedef struct hdst__csv_wanted {       // of one field
    hdst__kind as;                      // HDST__VOID: it is passed over, whatever it holds
    uint64_t cell;                      // where its number goes in a row, in bytes
} hdst__csv_wanted;

// Reads up to `most` rows that end before `limit` (which HDST__CSV_SLACK bytes follow), row_bytes apart in `cells`; stops before a row that is not plain.
hdst__csv_stretch hdst__csv_numbers(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *limit, uint64_t most,
                                    char *cells, uint64_t row_bytes, locale_t c_locale);

#endif
