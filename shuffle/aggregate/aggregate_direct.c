// SPDX-License-Identifier: Apache-2.0
// The last level of a reduction whose keys are numbers of rows: a partition is a stretch of rows, whose cells lie one after another in the cache.
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_partition.h"
#include "shuffle/aggregate/aggregate_read.h"
#include "shuffle/aggregate/aggregate_result.h"

hdst_status hdst__aggregate_take_rows(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    const uint64_t bytes = run->layout->row_count * run->layout->rows->size;
    aggregate->row_count = run->layout->row_count;
    if (aggregate->rows) return HDST_OK;
    aggregate->rows = hdst__aggregate_take(run, bytes, "the result of a reduce by key", error);
    aggregate->row_bytes = aggregate->rows ? bytes : 0;
    return aggregate->rows ? HDST_OK : error->code;
}

static uint64_t partition_rows(const hdst__aggregation *run)
{
    const uint32_t hash_bits = 32 - run->layout->row_shift;
    return UINT64_C(1) << (hash_bits > run->choice.partition_bits ? hash_bits - run->choice.partition_bits : 0);
}

static uint32_t hash_of(const hdst__aggregation *run, uint64_t row) { return (uint32_t)row << run->layout->row_shift; }

static bool spill_full(void *context, uint64_t place, uint64_t *cells)
{
    hdst__aggregate_worker *worker = context;
    return hdst__overflow_rows_move(&worker->overflow, hash_of(worker->run, worker->first_row + place), NULL, cells, &worker->error);
}

static bool add_raw(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t count = chunk->bytes / layout->raw_bytes;
    for (uint64_t first = 0; first < count; first += worker->batch.count) {
        const uint64_t left = count - first;
        hdst__key_batch_open_raw(&worker->batch, layout, chunk->data + first * layout->raw_bytes, left < layout->batch ? (uint32_t)left : layout->batch);
        hdst__key_batch_words(&worker->batch, layout, false);
        hdst__direct_table_add(&worker->direct_table, layout, &worker->batch);
        if (worker->batch.exceptions && !hdst__overflow_rows_add_exceptions(&worker->overflow, &worker->batch, &worker->error)) return false;
        if (!hdst__direct_table_spill_full(&worker->direct_table, layout, spill_full, worker)) return false;
    }
    return true;
}

// What was combined on the way here.
static bool add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t bytes = (uint64_t)layout->row_words * 8;
    for (uint64_t at = 0; at < chunk->bytes; at += bytes) {
        const uint64_t *row = (const uint64_t *)(const void *)(chunk->data + at);
        uint64_t *cells = hdst__direct_table_combine(&worker->direct_table, layout, row);
        if (hdst__cells_are_full(layout, cells) && !hdst__overflow_rows_move(&worker->overflow, (uint32_t)row[0], NULL, cells, &worker->error)) return false;
    }
    return true;
}

// Rows with superaccumulators are written once more, with these.
static void write_wide(hdst__aggregate_worker *worker, char *rows)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const int64_t *overflow;
    uint32_t hash;
    for (uint64_t at = 0; (overflow = hdst__overflow_rows_next(&worker->overflow, &at, &hash));) {
        const uint64_t row = hash >> layout->row_shift;
        hdst__direct_table_write_overflow(&worker->direct_table, layout, row, overflow, rows + (row - worker->first_row) * layout->rows->size);
    }
}

static bool reduce_partition(hdst__aggregate_worker *worker, uint32_t partition)
{
    hdst__aggregation *run = worker->run;
    const uint64_t rows = partition_rows(run), first = partition * rows, last = run->layout->row_count;
    if (first >= last) return true;
    worker->first_row = first;
    hdst__direct_table_clear(&worker->direct_table);
    hdst__overflow_rows_clear(&worker->overflow);
    if (!hdst__aggregate_each_chunk(worker, partition, add_raw, add_rows)) return false;
    const uint64_t count = last - first < rows ? last - first : rows;
    char *to = run->aggregate->rows + first * run->layout->rows->size;
    hdst__direct_table_write(&worker->direct_table, run->layout, count, to);
    write_wide(worker, to);
    worker->out += count;
    return true;
}

hdst_status hdst__aggregate_reduce_direct(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    if (!hdst__direct_table_create(&worker->direct_table, hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), run->layout, partition_rows(run)))
        return hdst__error_memory(&worker->error, "a part of a reduce by key");
    for (uint32_t partition; hdst__aggregate_take_partition(run, &partition);)
        if (!reduce_partition(worker, partition)) return worker->error.code;
    return HDST_OK;
}
