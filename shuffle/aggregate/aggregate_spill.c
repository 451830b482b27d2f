// SPDX-License-Identifier: Apache-2.0
// Chunks that the memory budget has no room for: to a temporary file, a thread's chunks at a time, those of a partition together. Where they are stands in the
// file too, in directories whose entries lead from the last one back to the first, so that any number of them takes no memory.
#include "shuffle/aggregate/aggregate_spill.h"

#include "shuffle/aggregate/aggregate_memory.h"

static uint64_t directory_bytes(const hdst__aggregation *run) { return (2 * sizeof *run->directory) << run->choice.partition_bits; }

// Writes the chunks of one partition and forgets them. Its line stays.
static hdst_status write_partition(hdst__aggregate_worker *worker, hdst__radix_partition *partition, hdst__aggregate_spilled *extent)
{
    hdst__spill *file = &worker->run->spill;
    extent->offset = file->bytes;
    extent->bytes = 0;
    hdst_status status = HDST_OK;
    for (const hdst__partition_chunk *chunk = partition->first; chunk && status == HDST_OK; chunk = chunk->next) {
        const uint64_t bytes = chunk->next ? chunk->bytes : (uint64_t)(partition->at - chunk->data);
        status = hdst__spill_add(file, chunk->data, bytes, &worker->error);
        extent->bytes += bytes;
    }
    *partition = (hdst__radix_partition){0};
    return status;
}

static hdst_status write_all(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    hdst__radix_partitions *const kinds[] = {&worker->raw, &worker->rows};
    const bool first = !run->directory;
    if (first) run->directory = hdst__aggregate_take(run, directory_bytes(run), "a reduce by key", &worker->error);
    if (!run->directory) return HDST_E_MEMORY;
    hdst_status status = run->spill.open ? HDST_OK : hdst__spill_open(hdst__engine_runtime(run->engine), &run->spill, &worker->error);
    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t partition = 0; partition < UINT32_C(1) << run->choice.partition_bits && status == HDST_OK; partition++) {
            hdst__aggregate_spilled *extent = &run->directory[hdst__aggregate_spilled_entry(run, kind, partition)];
            extent->before = first ? UINT64_MAX : run->directory_at + hdst__aggregate_spilled_entry(run, kind, partition) * sizeof *extent;
            status = hdst__cancel_check(hdst__engine_cancel(run->engine), 0, 0, &worker->error);
            if (status == HDST_OK) status = write_partition(worker, &kinds[kind]->partition[partition], extent);
        }
    }
    run->directory_at = run->spill.bytes;
    return status == HDST_OK ? hdst__spill_add(&run->spill, run->directory, directory_bytes(run), &worker->error) : status;
}

hdst_status hdst__aggregate_spill(hdst__aggregate_worker *worker)
{
    pthread_mutex_lock(&worker->run->lock);
    const hdst_status status = write_all(worker);
    pthread_mutex_unlock(&worker->run->lock);
    return status;
}

hdst_status hdst__aggregate_spill_rest(hdst__aggregation *run, hdst_error *error)
{
    if (!run->directory) return HDST_OK;
    for (uint32_t i = 0; i < run->workers; i++) {
        hdst__aggregate_worker *worker = &run->worker[i];
        const hdst_status status = hdst__aggregate_spill(worker);
        if (status != HDST_OK) {
            *error = worker->error;
            return status;
        }
        hdst__aggregate_give_slabs(worker);
    }
    return HDST_OK;
}

void hdst__aggregate_forget_spilled(hdst__aggregation *run)
{
    hdst__aggregate_give(run, run->directory);
    run->directory = NULL;
    hdst__spill_close(&run->spill);
}
