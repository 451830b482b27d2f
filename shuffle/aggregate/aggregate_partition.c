// SPDX-License-Identifier: Apache-2.0
// The last level of a reduction by key: the tuples and rows of a partition, from all threads, in one table; its rows in order.
#include "shuffle/aggregate/aggregate_run.h"

#include "record/key_hash.h"

uint32_t hdst__aggregate_wide_hash(const hdst__aggregation *run, uint32_t hash, const uint64_t *key)
{
    uint64_t h = run->seed;
    if (run->layout->key_words == 0) return hdst__key_mix32(hash ^ (uint32_t)h);
    for (uint32_t w = 0; w < run->layout->key_words; w++) h = hdst__key_mix64((h ^ key[w]) + HDST__KEY_STEP);
    return (uint32_t)(h >> 32);
}

uint32_t hdst__aggregate_unwide_hash(const hdst__aggregation *run, uint32_t wide_hash) { return hdst__key_unmix32(wide_hash) ^ (uint32_t)run->seed; }

uint64_t *hdst__aggregate_wide(hdst__aggregate_worker *worker, uint32_t hash, const uint64_t *key)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    hdst__key_table *wide = &worker->wide;
    if (!wide->rows && !hdst__key_table_create(wide, &worker->allocator, layout->wide_row_words, layout->key_words, 6, 0)) return NULL;
    if (!hdst__key_table_has_room(wide, 1) && !hdst__key_table_grow(wide, 1)) return NULL;
    uint64_t *row;
    while (!(row = hdst__key_table_find(wide, hdst__aggregate_wide_hash(worker->run, hash, key), key, true)))        // by chance alone
        if (!hdst__key_table_grow(wide, UINT64_C(1) << wide->bits)) return NULL;
    return row + 1 + layout->key_words;
}

static bool no_memory(hdst__aggregate_worker *worker)
{
    hdst__error_memory(&worker->error, "a part of a reduce by key");
    return false;
}

bool hdst__aggregate_add_misfits(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const hdst__key_batch *batch = &worker->batch;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->misfit[i]) continue;
        int64_t *cells = (int64_t *)hdst__aggregate_wide(worker, batch->hash[i], batch->key + (size_t)i * layout->key_words);
        if (!cells) return no_memory(worker);
        for (uint64_t c = 0; c < layout->value_count; c++) {
            const hdst__value_column *column = &layout->value[c];
            if (!column->cell.digits) continue;
            const uint64_t bits = hdst__key_batch_bits(batch, column, c, i);
            if (hdst__value_misfits(column, bits)) hdst__wide_add(cells + column->wide_word, column->cell.kind, bits);
        }
    }
    return true;
}

bool hdst__aggregate_move_cells(hdst__aggregate_worker *worker, uint32_t hash, const uint64_t *key, uint64_t *cells)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    int64_t *wide = (int64_t *)hdst__aggregate_wide(worker, hash, key);
    if (!wide) return no_memory(worker);
    worker->moved[2]++;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        uint64_t *word = cells + column->word;
        if (!column->cell.digits) continue;
        for (uint32_t w = 0; w < column->words; w++) {
            hdst__wide_add_fixed(wide + column->wide_word, column->cell.kind, (int64_t)word[w], column->s + (int32_t)w * HDST__FIXED_BITS);
            word[w] = 0;
        }
    }
    return true;
}

bool hdst__aggregate_move_full(hdst__aggregate_worker *worker, uint64_t *row)
{
    return hdst__aggregate_move_cells(worker, (uint32_t)row[0], row + 1, row + 1 + worker->run->layout->key_words);
}

bool hdst__aggregate_take_partition(hdst__aggregation *run, uint32_t *partition)
{
    if (atomic_load(&run->stop)) return false;
    pthread_mutex_lock(&run->lock);
    const bool taken = run->next_partition < UINT32_C(1) << run->choice.partition_bits;
    if (taken) *partition = run->next_partition++;
    pthread_mutex_unlock(&run->lock);
    return taken;
}

// Between chunks; a partition may have most of the records.
static bool goes_on(hdst__aggregate_worker *worker)
{
    return hdst__cancel_check(worker->run->engine->cancel, 0, 0, &worker->error) == HDST_OK;
}

