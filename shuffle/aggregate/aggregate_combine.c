// SPDX-License-Identifier: Apache-2.0
// Tuples and rows that pile up in a thread's chunks: those of a partition become one row for each key, in the memory that they took. So what a thread holds is
// in proportion to the number of keys, not of records, and little goes to a file that need not. Where keys come too seldom for that nothing is moved.
#include "shuffle/aggregate/aggregate_combine.h"
#include "base/costs_host.h"

#include <string.h>


typedef struct pile {                   // records that do not go into the table
    char *data;
    uint64_t count, room;
} pile;

typedef struct hdst__aggregate_combiner {
    hdst__key_batch batch;
    pile exceptions, full;                 // raw records with an addend that fits no word; rows with a word that could overflow
    bool tried, paid, lost;             // the partition at hand; lost: of one, what there was no memory for, though chunks were free
} combiner;

void hdst__aggregate_free_combiner(hdst__aggregate_worker *worker)
{
    const hdst__allocator *allocator = hdst__engine_owned(worker->run->engine, HDST__OWNER_BY_KEY);
    combiner *c = worker->combiner;
    if (!c) return;
    hdst__key_batch_destroy(&c->batch, allocator);
    hdst__free(allocator, c->exceptions.data);
    hdst__free(allocator, c->full.data);
    hdst__free(allocator, c);
    worker->combiner = NULL;
}

static bool make_combiner(hdst__aggregate_worker *worker)
{
    const hdst__allocator *allocator = hdst__engine_owned(worker->run->engine, HDST__OWNER_BY_KEY);
    const hdst__aggregation_layout *layout = worker->run->layout;
    const hdst__aggregate_choice *choice = &worker->run->choice;
    if (worker->combiner) return true;
    worker->combiner = hdst__alloc_zero(allocator, sizeof *worker->combiner);
    if (!worker->combiner || !hdst__key_batch_create(&worker->combiner->batch, allocator, layout)) return false;
    if (worker->table.rows) return true;
    const bool made = hdst__key_table_create(&worker->table, allocator, layout->row_words, layout->key_words, choice->table_bits, choice->partition_bits);
    worker->table.texts = layout->texts;
    return made;
}

static bool put_aside(const hdst__aggregate_worker *worker, pile *p, uint64_t bytes, char **place)
{
    if (p->count == p->room) {
        const uint64_t room = p->room * 2 + 64;
        char *grown = hdst__realloc(hdst__engine_owned(worker->run->engine, HDST__OWNER_BY_KEY), p->data, room * bytes);
        if (!grown) return false;
        p->data = grown;
        p->room = room;
    }
    *place = p->data + p->count++ * bytes;
    return true;
}

// --- One partition ---

static bool copy_aside(hdst__aggregate_worker *worker, const uint64_t *row)
{
    char *place;
    if (!put_aside(worker, &worker->combiner->full, worker->rows.record_bytes, &place)) return false;
    memcpy(place, row, worker->rows.record_bytes);
    return true;
}

static bool put_full_aside(void *context, uint64_t *row)
{
    hdst__aggregate_worker *worker = context;
    const hdst__aggregation_layout *layout = worker->run->layout;
    if (!copy_aside(worker, row)) return false;
    worker->moved[1]++;
    memset(row + 1 + layout->key_words, 0, layout->cell_words * sizeof *row);
    return true;
}

static bool has_room(hdst__key_table *table, uint64_t more) { return hdst__key_table_has_room(table, more) || hdst__key_table_grow(table, more); }

static bool add_raw(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    combiner *c = worker->combiner;
    const uint64_t count = chunk->bytes / layout->raw_bytes;
    for (uint64_t first = 0; first < count; first += c->batch.count) {
        const char *raw = chunk->data + first * layout->raw_bytes;
        const uint64_t left = count - first;
        char *place;
        hdst__key_batch_open_raw(&c->batch, layout, raw, left < layout->batch ? (uint32_t)left : layout->batch);
        if (!has_room(&worker->table, c->batch.count)) return false;
        hdst__key_batch_words(&c->batch, layout, true);
        for (uint32_t i = 0; c->batch.exceptions && i < c->batch.count; i++) {
            if (!c->batch.exception[i]) continue;
            if (!put_aside(worker, &c->exceptions, layout->raw_bytes, &place)) return false;
            memcpy(place, raw + (uint64_t)i * layout->raw_bytes, layout->raw_bytes);
        }
        if (hdst__key_table_add(&worker->table, layout, &c->batch) < c->batch.count) return false;
        if (!hdst__key_table_spill_full(&worker->table, layout, put_full_aside, worker)) return false;
    }
    return true;
}

// A row that was put aside before stays as it is: were more added to it each time that records pile up, its words would overflow. So no word of a row in chunks
// grows beyond 2 HDST__KEY_FULL and HDST__KEY_ADDS addends, which a partition's table, with HDST__KEY_FULL and as many addends in its own, can still take.
static bool add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint64_t bytes = worker->rows.record_bytes;
    for (uint64_t at = 0; at < chunk->bytes; at += bytes) {
        const uint64_t *from = (const uint64_t *)(const void *)(chunk->data + at);
        if (layout->fixed && hdst__row_is_full(layout, from)) {
            if (!copy_aside(worker, from)) return false;
            continue;
        }
        if (!has_room(&worker->table, 1)) return false;
        uint64_t *row = hdst__key_table_combine(&worker->table, layout, from);
        if (!row || (layout->fixed && hdst__row_is_full(layout, row) && !put_full_aside(worker, row))) return false;
    }
    return true;
}

