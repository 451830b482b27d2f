// SPDX-License-Identifier: Apache-2.0
// The last level of a reduction by key: the tuples and rows of a partition, from all threads, in one table; its rows in order.
#include "shuffle/aggregate/aggregate_partition.h"

#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_read.h"
#include "shuffle/aggregate/aggregate_result.h"
#include "shuffle/aggregate/aggregate_state.h"

static bool no_memory(hdst__aggregate_worker *worker)
{
    hdst__error_memory(&worker->error, "a part of a reduce by key");
    return false;
}

static bool spill_full(void *context, uint64_t *row)
{
    hdst__aggregate_worker *worker = context;
    return hdst__overflow_rows_move_row(&worker->overflow, row, &worker->error);
}

static bool make_room(hdst__aggregate_worker *worker, uint64_t more)
{
    return hdst__key_table_has_room(&worker->table, more) || hdst__key_table_grow(&worker->table, more) || no_memory(worker);
}

static void note_longest(hdst__aggregate_worker *worker)
{
    if (worker->table.longest > worker->longest) worker->longest = worker->table.longest;
}

static bool has_sorter(hdst__aggregate_worker *worker)
{
    const hdst__aggregation *run = worker->run;
    const hdst__row_sorter_spec spec = {.layout = run->layout, .allocator = &worker->allocator, .memory = &worker->memory, .share = hdst__aggregate_share(run),
                                        .forced_bits = hdst__engine_limits(run->engine)->by_key_table_bits, .batch = &worker->batch,
                                        .overflow = &worker->overflow, .error = &worker->error};
    if (!worker->sorter) worker->sorter = hdst__row_sorter_create(&spec);
    return worker->sorter;
}

static bool sort_raw(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    return has_sorter(worker) && hdst__row_sorter_add_raw(worker->sorter, chunk);
}
static bool sort_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    return has_sorter(worker) && hdst__row_sorter_add_rows(worker->sorter, chunk);
}

// Keys crowd in the table: what it has so far is the sorter's, and so are all that follow and the memory.
static bool sort_instead(hdst__aggregate_worker *worker)
{
    note_longest(worker);
    worker->sorts = true;
    worker->crowded_partitions++;
    const bool good = has_sorter(worker) && hdst__row_sorter_add_table(worker->sorter, &worker->table);
    hdst__key_table_destroy(&worker->table);
    return good;
}

static bool ready_table(hdst__aggregate_worker *worker, uint32_t skip)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint32_t wanted = worker->run->choice.table_bits, split = worker->piece.split, bits = wanted > split ? wanted - split : 0;
    if (worker->table.rows) hdst__key_table_clear(&worker->table, skip);
    else if (!hdst__key_table_create(&worker->table, &worker->allocator, layout->row_words, layout->key_words, bits, skip)) return no_memory(worker);
    worker->table.texts = layout->texts;
    return true;
}

static hdst__partition_chunk rest_of(const hdst__partition_chunk *chunk, uint64_t from)
{
    return (hdst__partition_chunk){.data = chunk->data + from, .bytes = chunk->bytes - from};
}

static bool add_raw(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t count = chunk->bytes / layout->raw_bytes;
    if (worker->sorts) return sort_raw(worker, chunk);
    for (uint64_t first = 0; first < count; first += worker->batch.count) {
        const uint64_t left = count - first;
        hdst__key_batch_open_raw(&worker->batch, layout, chunk->data + first * layout->raw_bytes, left < layout->batch ? (uint32_t)left : layout->batch);
        if (!make_room(worker, worker->batch.count)) return false;
        hdst__key_batch_words(&worker->batch, layout, false);
        worker->batch.count = hdst__key_table_add(&worker->table, layout, &worker->batch);
        if (worker->batch.exceptions && !hdst__overflow_rows_add_exceptions(&worker->overflow, &worker->batch, &worker->error)) return false;
        if (!hdst__key_table_spill_full(&worker->table, layout, spill_full, worker)) return false;
        if (!hdst__key_table_is_crowded(&worker->table)) continue;
        const hdst__partition_chunk rest = rest_of(chunk, (first + worker->batch.count) * layout->raw_bytes);
        return sort_instead(worker) && sort_raw(worker, &rest);
    }
    return true;
}

static bool add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t bytes = (uint64_t)layout->row_words * 8;
    if (worker->sorts) return sort_rows(worker, chunk);
    for (uint64_t at = 0; at < chunk->bytes; at += bytes) {
        if (!make_room(worker, 1)) return false;
        uint64_t *row = hdst__key_table_combine(&worker->table, layout, (const uint64_t *)(const void *)(chunk->data + at));
        if (!row) {
            const hdst__partition_chunk rest = rest_of(chunk, at);
            return sort_instead(worker) && sort_rows(worker, &rest);
        }
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__overflow_rows_move_row(&worker->overflow, row, &worker->error)) return false;
    }
    return true;
}