static bool each_of(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk, uint32_t kind, hdst__aggregate_adder add)
{
    for (; chunk; chunk = chunk->next)
        if (!goes_on(worker) || !(worker->split ? hdst__aggregate_add_picked(worker, chunk->data, chunk->bytes, kind, add) : add(worker, chunk))) return false;
    return true;
}

bool hdst__aggregate_each_chunk(hdst__aggregate_worker *worker, uint32_t partition, hdst__aggregate_adder add_raw, hdst__aggregate_adder add_rows)
{
    const hdst__aggregation *run = worker->run;
    for (uint32_t w = 0; w < run->workers; w++) {
        const hdst__aggregate_worker *from = &run->worker[w];
        if (!each_of(worker, from->raw.partition[partition].first, 0, add_raw)) return false;
        if (!each_of(worker, from->rows.partition[partition].first, 1, add_rows)) return false;
    }
    return hdst__aggregate_read_spilled(worker, 0, partition, add_raw) == HDST_OK && hdst__aggregate_read_spilled(worker, 1, partition, add_rows) == HDST_OK;
}

static bool look_through(hdst__aggregate_worker *worker)
{
    hdst__key_table *table = &worker->table;
    table->adds = 0;
    for (uint64_t at = 0; at < UINT64_C(1) << table->bits; at++) {
        uint64_t *row = table->rows + at * table->row_words;
        if (row[0] && hdst__row_is_full(worker->run->layout, row) && !hdst__aggregate_move_full(worker, row)) return false;
    }
    return true;
}

static bool make_room(hdst__aggregate_worker *worker, uint64_t more)
{
    return hdst__key_table_has_room(&worker->table, more) || hdst__key_table_grow(&worker->table, more) || no_memory(worker);
}

static void note_longest(hdst__aggregate_worker *worker)
{
    if (worker->table.longest > worker->longest) worker->longest = worker->table.longest;
}

// Keys crowd in the table: what it has so far is the sorter's, and so are all that follow and the memory.
static bool sort_instead(hdst__aggregate_worker *worker)
{
    note_longest(worker);
    worker->sorts = true;
    worker->crowded_partitions++;
    const bool good = hdst__aggregate_sorted_add_table(worker);
    hdst__key_table_destroy(&worker->table);
    return good;
}

static bool ready_table(hdst__aggregate_worker *worker, uint32_t skip)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint32_t bits = worker->run->choice.table_bits;
    if (worker->table.rows) hdst__key_table_clear(&worker->table, skip);
    else if (!hdst__key_table_create(&worker->table, &worker->allocator, layout->row_words, layout->key_words, bits > worker->split ? bits - worker->split : 0, skip)) return no_memory(worker);
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
    if (worker->sorts) return hdst__aggregate_sorted_add(worker, chunk);
    for (uint64_t first = 0; first < count; first += worker->batch.count) {
        const uint64_t left = count - first;
        hdst__key_batch_open_raw(&worker->batch, layout, chunk->data + first * layout->raw_bytes, left < layout->batch ? (uint32_t)left : layout->batch);
        if (!make_room(worker, worker->batch.count)) return false;
        hdst__key_batch_words(&worker->batch, layout, false);
        worker->batch.count = hdst__key_table_add(&worker->table, layout, &worker->batch);
        if (worker->batch.misfits && !hdst__aggregate_add_misfits(worker)) return false;
        if (layout->fixed && worker->table.adds >= layout->look_after && !look_through(worker)) return false;
        if (!hdst__key_table_is_crowded(&worker->table)) continue;
        const hdst__partition_chunk rest = rest_of(chunk, (first + worker->batch.count) * layout->raw_bytes);
        return sort_instead(worker) && hdst__aggregate_sorted_add(worker, &rest);
    }
    return true;
}

static bool add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t bytes = (uint64_t)layout->row_words * 8;
    if (worker->sorts) return hdst__aggregate_sorted_add_rows(worker, chunk);
    for (uint64_t at = 0; at < chunk->bytes; at += bytes) {
        if (!make_room(worker, 1)) return false;
        uint64_t *row = hdst__key_table_combine(&worker->table, layout, (const uint64_t *)(const void *)(chunk->data + at));
        if (!row) {
            const hdst__partition_chunk rest = rest_of(chunk, at);
            return sort_instead(worker) && hdst__aggregate_sorted_add_rows(worker, &rest);
        }
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__aggregate_move_full(worker, row)) return false;
    }
    return true;
}

