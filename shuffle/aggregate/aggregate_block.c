// SPDX-License-Identifier: Apache-2.0
// The first level of a reduction by key: records to a table of each thread, and what leaves it to partitions.
#include "shuffle/aggregate/aggregate_block.h"

#include "shuffle/aggregate/aggregate_input.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "base/costs_host.h"

static bool add_row(hdst__aggregate_worker *worker, const uint64_t *row)
{
    const uint32_t partition = hdst__radix_partitions_number(&worker->rows, (uint32_t)row[0]);
    memcpy(hdst__radix_partitions_next(&worker->rows, partition), row, worker->rows.record_bytes);
    worker->to_partitions++;
    return hdst__radix_partitions_added(&worker->rows, partition);
}

hdst_status hdst__aggregate_add_rows(hdst__aggregation *run, const uint64_t *rows, uint64_t count, uint64_t records, hdst_error *error)
{
    hdst__aggregate_worker *worker = run->worker;
    worker->in += records;
    run->aggregate->in_kernels += records;
    run->aggregate->kernel_rows += count;
    for (uint64_t i = 0; i < count; i++) {
        if (add_row(worker, rows + i * run->layout->row_words)) continue;
        if (error) *error = worker->error;
        return worker->error.code;
    }
    return HDST_OK;
}

static bool add_raw(hdst__aggregate_worker *worker, uint32_t i)
{
    const uint32_t partition = hdst__radix_partitions_number(&worker->raw, worker->batch.hash[i]);
    const hdst__aggregation_layout *layout = worker->run->layout;
    char *raw = hdst__radix_partitions_next(&worker->raw, partition);
    hdst__key_batch_to_raw(&worker->batch, layout, i, raw);
    if (layout->texts && !hdst__key_keep(&worker->keeper, layout->texts, (uint64_t *)(void *)(raw + layout->raw_key_at))) return false;
    worker->to_partitions++;
    return hdst__radix_partitions_added(&worker->raw, partition);
}

static bool add_all_raw(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    hdst__key_batch *batch = &worker->batch;
    if (layout->key_words == 0 && layout->value_count == 1 && worker->raw.bits && (layout->raw_bytes == 8 || layout->raw_bytes == 16)) {
        worker->to_partitions += batch->count;
        return (layout->raw_bytes == 8 ? hdst__radix_partitions_add_tuples : hdst__radix_partitions_add_wide_tuples)(
            &worker->raw, batch->hash, batch->source[0].base, batch->source[0].stride, batch->count);
    }
    for (uint32_t i = 0; i < batch->count; i++)
        if (!add_raw(worker, i)) return false;
    return true;
}

// Empties the table. Where it turned few records into one each, partitions do without it.
static bool flush(hdst__aggregate_worker *worker)
{
    hdst__key_table *table = &worker->block;
    const uint64_t keys = table->count;
    for (uint64_t at = 0; at < UINT64_C(1) << table->bits; at++) {
        const uint64_t *row = table->rows + at * table->row_words;
        if (row[0] && !add_row(worker, row)) return false;
    }
    if (worker->since_flush < 2 * keys && worker->run->aggregate->container != HDST__CONTAINER_TABLE) worker->blocks = false;
    if (table->longest > worker->longest) worker->longest = table->longest;
    worker->since_flush = 0;
    worker->flushes++;
    hdst__key_table_clear(table, 0);
    return true;
}

// Rows with a word that could overflow leave the table.
static bool spill_full(void *context, uint64_t *row)
{
    hdst__aggregate_worker *worker = context;
    const hdst__aggregation_layout *layout = worker->run->layout;
    if (!add_row(worker, row)) return false;
    worker->moved[0]++;
    memset(row + 1 + layout->key_words, 0, layout->cell_words * sizeof *row);
    return true;
}

// Keys crowd in the table: partitions do without it, for as long as the run lasts. The batch's records from `first` on go there too; those with exceptions did.
static bool give_up_block(hdst__aggregate_worker *worker, uint32_t first)
{
    worker->block_was_crowded = true;
    if (!flush(worker)) return false;
    worker->blocks = false;
    for (uint32_t i = first; i < worker->batch.count; i++)
        if (!(worker->batch.exceptions && worker->batch.exception[i]) && !add_raw(worker, i)) return false;
    return true;
}

static bool add_to_block(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    hdst__key_batch *batch = &worker->batch;
    hdst__key_batch_words(batch, layout, true);
    for (uint32_t i = 0; batch->exceptions && i < batch->count; i++)
        if (batch->exception[i] && !add_raw(worker, i)) return false;
    const uint32_t added = hdst__key_table_add(&worker->block, layout, batch);
    worker->since_flush += added;
    if (worker->keeper.failed) return false;
    if (!hdst__key_table_spill_full(&worker->block, layout, spill_full, worker)) return false;
    return added == batch->count || give_up_block(worker, added);
}

