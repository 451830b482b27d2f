// SPDX-License-Identifier: Apache-2.0
// Rows of containers as records (shuffle/aggregate/aggregation_layout.h): where exact sums are rounded, once.
#include "shuffle/aggregate/aggregation_layout.h"

#include "record/key_hash.h"
#include "accum/fixed_point.h"
#include "accum/representation.h"
#include "accum/rounding.h"

#include <string.h>

static void write_key(const hdst__aggregation_layout *layout, const uint64_t *row, char *record)
{
    const uint64_t small = hdst__key_unmix32((uint32_t)row[0]);
    const char *packed = (const char *)(layout->key_words ? row + 1 : &small);       // little-endian hosts
    for (uint64_t c = 0; c < layout->key_count; c++) {
        const hdst__key_column *column = &layout->key[c];
        memcpy(record + hdst__leaf_offset(&layout->record->leaves[column->leaf], column->element), packed + column->at, column->bytes);
    }
}

uint64_t hdst__value_read(const hdst__value_column *column, const uint64_t *word, const int64_t *overflow)
{
    const hdst__cell *cell = &column->cell;
    return hdst__first_representation(cell)->round(cell, (const int64_t *)word, column->s, overflow && cell->digits
                                                   ? overflow + column->superaccumulator_word : NULL);
}

void hdst__row_write(const hdst__aggregation_layout *layout, const uint64_t *row, const int64_t *overflow, char *record)
{
    const uint64_t *cells = row + 1 + layout->key_words;
    memset(record, 0, layout->record->size);
    write_key(layout, row, record);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const uint64_t bits = hdst__value_read(column, cells + column->word, overflow);
        memcpy(record + hdst__leaf_offset(&layout->record->leaves[column->leaf], column->element), &bits, column->bytes);
    }
}

// The most frequent shape: a key of 32 bits and a float sum in one word, in a record of nothing else.
static bool is_small(const hdst__aggregation_layout *layout)
{
    const hdst__value_column *value = layout->value;
    return layout->key_count == 1 && layout->key[0].bytes == 4 && layout->value_count == 1 && value->cell.digits && value->cell.kind == HDST__F32 &&
           value->words == 1 && layout->record->size == 8;
}

// Its sums are rounded by the processor: none is a denormal at that scale.
static void write_small(const hdst__aggregation_layout *layout, const uint64_t *rows, uint64_t count, char *records)
{
    const uint64_t key_at = layout->record->leaves[layout->key[0].leaf].offset;
    const float unit = (float)hdst__power_of_two(-layout->value->s);
    for (uint64_t i = 0; i < count; i++, records += 8) {
        const uint32_t key = hdst__key_unmix32((uint32_t)rows[2 * i]);
        const float sum = hdst__round_float((int64_t)rows[2 * i + 1], unit);
        memcpy(records + key_at, &key, sizeof key);
        memcpy(records + (4 - key_at), &sum, sizeof sum);
    }
}

void hdst__row_write_all(const hdst__aggregation_layout *layout, const uint64_t *rows, uint64_t count, char *records)
{
    if (is_small(layout) && hdst__rounds_directly(HDST__F32, -layout->value->s)) {
        write_small(layout, rows, count, records);
        return;
    }
    for (uint64_t i = 0; i < count; i++) hdst__row_write(layout, rows + i * layout->row_words, NULL, records + i * layout->record->size);
}
