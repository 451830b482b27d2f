// SPDX-License-Identifier: Apache-2.0
// The last level of a reduction whose keys are numbers of rows: a partition is a stretch of rows, whose cells lie one after another in the cache.
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_partition.h"
#include "shuffle/aggregate/aggregate_read.h"
#include "shuffle/aggregate/aggregate_result.h"
#include "base/costs_host.h"

static const char what[] = "the result of a reduce by key";

// In memory, where that leaves some for the work; else in a temporary file.
hdst_status hdst__aggregate_take_rows(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    const uint64_t bytes = run->layout->row_count * run->layout->rows->size;
    if (aggregate->rows && !aggregate->mapped) return HDST_OK;
    hdst__aggregate_forget_rows(aggregate);
    aggregate->row_count = run->layout->row_count;
    if (bytes > run->room / HDST__HOST_KEY_RESULT_SHARE) return hdst__spill_open(hdst__engine_runtime(run->engine), &aggregate->file, error);
    aggregate->rows = hdst__aggregate_take(run, bytes, what, error);
    aggregate->row_bytes = aggregate->rows ? bytes : 0;
    return aggregate->rows ? HDST_OK : error->code;
}

hdst_status hdst__aggregate_end_rows(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    if (!aggregate->file.open) return HDST_OK;
    const hdst_status status = hdst__spill_map(&aggregate->file, &aggregate->mapped, error);
    aggregate->rows = (char *)aggregate->mapped;      // nobody writes there: row_bytes is 0
    return status;
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

// Where they belong, in memory or in the file.
static bool write_rows(hdst__aggregate_worker *worker, uint64_t count)
{
    hdst__aggregation *run = worker->run;
    const uint64_t size = run->layout->rows->size;
    char *to = worker->direct_rows ? worker->direct_rows : run->aggregate->rows + worker->first_row * size;
    hdst__direct_table_write(&worker->direct_table, run->layout, count, to);
    write_wide(worker, to);
    if (!worker->direct_rows) {
        worker->out += count;
        return true;
    }
    pthread_mutex_lock(&run->lock);
    const hdst_status status = hdst__spill_put(&run->aggregate->file, worker->first_row * size, to, count * size, &worker->error);
    pthread_mutex_unlock(&run->lock);
    if (status == HDST_OK) worker->out += count;
    return status == HDST_OK;
}

// The piece at hand: all of a partition, or a stretch of its rows.
static bool reduce_piece(hdst__aggregate_worker *worker, uint32_t partition)
{
    const uint64_t rows = worker->direct_table.rows, first = worker->piece.number * rows, last = worker->run->layout->row_count;
    if (first >= last) return true;
    worker->first_row = first;
    hdst__direct_table_clear(&worker->direct_table);
    hdst__overflow_rows_clear(&worker->overflow);
    if (!hdst__aggregate_each_chunk(worker, partition, add_raw, add_rows)) return false;
    worker->piece.pieces += worker->piece.split > 0;
    return write_rows(worker, last - first < rows ? last - first : rows);
}

// Superaccumulators of a piece's rows had no room: from here on pieces have half the rows. False: it was something else.
static bool halve_pieces(hdst__aggregate_worker *worker)
{
    if (worker->error.code != HDST_E_MEMORY || worker->direct_table.rows == 1) return false;
    hdst__overflow_rows_clear(&worker->overflow);
    worker->error = (hdst_error)HDST_ERROR_INIT;
    worker->direct_table.rows /= 2;
    worker->piece.split++;
    worker->piece.number *= 2;
    return true;
}

static bool reduce_partition(hdst__aggregate_worker *worker, uint32_t partition)
{
    hdst__partition_piece *piece = &worker->piece;
    for (hdst__partition_piece_begin(piece, partition); hdst__partition_piece_is_of(piece, partition); piece->number++)
        while (!reduce_piece(worker, partition))
            if (!halve_pieces(worker)) return false;
    return true;
}

// So many rows that their cells, and where the result goes to a file they too, have room beside those of all threads.
static uint64_t piece_rows(const hdst__aggregation *run)
{
    const hdst__aggregation_layout *layout = run->layout;
    const uint64_t bytes = layout->cell_words * sizeof(uint64_t) + (run->aggregate->file.open ? layout->rows->size : 0),
        fit = hdst__budget_left(hdst__engine_memory(run->engine)) / HDST__HOST_DIRECT_PIECE_SHARE / run->workers / (bytes ? bytes : 1);
    uint64_t rows = partition_rows(run);
    while (rows > 1 && rows > fit) rows /= 2;
    return rows;
}

void hdst__aggregate_plan_direct(hdst__aggregation *run)
{
    const uint64_t rows = piece_rows(run);
    for (uint32_t i = 0; i < run->workers; i++) {
        run->worker[i].direct_piece = rows;
        while (partition_rows(run) >> run->worker[i].piece.split > rows) run->worker[i].piece.split++;
    }
}

static hdst_status make_table(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    if (!hdst__direct_table_create(&worker->direct_table, hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), run->layout, worker->direct_piece))
        return hdst__error_memory(&worker->error, "a part of a reduce by key");
    if (!run->aggregate->file.open) return HDST_OK;
    worker->direct_rows = hdst__aggregate_take(run, worker->direct_piece * run->layout->rows->size, what, &worker->error);
    return worker->direct_rows ? HDST_OK : HDST_E_MEMORY;
}

hdst_status hdst__aggregate_reduce_direct(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    const hdst_status status = make_table(worker);
    if (status != HDST_OK) return status;
    for (uint32_t partition; hdst__aggregate_take_partition(run, &partition);)
        if (!reduce_partition(worker, partition)) return worker->error.code;
    return HDST_OK;
}