// Keys that are no numbers of rows: the others are added.
static bool add_without_strays(hdst__aggregate_worker *worker, uint64_t first)
{
    for (uint32_t i = 0; i < worker->batch.count; i++) {
        uint64_t key;
        const bool is_stray = hdst__key_batch_is_stray(&worker->batch, worker->run->layout, i, &key), to_first = is_stray && worker->run->aggregate->unchecked;
        if (to_first) worker->batch.hash[i] = 0;
        if (!is_stray || to_first) {
            if (!add_raw(worker, i)) return false;
            continue;
        }
        if (first + i < worker->stray) {
            worker->stray = first + i;
            worker->stray_key = key;
        }
        worker->strays++;
    }
    return true;
}

// Texts cost more to move than to find: as long as most records find their key there, the table takes more keys rather than giving up those it has.
static bool grow(hdst__aggregate_worker *worker)
{
    hdst__key_table *table = &worker->block;
    const uint64_t share = hdst__aggregate_share(worker->run) / HDST__HOST_BLOCK_TABLE_SHARE, bytes = 8 * (uint64_t)table->row_words << (table->bits + 1);
    if (!worker->run->layout->texts || bytes > HDST__HOST_TEXT_TABLE_BYTES || bytes > share) return false;
    if (hdst__engine_limits(worker->run->engine)->by_key_table_bits || 100 * table->count > HDST__HOST_TEXT_TABLE_NEW * worker->since_flush) return false;
    return hdst__key_table_grow(table, worker->batch.count);
}

static bool make_room(hdst__aggregate_worker *worker)
{
    return hdst__key_table_has_room(&worker->block, worker->batch.count) || grow(worker) || flush(worker);
}

// A table too small for the keys of one batch would never have room.
static bool add_batch(hdst__aggregate_worker *worker, uint64_t first)
{
    worker->in += worker->batch.count;
    if (worker->batch.strays) return add_without_strays(worker, first);
    if (worker->blocks && !make_room(worker)) return false;
    if (worker->blocks && !hdst__key_table_has_room(&worker->block, worker->batch.count)) return add_all_raw(worker);
    return worker->blocks ? add_to_block(worker) : add_all_raw(worker);
}

// Fewer towards the end, so that all threads end at about the same time.
static uint64_t stretch_records(const hdst__aggregation *run)
{
    const uint64_t share = (run->end - run->next_record) / (2 * (uint64_t)run->workers);
    if (share < HDST__HOST_KEY_LEAST_STRETCH_RECORDS) return HDST__HOST_KEY_LEAST_STRETCH_RECORDS;
    return share < HDST__HOST_KEY_STRETCH_RECORDS ? share : HDST__HOST_KEY_STRETCH_RECORDS;
}

hdst_status hdst__aggregate_blocks(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    const hdst__aggregation_layout *layout = run->layout;
    hdst__aggregate_stretch stretch = {.count = 1};
    while (stretch.count && !atomic_load(&run->stop)) {
        pthread_mutex_lock(&run->lock);
        hdst_status status = hdst__aggregate_next(run, stretch_records(run), worker->copy, &stretch, &worker->error);
        pthread_mutex_unlock(&run->lock);
        if (status == HDST_OK) status = hdst__aggregate_read_stretch(run, worker->copy, &stretch, &worker->error);
        if (status != HDST_OK) return status;
        for (uint64_t done = 0; done < stretch.count; done += worker->batch.count) {
            const uint64_t left = stretch.count - done;
            hdst__key_batch_open(&worker->batch, layout, stretch.storage, stretch.buffers, stretch.at + done,
                                 left < layout->batch ? (uint32_t)left : layout->batch);
            if (!add_batch(worker, stretch.first + done)) return worker->error.code;
        }
        if (worker->strays && !hdst__engine_settings(run->engine)->skip_failed) break;     // whoever has an earlier stretch looks through all of it
    }
    return worker->strays && !hdst__engine_settings(run->engine)->skip_failed
        ? hdst__error_set(&worker->error, HDST_E_RECORD, "a key is no number of a row") : HDST_OK;
}

hdst_status hdst__aggregate_flush(hdst__aggregate_worker *worker)
{
    if (worker->block.rows && worker->block.count && !flush(worker)) return worker->error.code;
    if (worker->flushes) worker->flushes--;     // the last one is no overflow
    if (!hdst__radix_partitions_end(&worker->rows) || !hdst__radix_partitions_end(&worker->raw)) return worker->error.code;
    return HDST_OK;
}