static bool sort_rows(hdst__aggregate_worker *worker)
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

static void write_rows(const hdst__aggregate_worker *worker, const uint64_t *rows, uint64_t count, char *to)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t size = layout->record->size;
    if (worker->wide.count == 0) {
        hdst__row_write_all(layout, rows, count, to);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *row = rows + i * layout->row_words;
        const uint64_t *wide = hdst__key_table_find((hdst__key_table *)&worker->wide, hdst__aggregate_wide_hash(worker->run, (uint32_t)row[0], row + 1), row + 1, false);
        hdst__row_write(layout, row, wide ? (const int64_t *)wide + 1 + layout->key_words : NULL, to + i * size);
    }
}

// A bufferful at a time, as number `at` and on of the partition's.
static bool write_to_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t at, const uint64_t *rows, uint64_t count)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    if (!hdst__aggregate_buffer(worker)) return false;
    const uint64_t most = worker->buffer_bytes / layout->record->size;
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < most ? count - done : most;
        write_rows(worker, rows + done * layout->row_words, now, worker->buffer);
        if (!hdst__aggregate_put_in_file(worker, partition, at + done, worker->buffer, now)) return false;
    }
    return true;
}

// The rows of a partition, or of a piece of it, in order.
static bool reduce(hdst__aggregate_worker *worker, uint32_t partition, const uint64_t **rows, uint64_t *count)
{
    const hdst__aggregate_choice *choice = &worker->run->choice;
    worker->sorts = choice->sorted || worker->ranges;
    if (worker->ranges) hdst__key_table_destroy(&worker->table);        // the sorter has its memory
    if (!worker->sorts && !ready_table(worker, choice->partition_bits + worker->split)) return false;
    hdst__key_table_destroy(&worker->wide);
    if (!hdst__aggregate_each_chunk(worker, partition, add_raw, add_rows)) return false;
    note_longest(worker);
    if (worker->sorts) return hdst__aggregate_sorted_end(worker, rows, count);
    *count = worker->table.count;
    if (!sort_rows(worker)) return false;
    *rows = worker->sorted;
    return true;
}

static bool reduce_in_pieces(hdst__aggregate_worker *worker, uint32_t partition)
{
    hdst__aggregation *run = worker->run;
    const uint64_t *rows;
    uint64_t count, all = 0;
    hdst__aggregate_begin_partition_in_file(worker, partition);
    for (worker->piece_of_partition = (uint64_t)partition << worker->split; worker->piece_of_partition >> worker->split == partition && !atomic_load(&run->stop);) {
        if (!reduce(worker, partition, &rows, &count)) {
            if (!hdst__aggregate_split(worker)) return false;
            continue;
        }
        if (!write_to_file(worker, partition, all, rows, count)) return false;
        all += count;
        hdst__aggregate_next_piece(worker, count);
    }
    worker->out += all;
    hdst__aggregate_end_partition_in_file(worker, partition, all);
    return true;
}

static bool reduce_partition(hdst__aggregate_worker *worker, uint32_t partition)
{
    const uint64_t *rows = NULL;
    uint64_t count;
    if (worker->split) return reduce_in_pieces(worker, partition);           // as the partition before
    if (!reduce(worker, partition, &rows, &count)) return hdst__aggregate_split(worker) && reduce_in_pieces(worker, partition);
    char *to = hdst__aggregate_place(worker, partition, count);
    worker->out += count;
    if (atomic_load(&worker->run->stop)) return true;
    if (!to) return write_to_file(worker, partition, 0, rows, count);
    write_rows(worker, rows, count, to);
    return true;
}

hdst_status hdst__aggregate_reduce_partitions(hdst__aggregate_worker *worker)
{
    for (uint32_t partition; hdst__aggregate_take_partition(worker->run, &partition);)
        if (!reduce_partition(worker, partition)) return worker->error.code;
    return HDST_OK;
}
