// SPDX-License-Identifier: Apache-2.0
// Merges device tables and reads them out (accum/reduce.h).
#include "accum/reduce.h"

#include "accum/representation.h"
#include "base/vector_targets.h"

#include <string.h>

// --- Merging ---

void hdst__tables_merge(const hdst__tables *tables, const uint64_t *rows, int64_t *to, const int64_t *from)
{
    for (size_t i = 0; i < tables->accum_count; i++) {
        const hdst__accum *accum = &tables->accum[i];
        const uint64_t count = hdst__accum_rows(accum, rows);
        // Cells follow one another without a gap, so the leaf after the last one starts where the row ends.
        for (uint64_t row = 0; row < count; row++) {
            const hdst__cell *cell = accum->cell;
            for (uint64_t word = 0; word < accum->device_row_words; cell++) {
                const hdst__representation *held = hdst__exact_representation(cell);
                for (uint64_t e = 0; e < cell->elements; e++, word += cell->device_words) (void)held->merge(cell, to + word, from + word);
            }
            to += accum->device_row_words;
            from += accum->device_row_words;
        }
    }
}

// --- Reading ---

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

// The integer in a row of one word: `zero` and the word, or without it.
typedef struct straight_rows { uint64_t zero; bool subtracts; } straight_rows;

static bool rows_are_straight(const hdst__accum *a, const hdst__record *record, straight_rows *as)
{
    const hdst__cell *cell = a->cell;
    const bool one = a->leaf_count == 1 && a->device_row_words == 1 && cell->elements == 1 && cell->precision == HDST__CLASS_PLAIN;
    if (!one || hdst__kind_is_float(cell->kind) || cell->kind == HDST__BOOL || record->size != hdst__scalar_size(cell->kind)) return false;
    as->subtracts = cell->acc == HDST__MIN || cell->acc == HDST__AND;
    as->zero = hdst__cell_read(cell, &(int64_t){0});
    return record->size == sizeof(uint32_t) || record->size == sizeof(uint64_t);
}

HDST__WIDE_VECTORS static void read_straight(const straight_rows *as, const int64_t *words, uint64_t count, uint64_t size, char *to)
{
    const uint64_t zero = as->zero, sign = as->subtracts ? ~UINT64_C(0) : 0;        // x ^ -1 is -x - 1
#define READ(type)                                                                              \
    for (uint64_t row = 0; row < count; row++) {                                                \
        const type value = (type)(zero + (((uint64_t)words[row] ^ sign) - sign));               \
        memcpy(to + row * sizeof(type), &value, sizeof value);                                  \
    }
    if (size == sizeof(uint32_t)) READ(uint32_t)
    else READ(uint64_t)
#undef READ
}

void hdst__table_read_rows(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, const hdst__record *record,
                           uint64_t first, uint64_t count, void *out)
{
    const hdst__accum *a = &tables->accum[accum];
    const int64_t *words = table + hdst__tables_device_first(tables, rows, accum) + first * a->device_row_words;
    straight_rows as;
    if (rows_are_straight(a, record, &as)) {
        read_straight(&as, words, count, record->size, out);
        return;
    }
    char *to = memset(out, 0, count * record->size);
    for (uint64_t row = 0; row < count; row++, words += a->device_row_words, to += record->size)
        for (size_t leaf = 0; leaf < record->leaf_count; leaf++)
            if (a->cell[leaf].elements) read_leaf(&a->cell[leaf], &record->leaves[leaf], words + a->cell[leaf].device_first, to);
}
