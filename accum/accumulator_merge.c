// SPDX-License-Identifier: Apache-2.0
// Combines device tables (accum/reduce.h).
#include "accum/reduce.h"

static int64_t merged_word(hdst__word_op op, int64_t a, int64_t b)
{
    switch (op) {
    case HDST__WORD_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case HDST__WORD_MAX: return (uint64_t)a > (uint64_t)b ? a : b;
    case HDST__WORD_OR: return a | b;
    case HDST__WORD_XOR: break;
    }
    return a ^ b;
}

static void merge_cell(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    for (uint64_t e = 0; e < cell->elements; e++) {
        const uint64_t at = e * cell->device_words;
        if (cell->digits) hdst__wide_merge(to + at, from + at, cell->kind);
        else to[at] = merged_word(cell->op, to[at], from[at]);
    }
}

void hdst__tables_merge(const hdst__tables *tables, const uint64_t *rows, int64_t *to, const int64_t *from)
{
    for (size_t i = 0; i < tables->accum_count; i++) {
        const hdst__accum *accum = &tables->accum[i];
        const uint64_t count = hdst__accum_rows(accum, rows);
        // Cells follow one another without a gap, so the leaf after the last one starts where the row ends.
        for (uint64_t row = 0; row < count; row++) {
            const hdst__cell *cell = accum->cell;
            for (uint64_t word = 0; word < accum->device_row_words; cell++) {
                merge_cell(cell, to + word, from + word);
                word += cell->elements * cell->device_words;
            }
            to += accum->device_row_words;
            from += accum->device_row_words;
        }
    }
}
