// SPDX-License-Identifier: Apache-2.0
// Texts in files of text: lines, tab-separated, .csv.
#ifndef HDST_IO_TEXT_WRITE_H
#define HDST_IO_TEXT_WRITE_H

#include "io/file.h"
#include "record/text_span.h"

#include <stdbool.h>

// As the bytes are.
void hdst__text_write(hdst__file_writer *writer, const hdst__text_span *text);
// With tab, line feed, carriage return and backslash as \t, \n, \r and \\; and in quotes, "" for a quote in it, where it begins with a quote or #, begins or
// ends with a blank, or is empty and the `first` of its row.
void hdst__text_write_tsv(hdst__file_writer *writer, const hdst__text_span *text, bool first);
// In quotes, "" for a quote in it, where it would be read otherwise without: it has a comma, a quote, a line end, begins or ends with a blank or begins with
// #; or is empty and `alone` in its row.
void hdst__text_write_csv(hdst__file_writer *writer, const hdst__text_span *text, bool alone);

#endif
