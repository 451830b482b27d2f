// SPDX-License-Identifier: Apache-2.0
// A text that lines are looked through for, in the bytes as they were read: before anybody knows where lines begin and end.
//
// It is advice: of lines that have the text none is missed, and who looks at lines that were found looks again, for they may be others. What a line's \r
// or its letters are taken for is nothing that bytes have to say.
#ifndef HDST_IO_LINE_SEARCH_H
#define HDST_IO_LINE_SEARCH_H

#include "record/text_span.h"

#include <stdbool.h>

typedef struct hdst__line_search {
    hdst__text_span text;       // of one byte at least; what it refers to outlives the search
    bool small_letters;         // letters A to Z of lines count as their small ones: a text that has some is in no line
} hdst__line_search;

// Where in bytes [at, end) the text begins first and lies whole; `end`: nowhere, as is a text with a \n. Thread-safe.
uint64_t hdst__line_search_find(const hdst__line_search *search, const char *bytes, uint64_t at, uint64_t end);

#endif
