// SPDX-License-Identifier: Apache-2.0
// Rows that a GPU left unfinished come to the host (shuffle/aggregate/aggregate_device.h): their words as they are, and behind the keys that have some the
// number of their superaccumulators, which lie in the device's overflow table in no order.
#include "shuffle/aggregate/aggregate_device_memory.h"

#include "accum/overflow_table.h"

#include <string.h>

static const char what[] = "unfinished sums by key";
enum { PIECE_BYTES = 64 << 20 };      // read at once: a cancel waits for one

typedef struct overflow {
    int64_t *table;             // the overflow table
    uint64_t *row;              // where hash_total put the row of each of its places
    uint32_t *place, *staged;   // of each partition: its first row in the result, and there
} overflow;

static void free_overflow(const hdst__allocator *allocator, overflow *o)
{
    hdst__free(allocator, o->table);
    hdst__free(allocator, o->row);
    hdst__free(allocator, o->place);
    hdst__free(allocator, o->staged);
}

static hdst_status read_overflow(hdst__aggregate_device *d, const hdst__allocator *allocator, overflow *o, hdst_error *error)
{
    const uint64_t cells = d->choice.overflow_cells, partitions = UINT64_C(1) << (d->choice.high_bits + d->choice.low_bits),
                   words = hdst__overflow_words(cells, d->shape.overflow_cell_words);
    *o = (overflow){hdst__alloc(allocator, words * sizeof *o->table), hdst__alloc(allocator, cells * sizeof *o->row),
                    hdst__alloc(allocator, partitions * sizeof *o->place), hdst__alloc(allocator, partitions * sizeof *o->staged)};
    if (!o->table || !o->row || !o->place || !o->staged) return hdst__error_memory(error, what);
    hdst_status status = hdst__aggregate_device_read(d, HDST__AGGREGATE_OVERFLOW, 0, o->table, words * sizeof *o->table, error);
    if (status == HDST_OK) status = hdst__aggregate_device_read(d, HDST__AGGREGATE_ROWS_OF_OVERFLOW, 0, o->row, cells * sizeof *o->row, error);
    if (status == HDST_OK) status = hdst__aggregate_device_read(d, HDST__AGGREGATE_ROWS_OF, 0, o->place, partitions * sizeof *o->place, error);
    if (status == HDST_OK) status = hdst__aggregate_device_read(d, HDST__AGGREGATE_STAGED, 0, o->staged, partitions * sizeof *o->staged, error);
    return status;
}

static const hdst__value_column *column_of_sum(const hdst__aggregate_device *d, uint64_t sum)
{
    uint64_t v = 0;
    while (!d->layout->value[v].cell.digits || d->shape.value[v].sum != sum) v++;
    return &d->layout->value[v];
}

// Each place of the table to the superaccumulators of its row, which are numbered as they are met.
static hdst_status number_exact(hdst__aggregate_device *d, const overflow *o, uint64_t *states, int64_t **exact, uint64_t *exact_count, hdst_error *error)
{
    const uint64_t cells = d->choice.overflow_cells, sums = d->shape.sums, words = d->layout->superaccumulator_words;
    const int64_t *owner = o->table + HDST__OVERFLOW_OWNERS, *cell = owner + cells;
    uint64_t used = 0;
    for (uint64_t at = 0; at < cells; at++) used += owner[at] != 0;
    if (used == 0) return HDST_OK;
    *exact = hdst__alloc_zero(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), used * words * sizeof **exact);
    if (!*exact) return hdst__error_memory(error, what);
    for (uint64_t at = 0; at < cells; at++) {
        if (!owner[at]) continue;
        const uint64_t element = (uint64_t)owner[at] - 1, partition = element / sums / d->shape.slots;
        const hdst__value_column *column = column_of_sum(d, element % sums);
        uint64_t *number = states + (o->place[partition] + (o->row[at] - o->staged[partition]) + 1) * d->shape.state_words - 1;
        if (!*number) *number = ++*exact_count;
        memcpy(*exact + (*number - 1) * words + column->superaccumulator_word, cell + at * d->shape.overflow_cell_words,
               column->cell.device_words * sizeof **exact);
    }
    return HDST_OK;
}

static hdst_status read_rows(hdst__aggregate_device *d, char *states, uint64_t bytes, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t at = 0, some; at < bytes && status == HDST_OK; at += some) {
        some = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        status = hdst__cancel_check(hdst__engine_cancel(d->engine), 0, 0, error);
        if (status == HDST_OK) status = hdst__aggregate_device_read(d, HDST__AGGREGATE_STATES, at, states + at, some, error);
    }
    return status;
}

static hdst_status read_exact(hdst__aggregate_device *d, uint64_t *states, int64_t **exact, uint64_t *exact_count, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY);
    overflow o;
    hdst_status status = read_overflow(d, allocator, &o, error);
    if (status == HDST_OK) status = number_exact(d, &o, states, exact, exact_count, error);
    free_overflow(allocator, &o);
    return status;
}

hdst_status hdst__aggregate_device_read_states(hdst__aggregate_device *d, uint64_t **states, uint64_t *count, int64_t **exact, uint64_t *exact_count,
                                               hdst_error *error)
{
    const uint64_t bytes = d->rows * d->shape.state_words * sizeof **states;
    *exact = NULL;
    *exact_count = 0;
    *count = d->rows;
    *states = hdst__budget_alloc(hdst__engine_memory(d->engine), HDST__OWNER_BY_KEY, bytes + 1, what, error);
    hdst_status status = *states ? read_rows(d, (char *)*states, bytes, error) : HDST_E_MEMORY;
    if (status == HDST_OK && d->rows && d->shape.sums) status = read_exact(d, *states, exact, exact_count, error);
    if (status == HDST_OK) return status;
    const hdst__allocator *allocator = hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY);
    hdst__free(allocator, *states);
    hdst__free(allocator, *exact);
    *states = NULL;
    *exact = NULL;
    *count = *exact_count = 0;
    return status;
}
