// SPDX-License-Identifier: Apache-2.0
// Superaccumulators of keys (shuffle/aggregate/overflow_rows.h).
#include "shuffle/aggregate/overflow_rows.h"

#include "record/key_hash.h"
#include "accum/representation.h"
#include "base/costs_host.h"

static uint32_t mixed(const hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key)
{
    uint64_t h = overflow->seed;
    if (overflow->layout->key_words == 0) return hdst__key_mix32(hash ^ (uint32_t)h);
    if (overflow->layout->texts) return (uint32_t)(hdst__key_texts_mixed(overflow->layout->texts, key, overflow->layout->key_words, h) >> 32);
    for (uint32_t w = 0; w < overflow->layout->key_words; w++) h = hdst__key_mix64((h ^ key[w]) + HDST__KEY_STEP);
    return (uint32_t)(h >> 32);
}

static uint32_t unmixed(const hdst__overflow_rows *overflow, uint32_t hash) { return hdst__key_unmix32(hash) ^ (uint32_t)overflow->seed; }

void hdst__overflow_rows_init(hdst__overflow_rows *overflow, const hdst__aggregation_layout *layout, uint64_t seed, const hdst__allocator *allocator)
{
    *overflow = (hdst__overflow_rows){.layout = layout, .allocator = allocator, .seed = seed};
}

void hdst__overflow_rows_clear(hdst__overflow_rows *overflow) { hdst__key_table_destroy(&overflow->table); }

const int64_t *hdst__overflow_rows_find(const hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key)
{
    const uint64_t *row = hdst__key_table_find((hdst__key_table *)&overflow->table, mixed(overflow, hash, key), key, false);
    return row ? (const int64_t *)row + 1 + overflow->layout->key_words : NULL;
}

const int64_t *hdst__overflow_rows_next(const hdst__overflow_rows *overflow, uint64_t *at, uint32_t *hash)
{
    const hdst__key_table *table = &overflow->table;
    while (table->rows && *at < UINT64_C(1) << table->bits) {
        const uint64_t *entry = table->rows + (*at)++ * table->row_words;
        if (!entry[0]) continue;
        *hash = unmixed(overflow, (uint32_t)entry[0]);
        return (const int64_t *)entry + 1;
    }
    return NULL;
}

// The superaccumulators of a key, made if there are none. NULL: no memory.
static int64_t *cells_of(hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key)
{
    const hdst__aggregation_layout *layout = overflow->layout;
    hdst__key_table *table = &overflow->table;
    if (!table->rows && !hdst__key_table_create(table, overflow->allocator, layout->overflow_row_words, layout->key_words, HDST__HOST_WIDE_TABLE_BITS,
                                                0)) return NULL;
    table->texts = layout->texts;       // keys come from rows and raw records, which keep their bytes
    if (!hdst__key_table_has_room(table, 1) && !hdst__key_table_grow(table, 1)) return NULL;
    uint64_t *row;
    while (!(row = hdst__key_table_find(table, mixed(overflow, hash, key), key, true)))        // by chance alone
        if (!hdst__key_table_grow(table, UINT64_C(1) << table->bits)) return NULL;
    return (int64_t *)row + 1 + layout->key_words;
}

static bool no_memory(hdst_error *error)
{
    hdst__error_memory(error, "a part of a reduce by key");
    return false;
}

bool hdst__overflow_rows_add_exceptions(hdst__overflow_rows *overflow, const hdst__key_batch *batch, hdst_error *error)
{
    const hdst__aggregation_layout *layout = overflow->layout;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->exception[i]) continue;
        int64_t *cells = cells_of(overflow, batch->hash[i], batch->key + (size_t)i * layout->key_words);
        if (!cells) return no_memory(error);
        for (uint64_t c = 0; c < layout->value_count; c++) {
            const hdst__value_column *column = &layout->value[c];
            if (!column->cell.digits) continue;
            const uint64_t bits = hdst__key_batch_bits(batch, column, c, i);
            if (hdst__value_is_exception(column, bits)) hdst__cell_accumulate(&column->cell, cells + column->superaccumulator_word, bits);
        }
    }
    return true;
}

bool hdst__overflow_rows_move(hdst__overflow_rows *overflow, uint32_t hash, const uint64_t *key, uint64_t *cells, hdst_error *error)
{
    const hdst__aggregation_layout *layout = overflow->layout;
    int64_t *to = cells_of(overflow, hash, key);
    if (!to) return no_memory(error);
    overflow->moved++;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        if (column->cell.digits) hdst__fixed_point.spill(&column->cell, (int64_t *)cells + column->word, column->s, to + column->superaccumulator_word);
    }
    return true;
}

bool hdst__overflow_rows_move_row(hdst__overflow_rows *overflow, uint64_t *row, hdst_error *error)
{
    return hdst__overflow_rows_move(overflow, (uint32_t)row[0], row + 1, row + 1 + overflow->layout->key_words, error);
}
