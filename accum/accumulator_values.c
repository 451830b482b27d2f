// SPDX-License-Identifier: Apache-2.0
// Reads accumulators out (accum/reduce.h): the one place where an exact sum is rounded.
#include "accum/reduce.h"

#include "record/scalar_convert.h"

#include <string.h>

uint64_t hdst__cell_read(const hdst__cell *cell, const int64_t *word)
{
    if (cell->digits) return hdst__wide_round(word, cell->kind);
    switch (cell->acc) {
    case HDST__MIN: case HDST__MAX: return hdst__key_decode(cell->kind, cell->acc, (uint64_t)*word);
    case HDST__AND:
        if (cell->kind == HDST__BOOL) return ~(uint64_t)*word & 1;
        return hdst__scalar_convert(cell->kind, HDST__U64, ~(uint64_t)*word);
    case HDST__SUM: case HDST__OR: case HDST__XOR: break;
    }
    // Words are modulo 2^64; a narrower kind takes its low bits.
    return cell->kind == HDST__U64 ? (uint64_t)*word : hdst__scalar_convert(cell->kind, HDST__U64, (uint64_t)*word);
}

uint64_t hdst__table_read(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, uint64_t row, uint32_t leaf, uint64_t element)
{
    const hdst__accum *a = &tables->accum[accum];
    const hdst__cell *cell = &a->cell[leaf];
    const int64_t *first = table + hdst__tables_device_first(tables, rows, accum) + row * a->device_row_words;
    return hdst__cell_read(cell, first + cell->device_first + element * cell->device_words);
}

// A leaf of a row, at `to`. Elements mostly lie side by side, and have four or eight bytes: a constant size makes each copy one store.
static void read_leaf(const hdst__cell *cell, const hdst__leaf *leaf, const int64_t *word, char *to)
{
    const size_t size = hdst__scalar_size(cell->kind);
    const bool together = hdst__leaf_offset(leaf, cell->elements - 1) == leaf->offset + (cell->elements - 1) * size;
    for (uint64_t e = 0; e < cell->elements; e++, word += cell->device_words) {
        const uint64_t bits = hdst__cell_read(cell, word);
        char *place = to + (together ? leaf->offset + e * size : hdst__leaf_offset(leaf, e));
        if (size == 4) memcpy(place, &bits, 4);         // little-endian hosts
        else if (size == 8) memcpy(place, &bits, 8);
        else memcpy(place, &bits, size);
    }
}

void hdst__table_read_rows(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, const hdst__record *record,
                           uint64_t first, uint64_t count, void *out)
{
    const hdst__accum *a = &tables->accum[accum];
    const int64_t *words = table + hdst__tables_device_first(tables, rows, accum) + first * a->device_row_words;
    char *to = memset(out, 0, count * record->size);
    for (uint64_t row = 0; row < count; row++, words += a->device_row_words, to += record->size)
        for (size_t leaf = 0; leaf < record->leaf_count; leaf++)
            if (a->cell[leaf].elements) read_leaf(&a->cell[leaf], &record->leaves[leaf], words + a->cell[leaf].device_first, to);
}