static uint64_t chunks_for(const hdst__radix_partitions *partitions, uint64_t records)
{
    const uint64_t each = partitions->chunk_bytes / partitions->record_bytes;
    return (records + each - 1) / each;
}

static void free_chunks(hdst__aggregate_worker *worker, uint32_t kind, const hdst__radix_partitions *partitions, hdst__partition_chunk *chunk)
{
    while (chunk) {
        hdst__partition_chunk *next = chunk->next;
        *chunk = (hdst__partition_chunk){.next = worker->free_chunk[kind], .bytes = partitions->chunk_room};
        worker->free_chunk[kind] = chunk;
        chunk = next;
    }
}

// What the table and the piles hold, to chunks that are free by now.
static bool put_back(hdst__aggregate_worker *worker, uint32_t partition)
{
    const combiner *c = worker->combiner;
    const hdst__key_table *table = &worker->table;
    bool done = hdst__radix_partitions_put(&worker->rows, partition, c->full.data, c->full.count) &&
                hdst__radix_partitions_put(&worker->raw, partition, c->exceptions.data, c->exceptions.count);
    for (uint64_t at = 0; done && at < UINT64_C(1) << table->bits; at++) {
        const uint64_t *row = table->rows + at * table->row_words;
        if (row[0]) done = hdst__radix_partitions_put(&worker->rows, partition, row, 1);
    }
    hdst__radix_partitions_seal(&worker->rows, partition);
    hdst__radix_partitions_seal(&worker->raw, partition);
    worker->combined_out += table->count + c->full.count + c->exceptions.count;
    return done;
}

static uint64_t bytes_in(const hdst__partition_chunk *chunk, uint64_t *chunks)
{
    uint64_t bytes = 0;
    for (; chunk; chunk = chunk->next, ++*chunks) bytes += chunk->bytes;
    return bytes;
}

// false: no memory, or the keys crowd in the table; the partition is as it was.
static bool combine_partition(hdst__aggregate_worker *worker, uint32_t partition)
{
    combiner *c = worker->combiner;
    const hdst__radix_partition was[] = {worker->raw.partition[partition], worker->rows.partition[partition]};
    hdst__partition_chunk *const raw = hdst__radix_partitions_detach(&worker->raw, partition);
    hdst__partition_chunk *const rows = hdst__radix_partitions_detach(&worker->rows, partition);
    uint64_t chunks = 0;
    const uint64_t records = bytes_in(raw, &chunks) / worker->raw.record_bytes + bytes_in(rows, &chunks) / worker->rows.record_bytes;
    bool done = true;
    c->tried = chunks > 2;
    c->exceptions.count = c->full.count = 0;
    if (c->tried) hdst__key_table_clear(&worker->table, worker->run->choice.partition_bits);
    for (const hdst__partition_chunk *chunk = raw; c->tried && done && chunk; chunk = chunk->next) done = add_raw(worker, chunk);
    for (const hdst__partition_chunk *chunk = rows; c->tried && done && chunk; chunk = chunk->next) done = add_rows(worker, chunk);
    c->paid = c->tried && done && 2 * (chunks_for(&worker->rows, worker->table.count + c->full.count) + chunks_for(&worker->raw,
        c->exceptions.count)) <= chunks;
    if (!c->paid) {
        worker->raw.partition[partition] = was[0];
        worker->rows.partition[partition] = was[1];
        return done;
    }
    free_chunks(worker, 0, &worker->raw, raw);
    free_chunks(worker, 1, &worker->rows, rows);
    worker->combined_in += records;
    c->lost = !put_back(worker, partition);
    return !c->lost;
}

// --- All of them ---

bool hdst__aggregate_piles_up(const hdst__aggregate_worker *worker)
{
    const hdst__aggregate_choice *choice = &worker->run->choice;
    const double rows = choice->distinct * worker->rows.record_bytes + (double)(worker->rows.chunk_room << choice->partition_bits), held = (double)worker->held;
    return worker->combines && held >= HDST__HOST_COMBINED_BYTES && held >= HDST__HOST_COMBINED_TIMES * rows;
}

bool hdst__aggregate_combine(hdst__aggregate_worker *worker, bool *freed)
{
    const uint32_t partitions = UINT32_C(1) << worker->run->choice.partition_bits;
    uint32_t tried = 0, paid = 0;
    *freed = false;
    if (!worker->combines) return true;
    worker->combines = false;           // not while it does
    bool done = make_combiner(worker), pays = true;
    for (uint32_t p = 0; done && p < partitions && pays; p++) {
        done = combine_partition(worker, p);
        tried += worker->combiner->tried;
        paid += worker->combiner->paid;
        pays = tried < HDST__HOST_COMBINED_TRIES || 2 * paid >= tried;
    }
    worker->combines = done && pays && paid > 0;
    *freed = paid > 0;
    if (!worker->combiner || !worker->combiner->lost) return true;
    hdst__error_memory(&worker->error, "a reduce by key");
    return false;
}