static bool order_table(hdst__aggregate_worker *worker)
{
    const uint64_t words = worker->table.count * worker->table.row_words;
    if (words > worker->sorted_words) {
        hdst__free(&worker->allocator, worker->sorted);
        worker->sorted_words = words + words / 4;
        worker->sorted = hdst__alloc(&worker->allocator, worker->sorted_words * sizeof *worker->sorted);
        if (!worker->sorted) {
            worker->sorted_words = 0;
            return no_memory(worker);
        }
    }
    hdst__key_table_sorted(&worker->table, worker->sorted);
    return true;
}

// False: the error is set.
static bool write_rows(hdst__aggregate_worker *worker, const uint64_t *rows, uint64_t count, char *to)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t size = layout->record->size;
    if (worker->run->aggregate->keeps_state) return hdst__aggregate_write_state(worker, rows, count, (uint64_t *)(void *)to);
    if (hdst__overflow_rows_is_empty(&worker->overflow)) {
        hdst__row_write_all(layout, rows, count, to);
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *row = rows + i * layout->row_words;
        hdst__row_write(layout, row, hdst__overflow_rows_find(&worker->overflow, (uint32_t)row[0], row + 1), to + i * size);
    }
    return true;
}

// A bufferful at a time, as number `at` and on of the partition's.
static bool write_to_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t at, const uint64_t *rows, uint64_t count)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    if (!hdst__aggregate_buffer(worker)) return false;
    const uint64_t most = worker->buffer_bytes / hdst__aggregate_row_bytes(worker->run);
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < most ? count - done : most;
        if (!write_rows(worker, rows + done * layout->row_words, now, worker->buffer)) return false;
        if (!hdst__aggregate_put_in_file(worker, partition, at + done, worker->buffer, now)) return false;
    }
    return true;
}

// The rows of a partition, or of a piece of it, in order.
static bool reduce(hdst__aggregate_worker *worker, uint32_t partition, const uint64_t **rows, uint64_t *count)
{
    const hdst__aggregate_choice *choice = &worker->run->choice;
    worker->sorts = choice->sorted || worker->piece.ranges;
    if (worker->piece.ranges) hdst__key_table_destroy(&worker->table);        // the sorter has its memory
    if (!worker->sorts && !ready_table(worker, choice->partition_bits + worker->piece.split)) return false;
    hdst__overflow_rows_clear(&worker->overflow);
    if (!hdst__aggregate_each_chunk(worker, partition, add_raw, add_rows)) return false;
    note_longest(worker);
    *rows = NULL;
    *count = 0;
    if (worker->sorts) return !worker->sorter || hdst__row_sorter_end(worker->sorter, rows, count);
    *count = worker->table.count;
    if (!order_table(worker)) return false;
    *rows = worker->sorted;
    return true;
}

// Where the partition at hand, or the piece, has no room: a piece of it. false: it cannot be made smaller, or the error is another; it stays.
static bool take_less(hdst__aggregate_worker *worker)
{
    if (worker->error.code != HDST_E_MEMORY || atomic_load(&worker->run->stop)) return false;
    const bool is_hash = worker->sorter && hdst__partition_piece_is_hash(&worker->piece);
    if (!hdst__partition_piece_narrow(&worker->piece, is_hash ? hdst__row_sorter_middle(worker->sorter) : NULL)) return false;
    worker->error = (hdst_error)HDST_ERROR_INIT;
    hdst__free(&worker->allocator, worker->sorted);             // what is taken was enough for half of it, or was too much
    worker->sorted = NULL;
    worker->sorted_words = 0;
    hdst__row_sorter_destroy(worker->sorter);
    worker->sorter = NULL;
    return true;
}

static bool reduce_in_pieces(hdst__aggregate_worker *worker, uint32_t partition)
{
    hdst__aggregation *run = worker->run;
    const uint64_t *rows;
    uint64_t count, all = 0;
    hdst__aggregate_begin_partition_in_file(worker, partition);
    hdst__partition_piece_begin(&worker->piece, partition);
    while (hdst__partition_piece_is_of(&worker->piece, partition) && !atomic_load(&run->stop)) {
        if (!reduce(worker, partition, &rows, &count)) {
            if (!take_less(worker)) return false;
            continue;
        }
        if (!write_to_file(worker, partition, all, rows, count)) return false;
        all += count;
        hdst__partition_piece_next(&worker->piece, count);
    }
    worker->out += all;
    hdst__aggregate_end_partition_in_file(worker, partition, all);
    return true;
}

static bool reduce_partition(hdst__aggregate_worker *worker, uint32_t partition)
{
    const uint64_t *rows = NULL;
    uint64_t count;
    if (worker->piece.split) return reduce_in_pieces(worker, partition);           // as the partition before
    if (!reduce(worker, partition, &rows, &count)) return take_less(worker) && reduce_in_pieces(worker, partition);
    char *to = hdst__aggregate_place(worker, partition, count);
    worker->out += count;
    if (atomic_load(&worker->run->stop)) return true;
    if (!to) return write_to_file(worker, partition, 0, rows, count);
    return write_rows(worker, rows, count, to);
}

hdst_status hdst__aggregate_reduce_partitions(hdst__aggregate_worker *worker)
{
    for (uint32_t partition; hdst__aggregate_take_partition(worker->run, &partition);)
        if (!reduce_partition(worker, partition)) return worker->error.code;
    return HDST_OK;
}
