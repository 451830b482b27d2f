// SPDX-License-Identifier: Apache-2.0
// First-level accumulators: words in front of the cells of a device table (CPU devices, large tables).
//
// Strips are added to *first-level words*, those of one strip table, and only what does not fit fixed point or overflows
// goes to the device table's (wide) cells. Each first-level word has a *low word*: a sum of floats that has one word in
// strips (CLASS_ONE_WORD) takes there, in multiples of 2^-(s+40), what two words would have held of an addend. So most runs
// leave the cells as they were, zero, and who clears or reads the table touches two words for each float sum in place
// of 10 or 67. The memory holds marks, first-level words, low words, cells: a mark for each page of HDST__PAGE_WORDS words
// of the cells, not 0 once a cell with a word there was touched. A sum is that of all its words and its cell.
//
// The last mark is no page's: it says what a *batch* left, a run of so few records that one strip took them as one block. Where a block's registers had
// all of a leaf's sums, exactly, they were rounded there: the leaf's words hold its values, floats side by side, and nothing else (hdst__cell.batch_sum).
#ifndef HDST_ACCUM_FIRST_LEVEL_H
#define HDST_ACCUM_FIRST_LEVEL_H

#include "accum/tables.h"

enum { HDST__PAGE_WORDS = 512 };
enum { HDST__BATCH_SUMS = 31 };                             // of a kernel, at most: bit n - 1 of the last mark says that batch_sum n is rounded

uint64_t hdst__tables_mark_words(const hdst__tables *tables, const uint64_t *rows);      // the last one too
// marks too: words before the first cell; 0 without first-level words
uint64_t hdst__tables_first_level_words(const hdst__tables *tables, const uint64_t *rows);

typedef struct hdst__first_level {        // of a device table, for reading; cells on pages that are not marked are never looked at
    const int64_t *marks, *words, *low, *cells;
    uint32_t batch;                 // the last mark
    const int32_t *scale;           // by scale: s
} hdst__first_level;

// `memory`: of the table, from the marks on.
hdst__first_level hdst__first_level_of(const hdst__tables *tables, const uint64_t *rows, const int64_t *memory, const int32_t *scale);
// As hdst__table_read and hdst__table_read_rows.
uint64_t hdst__first_level_read(const hdst__tables *tables, const uint64_t *rows, const hdst__first_level *level, size_t accum, uint64_t row, uint32_t leaf,
                          uint64_t element);
void hdst__first_level_read_rows(const hdst__tables *tables, const uint64_t *rows, const hdst__first_level *level, size_t accum, const hdst__record *record,
                                 void *out);

#endif
