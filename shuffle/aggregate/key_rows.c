// SPDX-License-Identifier: Apache-2.0
// Rows of containers as records (shuffle/aggregate/aggregation_layout.h): where exact sums are rounded, once.
#include "shuffle/aggregate/aggregation_layout.h"

#include "record/key_hash.h"
#include "accum/reduce.h"

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

// Converting an integer rounds to nearest even, and a power of two changes no digit of a normal number. false: the result may be none.
static bool round_quickly(const hdst__value_column *column, const uint64_t *word, uint64_t *bits)
{
    const bool two = column->words == 2;
    const uint64_t scale_bits = (uint64_t)(1023 - column->s - (two ? HDST__FIXED_BITS : 0)) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    const __int128 sum = two ? (__int128)(int64_t)word[0] * ((__int128)1 << HDST__FIXED_BITS) + (int64_t)word[1] : (int64_t)word[0];
    const bool is_float = column->cell.kind == HDST__F32;
    const double value = (is_float ? (double)(two ? (float)sum : (float)(int64_t)sum) : two ? (double)sum : (double)(int64_t)sum) * scale;
    const double least = is_float ? 0x1p-125 : 0x1p-1000;
    if (value < least && value > -least && sum != 0) return false;
    const float narrow = is_float ? (float)value : 0;
    *bits = 0;
    if (is_float) memcpy(bits, &narrow, sizeof narrow);
    else memcpy(bits, &value, sizeof value);
    return true;
}

static uint64_t read_sum(const hdst__value_column *column, const uint64_t *word, const int64_t *wide)
{
    uint64_t bits;
    if (!wide && column->words && round_quickly(column, word, &bits)) return bits;
    int64_t cell[HDST__F64_DIGITS + 1] = {0};
    if (wide) memcpy(cell, wide + column->wide_word, column->cell.device_words * sizeof *cell);
    for (uint32_t w = 0; w < column->words; w++)
        hdst__wide_add_fixed(cell, column->cell.kind, (int64_t)word[w], column->s + (int32_t)w * HDST__FIXED_BITS);
    return hdst__wide_round(cell, column->cell.kind);
}

uint64_t hdst__value_read(const hdst__value_column *column, const uint64_t *word, const int64_t *wide)
{
    return column->cell.digits ? read_sum(column, word, wide) : hdst__cell_read(&column->cell, (const int64_t *)word);
}

void hdst__row_write(const hdst__aggregation_layout *layout, const uint64_t *row, const int64_t *wide, char *record)
{
    const uint64_t *cells = row + 1 + layout->key_words;
    memset(record, 0, layout->record->size);
    write_key(layout, row, record);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const uint64_t bits = hdst__value_read(column, cells + column->word, wide);
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

static void write_small(const hdst__aggregation_layout *layout, const uint64_t *rows, uint64_t count, char *records)
{
    const uint64_t scale_bits = (uint64_t)(1023 - layout->value->s) << 52, key_at = layout->record->leaves[layout->key[0].leaf].offset;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    for (uint64_t i = 0; i < count; i++, records += 8) {
        const int64_t sum = (int64_t)rows[2 * i + 1];
        const double value = (double)(float)sum * scale;
        if (sum != 0 && value < 0x1p-125 && value > -0x1p-125) {       // may be no normal number
            hdst__row_write(layout, rows + 2 * i, NULL, records);
            continue;
        }
        const uint32_t key = hdst__key_unmix32((uint32_t)rows[2 * i]);
        const float narrow = (float)value;
        memcpy(records + key_at, &key, sizeof key);
        memcpy(records + (4 - key_at), &narrow, sizeof narrow);
    }
}

void hdst__row_write_all(const hdst__aggregation_layout *layout, const uint64_t *rows, uint64_t count, char *records)
{
    if (is_small(layout)) {
        write_small(layout, rows, count, records);
        return;
    }
    for (uint64_t i = 0; i < count; i++) hdst__row_write(layout, rows + i * layout->row_words, NULL, records + i * layout->record->size);
}
