// SPDX-License-Identifier: Apache-2.0
// Superaccumulators of keys (shuffle/aggregate/wide_table.h).
#include "shuffle/aggregate/wide_table.h"

#include "record/key_hash.h"
#include "accum/representation.h"
#include "base/costs_host.h"

static uint32_t mixed(const hdst__wide_table *wide, uint32_t hash, const uint64_t *key)
{
    uint64_t h = wide->seed;
    if (wide->layout->key_words == 0) return hdst__key_mix32(hash ^ (uint32_t)h);
    for (uint32_t w = 0; w < wide->layout->key_words; w++) h = hdst__key_mix64((h ^ key[w]) + HDST__KEY_STEP);
    return (uint32_t)(h >> 32);
}

static uint32_t unmixed(const hdst__wide_table *wide, uint32_t hash) { return hdst__key_unmix32(hash) ^ (uint32_t)wide->seed; }

void hdst__wide_table_init(hdst__wide_table *wide, const hdst__aggregation_layout *layout, uint64_t seed, const hdst__allocator *allocator)
{
    *wide = (hdst__wide_table){.layout = layout, .allocator = allocator, .seed = seed};
}

void hdst__wide_table_clear(hdst__wide_table *wide) { hdst__key_table_destroy(&wide->table); }

const int64_t *hdst__wide_table_find(const hdst__wide_table *wide, uint32_t hash, const uint64_t *key)
{
    const uint64_t *row = hdst__key_table_find((hdst__key_table *)&wide->table, mixed(wide, hash, key), key, false);
    return row ? (const int64_t *)row + 1 + wide->layout->key_words : NULL;
}

const int64_t *hdst__wide_table_next(const hdst__wide_table *wide, uint64_t *at, uint32_t *hash)
{
    const hdst__key_table *table = &wide->table;
    while (table->rows && *at < UINT64_C(1) << table->bits) {
        const uint64_t *entry = table->rows + (*at)++ * table->row_words;
        if (!entry[0]) continue;
        *hash = unmixed(wide, (uint32_t)entry[0]);
        return (const int64_t *)entry + 1;
    }
    return NULL;
}

// The superaccumulators of a key, made if there are none. NULL: no memory.
static int64_t *cells_of(hdst__wide_table *wide, uint32_t hash, const uint64_t *key)
{
    const hdst__aggregation_layout *layout = wide->layout;
    hdst__key_table *table = &wide->table;
    if (!table->rows && !hdst__key_table_create(table, wide->allocator, layout->wide_row_words, layout->key_words, HDST__HOST_WIDE_TABLE_BITS, 0)) return NULL;
    if (!hdst__key_table_has_room(table, 1) && !hdst__key_table_grow(table, 1)) return NULL;
    uint64_t *row;
    while (!(row = hdst__key_table_find(table, mixed(wide, hash, key), key, true)))        // by chance alone
        if (!hdst__key_table_grow(table, UINT64_C(1) << table->bits)) return NULL;
    return (int64_t *)row + 1 + layout->key_words;
}

static bool no_memory(hdst_error *error)
{
    hdst__error_memory(error, "a part of a reduce by key");
    return false;
}

bool hdst__wide_table_add_misfits(hdst__wide_table *wide, const hdst__key_batch *batch, hdst_error *error)
{
    const hdst__aggregation_layout *layout = wide->layout;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->misfit[i]) continue;
        int64_t *cells = cells_of(wide, batch->hash[i], batch->key + (size_t)i * layout->key_words);
        if (!cells) return no_memory(error);
        for (uint64_t c = 0; c < layout->value_count; c++) {
            const hdst__value_column *column = &layout->value[c];
            if (!column->cell.digits) continue;
            const uint64_t bits = hdst__key_batch_bits(batch, column, c, i);
            if (hdst__value_misfits(column, bits)) hdst__cell_accumulate(&column->cell, cells + column->wide_word, bits);
        }
    }
    return true;
}

bool hdst__wide_table_move(hdst__wide_table *wide, uint32_t hash, const uint64_t *key, uint64_t *cells, hdst_error *error)
{
    const hdst__aggregation_layout *layout = wide->layout;
    int64_t *to = cells_of(wide, hash, key);
    if (!to) return no_memory(error);
    wide->moved++;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        if (column->cell.digits) hdst__fixed_point.spill(&column->cell, (int64_t *)cells + column->word, column->s, to + column->wide_word);
    }
    return true;
}

bool hdst__wide_table_move_row(hdst__wide_table *wide, uint64_t *row, hdst_error *error)
{
    return hdst__wide_table_move(wide, (uint32_t)row[0], row + 1, row + 1 + wide->layout->key_words, error);
}
