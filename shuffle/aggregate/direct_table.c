// SPDX-License-Identifier: Apache-2.0
// A container for keys that are numbers of rows (shuffle/aggregate/direct_table.h).
#include "shuffle/aggregate/direct_table.h"

#include "accum/fixed_point.h"
#include "accum/rounding.h"
#include "base/vector_targets.h"

#include <string.h>

bool hdst__direct_table_create(hdst__direct_table *table, const hdst__allocator *allocator, const hdst__aggregation_layout *layout, uint64_t rows)
{
    *table = (hdst__direct_table){.allocator = allocator, .rows = rows, .row_words = layout->cell_words};
    table->words = hdst__alloc_zero(allocator, (rows * layout->cell_words + 1) * sizeof *table->words);
    return table->words;
}

void hdst__direct_table_destroy(hdst__direct_table *table)
{
    if (table->words) hdst__free(table->allocator, table->words);
    *table = (hdst__direct_table){0};
}

void hdst__direct_table_clear(hdst__direct_table *table)
{
    memset(table->words, 0, table->rows * table->row_words * sizeof *table->words);
    table->adds = 0;
}

// --- Adding ---

static void add_column(hdst__direct_table *table, const uint32_t *hash, uint32_t shift, uint32_t at, const uint64_t *word, uint32_t count, hdst__word_op op)
{
    const uint64_t mask = table->rows - 1;
    uint64_t *cells = table->words + at;
    const uint32_t step = table->row_words;
    for (uint32_t i = 0; i < count; i++) hdst__word_take(cells + (hash[i] >> shift & mask) * step, op, word[i]);
}

// The most frequent shape: one sum.
static void add_sums(hdst__direct_table *table, const uint32_t *hash, uint32_t shift, const uint64_t *word, uint32_t count)
{
    const uint64_t mask = table->rows - 1;
    uint64_t *cells = table->words;
    for (uint32_t i = 0; i < count; i++) cells[hash[i] >> shift & mask] += word[i];
}

void hdst__direct_table_add(hdst__direct_table *table, const hdst__aggregation_layout *layout, const hdst__key_batch *batch)
{
    table->adds += batch->count;
    if (table->row_words == 1 && layout->value_count == 1 && layout->value->cell.op == HDST__WORD_ADD) {
        add_sums(table, batch->hash, layout->row_shift, batch->word, batch->count);
        return;
    }
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = 0; w < column->words; w++)
            add_column(table, batch->hash, layout->row_shift, column->word + w, batch->word + (size_t)(column->word + w) * layout->batch, batch->count,
                       column->cell.op);
    }
}

uint64_t *hdst__direct_table_combine(hdst__direct_table *table, const hdst__aggregation_layout *layout, const uint64_t *row)
{
    uint64_t *cells = hdst__direct_table_cells(table, (uint32_t)row[0] >> layout->row_shift);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = column->word; w < column->word + column->words; w++) hdst__word_take(cells + w, column->cell.op, row[1 + w]);
    }
    return cells;
}

bool hdst__direct_table_spill_full(hdst__direct_table *table, const hdst__aggregation_layout *layout, hdst__spill_cells *spill, void *context)
{
    if (!layout->fixed || table->adds < layout->look_after) return true;
    table->adds = 0;
    for (uint64_t place = 0; place < table->rows; place++) {
        uint64_t *cells = hdst__direct_table_cells(table, place);
        if (hdst__cells_are_full(layout, cells) && !spill(context, place, cells)) return false;
    }
    return true;
}

// --- Results ---

static bool is_direct(const hdst__value_column *column)
{
    return column->cell.digits && column->cell.kind == HDST__F32 && column->words == 1 && hdst__rounds_directly(HDST__F32, -column->s);
}

HDST__WIDE_VECTORS static void round_floats(const int64_t *restrict word, uint64_t step, float unit, uint64_t count, float *restrict to, uint64_t to_step)
{
    if (step == 1 && to_step == 1)
        for (uint64_t i = 0; i < count; i++) to[i] = hdst__round_float(word[i], unit);
    else
        for (uint64_t i = 0; i < count; i++) to[i * to_step] = hdst__round_float(word[i * step], unit);
}

static void write_column(const hdst__direct_table *table, const hdst__value_column *column, uint64_t count, char *to, uint64_t size)
{
    const uint64_t *word = table->words + column->word;
    if (is_direct(column) && size % sizeof(float) == 0 && (uintptr_t)to % sizeof(float) == 0) {
        round_floats((const int64_t *)word, table->row_words, (float)hdst__power_of_two(-column->s), count, (float *)(void *)to, size / sizeof(float));
        return;
    }
    for (uint64_t i = 0; i < count; i++, word += table->row_words, to += size) {
        const uint64_t bits = hdst__value_read(column, word, NULL);
        switch (column->bytes) {
        case 1: memcpy(to, &bits, 1); break;
        case 2: memcpy(to, &bits, 2); break;
        case 4: memcpy(to, &bits, 4); break;
        default: memcpy(to, &bits, 8);
        }
    }
}

void hdst__direct_table_write(const hdst__direct_table *table, const hdst__aggregation_layout *layout, uint64_t count, char *records)
{
    const hdst__record *rows = layout->rows;
    uint64_t used = 0;
    for (uint64_t c = 0; c < layout->value_count; c++) used += layout->value[c].bytes;
    if (used < rows->size) memset(records, 0, count * rows->size);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        write_column(table, column, count, records + hdst__leaf_offset(&rows->leaves[column->number], column->element), rows->size);
    }
}

void hdst__direct_table_write_overflow(const hdst__direct_table *table, const hdst__aggregation_layout *layout, uint64_t row, const int64_t *overflow,
                                       char *record)
{
    const uint64_t *cells = hdst__direct_table_cells(table, row);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const uint64_t bits = hdst__value_read(column, cells + column->word, overflow);
        memcpy(record + hdst__leaf_offset(&layout->rows->leaves[column->number], column->element), &bits, column->bytes);       // little-endian hosts
    }
}
