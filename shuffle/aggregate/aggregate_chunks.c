// SPDX-License-Identifier: Apache-2.0
// Where chunks of records on their way get memory: from slabs; where those are used up, by combining what piles up, or by spilling it.
#include "shuffle/aggregate/aggregate_chunks.h"

#include "shuffle/aggregate/aggregate_combine.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_spill.h"
#include "base/costs_host.h"

static uint64_t least_slab(const hdst__aggregation *run)
{
    const uint64_t share = hdst__aggregate_share(run) / HDST__HOST_SLAB_SHARE;
    return share < HDST__HOST_SLAB_LEAST_BYTES ? share : HDST__HOST_SLAB_LEAST_BYTES;
}

// A share of what a thread may need, and no more of what is left than lets all threads have several.
static uint64_t slab_bytes(const hdst__aggregation *run, uint64_t least)
{
    const uint64_t all = run->records * run->layout->raw_bytes, left = hdst__budget_left(hdst__engine_memory(run->engine));
    uint64_t bytes = all / HDST__HOST_SLABS_OF_THREAD / run->workers;
    if (bytes > left / HDST__HOST_SLABS_OF_THREAD / run->workers) bytes = left / HDST__HOST_SLABS_OF_THREAD / run->workers;
    bytes = bytes < least_slab(run) ? least_slab(run) : bytes > HDST__HOST_SLAB_MOST_BYTES ? HDST__HOST_SLAB_MOST_BYTES : bytes;
    return bytes < least ? least : bytes;
}

// One that an earlier run left, or a new one. Some of the budget is left to the tables that come after; only a thread's first slab it must have.
static hdst__aggregate_slab *next_slab(hdst__aggregation *run, uint64_t least, bool first, hdst_error *error)
{
    hdst__aggregate_slab *slab = run->aggregate->slabs;
    if (slab && slab->bytes >= least) {
        run->aggregate->slabs = slab->next;
        return slab;
    }
    const uint64_t bytes = slab_bytes(run, least);
    if (!first && hdst__budget_left(hdst__engine_memory(run->engine)) < bytes + run->room / HDST__HOST_SLAB_RESERVE_SHARE) {
        hdst__budget_error(hdst__engine_memory(run->engine), bytes, "the tuples of a reduce by key", error);
        return NULL;
    }
    slab = hdst__aggregate_take(run, bytes, "the tuples of a reduce by key", error);
    if (slab) slab->bytes = bytes;
    return slab;
}

static void use_slab(hdst__aggregate_worker *worker, hdst__aggregate_slab *slab)
{
    slab->next = worker->slabs;
    worker->slabs = slab;
    worker->held += slab->bytes;
    worker->slab = (char *)slab + sizeof *slab;
    worker->slab += (64 - (uintptr_t)worker->slab % 64) % 64;
    worker->slab_end = (char *)slab + slab->bytes;
}

// A chunk that combining left.
static void *free_chunk(hdst__aggregate_worker *worker, uint64_t bytes)
{
    const uint64_t head = (sizeof(hdst__partition_chunk) + 63) / 64 * 64;
    for (int kind = 0; kind < 2; kind++) {
        hdst__partition_chunk *chunk = worker->free_chunk[kind];
        if (!chunk || head + chunk->bytes < bytes) continue;
        worker->free_chunk[kind] = chunk->next;
        return chunk;
    }
    return NULL;
}

static bool spill(hdst__aggregate_worker *worker)
{
    if (hdst__aggregate_spill(worker) != HDST_OK) return false;
    worker->error = (hdst_error)HDST_ERROR_INIT;
    worker->spare = worker->slabs;
    worker->slabs = NULL;
    worker->held = 0;
    worker->free_chunk[0] = worker->free_chunk[1] = NULL;
    return true;
}

// What piles up is combined, where that pays, and chunks are free then. Where the budget has no more, the thread's chunks go to a file and their memory is used
// again.
static bool new_slab(hdst__aggregate_worker *worker, uint64_t least)
{
    hdst__aggregation *run = worker->run;
    hdst__aggregate_slab *slab = worker->spare;
    bool freed = false;
    if (slab) {
        worker->spare = slab->next;
    } else {
        if (hdst__aggregate_piles_up(worker) && !hdst__aggregate_combine(worker, &freed)) return false;
        if (freed) return true;
        pthread_mutex_lock(&run->lock);
        slab = next_slab(run, least + 128, !worker->slabs, &worker->error);
        pthread_mutex_unlock(&run->lock);
    }
    if (!slab && !hdst__aggregate_combine(worker, &freed)) return false;
    if (freed) {
        worker->error = (hdst_error)HDST_ERROR_INIT;
        return true;
    }
    if (!slab && worker->slabs && worker->slabs->bytes >= least + 128) {
        if (!spill(worker)) return false;
        slab = worker->spare;
        worker->spare = slab->next;
    }
    if (slab) use_slab(worker, slab);
    return slab;
}

bool hdst__aggregate_first_slab(hdst__aggregate_worker *worker) { return new_slab(worker, least_slab(worker->run) / 2); }

void *hdst__aggregate_more(void *user, uint64_t bytes)
{
    hdst__aggregate_worker *worker = user;
    bytes = (bytes + 63) / 64 * 64;
    char *memory = free_chunk(worker, bytes);
    for (; !memory && (!worker->slab || (uint64_t)(worker->slab_end - worker->slab) < bytes); memory = free_chunk(worker, bytes))
        if (!new_slab(worker, bytes)) return NULL;
    if (memory) return memory;
    memory = worker->slab;
    worker->slab += bytes;
    return memory;
}
