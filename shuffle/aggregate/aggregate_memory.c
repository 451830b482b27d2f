// SPDX-License-Identifier: Apache-2.0
// Memory of a reduction by key, all of which counts towards the budget: each thread's share of it, slabs for chunks, buffers.
#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_state.h"

#include "base/costs_host.h"
#include "base/huge_pages.h"

void *hdst__aggregate_take(hdst__aggregation *run, uint64_t bytes, const char *what, hdst_error *error)
{
    hdst__engine *engine = run->engine;
    char *memory = hdst__budget_alloc(hdst__engine_memory(engine), HDST__OWNER_BY_KEY, bytes, what, error);
    if (memory) hdst__ask_for_huge_pages(memory, bytes);
    return memory;
}

void hdst__aggregate_give(hdst__aggregation *run, void *memory) { hdst__free(hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), memory); }

// --- Slabs ---

static void give_all(hdst__aggregation *run, hdst__aggregate_slab **slabs)
{
    while (*slabs) {
        hdst__aggregate_slab *slab = *slabs;
        *slabs = slab->next;
        hdst__aggregate_give(run, slab);
    }
}

void hdst__aggregate_give_slabs(hdst__aggregate_worker *worker)
{
    give_all(worker->run, &worker->slabs);
    give_all(worker->run, &worker->spare);
    worker->slab = worker->slab_end = NULL;
    worker->held = 0;
    worker->free_chunk[0] = worker->free_chunk[1] = NULL;
}

void hdst__aggregate_keep_slabs(hdst__aggregation *run, hdst__aggregate_slab *slabs)
{
    hdst__aggregate *aggregate = run->aggregate;
    while (slabs) {
        hdst__aggregate_slab *slab = slabs;
        slabs = slab->next;
        if (hdst__budget_left(hdst__engine_memory(run->engine)) < hdst__engine_memory(run->engine)->limit / 2) {
            hdst__aggregate_give(run, slab);
            continue;
        }
        slab->next = aggregate->slabs;
        aggregate->slabs = slab;
    }
}

void hdst__aggregate_free_slabs(hdst__aggregate *aggregate)
{
    hdst__aggregation run = {.engine = aggregate->engine};
    give_all(&run, &aggregate->slabs);
}

// --- Shares ---

uint32_t hdst__aggregate_threads_for(const hdst__aggregation *run, uint64_t records)
{
    const uint64_t wanted = records / HDST__HOST_KEY_THREAD_RECORDS + 1, most = hdst__thread_pool_size(hdst__engine_threads(run->engine));
    return (uint32_t)(wanted < most ? wanted : most);
}

uint32_t hdst__aggregate_threads(const hdst__aggregation *run)
{
    const uint32_t wanted = hdst__aggregate_threads_for(run, run->records);
    const uint64_t fit = run->room / HDST__HOST_KEY_THREAD_BYTES;
    return fit >= wanted ? wanted : fit ? (uint32_t)fit : 1;
}

uint64_t hdst__aggregate_share(const hdst__aggregation *run) { return run->room / hdst__aggregate_threads(run); }

void hdst__aggregate_share_memory(hdst__aggregation *run, uint32_t threads)
{
    hdst__engine *engine = run->engine;
    const uint64_t left = hdst__budget_left(hdst__engine_memory(engine));
    for (uint32_t i = 0; i < threads; i++) {
        hdst__aggregate_worker *worker = &run->worker[i];
        hdst__budget_init_share(&worker->memory, hdst__engine_memory(engine), (left - left / HDST__HOST_KEY_RESERVE_SHARE) / threads);
        worker->allocator = hdst__budget_allocator(&worker->memory, hdst__engine_owned(engine, HDST__OWNER_BY_KEY));
    }
    run->shares = threads;
}

uint64_t hdst__aggregate_shared_memory(const hdst__aggregation *run)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < run->shares; i++) left += hdst__budget_left(&run->worker[i].memory);
    return left;
}

// --- Buffers ---

char *hdst__aggregate_buffer(hdst__aggregate_worker *worker)
{
    hdst__aggregation *run = worker->run;
    const uint64_t raw = worker->raw.record_bytes, rows = worker->rows.record_bytes, size = hdst__aggregate_row_bytes(run),
                   share = hdst__aggregate_share(run) / HDST__HOST_SPILL_BUFFER_SHARE;
    const uint64_t least = raw > rows ? raw > size ? raw : size : rows > size ? rows : size,
                   bytes = share < HDST__HOST_SPILL_BUFFER_BYTES ? share : HDST__HOST_SPILL_BUFFER_BYTES;
    if (worker->buffer) return worker->buffer;
    worker->buffer_bytes = bytes > least ? bytes : least;
    worker->buffer = hdst__aggregate_take(run, worker->buffer_bytes, "a reduce by key", &worker->error);
    return worker->buffer;
}
