// SPDX-License-Identifier: Apache-2.0
// What is read of a partition: the chunks of all threads, and then what was spilled. Where one piece of it is taken at a time, the records of that.
#include "shuffle/aggregate/aggregate_read.h"

#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_spill.h"

static uint64_t record_bytes(const hdst__aggregate_worker *worker, uint32_t kind) { return kind ? worker->rows.record_bytes : worker->raw.record_bytes; }

// Of records of a partition, those of the piece, to the front of the worker's buffer; their bytes. `from` may lie there. Both kinds begin with the hash.
static uint64_t pick(const hdst__aggregate_worker *worker, const char *from, uint64_t bytes, uint32_t kind)
{
    const uint64_t key_at = kind ? sizeof(uint64_t) : worker->run->layout->raw_key_at;
    return hdst__partition_piece_pick(&worker->piece, from, bytes, record_bytes(worker, kind), key_at, worker->buffer);
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

static bool add_picked(hdst__aggregate_worker *worker, const char *from, uint64_t bytes, uint32_t kind, hdst__aggregate_adder add)
{
    if (!hdst__aggregate_buffer(worker)) return false;
    const uint64_t record = record_bytes(worker, kind), most = worker->buffer_bytes / record * record;
    for (uint64_t done = 0; done < bytes; done += most) {
        const hdst__partition_chunk chunk = {.bytes = pick(worker, from + done, bytes - done < most ? bytes - done : most, kind), .data = worker->buffer};
        if (chunk.bytes && !add(worker, &chunk)) return false;
    }
    return true;
}

// One extent, a bufferful at a time.
static hdst_status read_extent(hdst__aggregate_worker *worker, const hdst__aggregate_spilled *extent, uint32_t kind, hdst__aggregate_adder add)
{
    hdst__aggregation *run = worker->run;
    const uint64_t record = record_bytes(worker, kind), most = worker->buffer_bytes / record * record;
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < extent->bytes && status == HDST_OK; done += most) {
        const uint64_t left = extent->bytes - done;
        hdst__partition_chunk chunk = {.bytes = left < most ? left : most, .data = worker->buffer};
        status = hdst__cancel_check(hdst__engine_cancel(run->engine), 0, 0, &worker->error);
        if (status == HDST_OK) status = hdst__spill_read(&run->spill, extent->offset + done, chunk.data, chunk.bytes, &worker->error);
        if (status == HDST_OK && worker->piece.split) chunk.bytes = pick(worker, chunk.data, chunk.bytes, kind);
        if (status == HDST_OK && chunk.bytes && !add(worker, &chunk)) status = worker->error.code;
    }
    return status;
}

// The file does not change any more, so that threads read it without a lock.
static hdst_status read_spilled(hdst__aggregate_worker *worker, uint32_t kind, uint32_t partition, hdst__aggregate_adder add)
{
    hdst__aggregation *run = worker->run;
    if (!run->directory) return HDST_OK;
    if (!hdst__aggregate_buffer(worker)) return HDST_E_MEMORY;
    hdst__aggregate_spilled extent = run->directory[hdst__aggregate_spilled_entry(run, kind, partition)];
    hdst_status status = read_extent(worker, &extent, kind, add);
    while (status == HDST_OK && extent.before != UINT64_MAX) {
        status = hdst__spill_read(&run->spill, extent.before, &extent, sizeof extent, &worker->error);
        if (status == HDST_OK) status = read_extent(worker, &extent, kind, add);
    }
    return status;
}

// Between chunks; a partition may have most of the records.
static bool goes_on(hdst__aggregate_worker *worker)
{
    return hdst__cancel_check(hdst__engine_cancel(worker->run->engine), 0, 0, &worker->error) == HDST_OK;
}

static bool each_of(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk, uint32_t kind, hdst__aggregate_adder add)
{
    for (; chunk; chunk = chunk->next)
        if (!goes_on(worker) || !(worker->piece.split ? add_picked(worker, chunk->data, chunk->bytes, kind, add) : add(worker, chunk))) return false;
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
    return read_spilled(worker, 0, partition, add_raw) == HDST_OK && read_spilled(worker, 1, partition, add_rows) == HDST_OK;
}
