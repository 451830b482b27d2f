// SPDX-License-Identifier: Apache-2.0
// What a reduction by key reads: records where they lie in the host's memory, or copies of some at a time.
#include "shuffle/aggregate/aggregate_input.h"

#include "engine/memory/dataset_cache.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "base/costs_host.h"

#include <string.h>

static void one_extent(hdst__aggregation *run)
{
    const hdst__reader *reader = run->input->reader;
    const void **buffers = HDST__NEW_ARRAY(run->arena, const void *, 1);
    buffers[0] = run->input->rows;
    run->extent = HDST__NEW(run->arena, hdst__aggregate_extent);
    *run->extent = (hdst__aggregate_extent){hdst__storage_make(run->arena, reader->record, HDST__AOS, 0, reader->records), buffers, 0, reader->records};
    run->extents = run->extent->storage != NULL;
}

static void extent_of_segment(hdst__aggregation *run, const hdst__segment *segment, uint64_t before)
{
    const void **buffers = HDST__NEW_ARRAY(run->arena, const void *, segment->buffers);
    for (uint32_t b = 0; b < segment->buffers; b++) buffers[b] = segment->memory[b]->host;
    run->extent[run->extents++] = (hdst__aggregate_extent){segment->storage, buffers, before + segment->first, segment->count};
}

static hdst_status open_cache(hdst__aggregation *run, hdst_error *error)
{
    hdst__dataset_cache *cache = run->input->cache;
    hdst__device *device;
    bool there;
    hdst_status status = hdst__engine_open(run->engine, &device, error);
    if (status == HDST_OK) status = hdst__dataset_cache_to_host(cache, device, &there, error);
    if (status != HDST_OK || !there) return status;
    run->has_cache = true;
    run->extent = HDST__NEW_ARRAY(run->arena, hdst__aggregate_extent, cache->count);
    for (uint64_t i = 0; i < cache->count; i++) extent_of_segment(run, &cache->segment[i], 0);
    return HDST_OK;
}

static hdst_status close_parts(hdst__aggregation *run, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < run->opened; i++) {
        hdst__dataset_cache *part = run->input->cache->part[i];
        const hdst_status closed = part->reader.records ? hdst__dataset_cache_to_device(part, status == HDST_OK ? error : NULL) : HDST_OK;
        if (status == HDST_OK) status = closed;
    }
    run->opened = 0;
    run->extents = 0;
    return status;
}

// Parts of several devices that have the host's memory: read where they lie, if that is so of all.
static hdst_status open_parts(hdst__aggregation *run, hdst_error *error)
{
    const hdst__dataset_cache *cache = run->input->cache;
    uint64_t segments = 0;
    for (uint32_t i = 0; i < cache->parts; i++) {
        hdst__dataset_cache *part = cache->part[i];
        bool there = true;
        const hdst_status status = part->reader.records ? hdst__dataset_cache_to_host(part, part->device, &there, error) : HDST_OK;
        if (status != HDST_OK || !there) {
            const hdst_status closed = close_parts(run, status == HDST_OK ? error : NULL);
            return status == HDST_OK ? closed : status;
        }
        run->opened = i + 1;
        segments += part->count;
    }
    run->extent = HDST__NEW_ARRAY(run->arena, hdst__aggregate_extent, segments);
    for (uint32_t i = 0; i < cache->parts; i++)
        for (uint64_t s = 0; s < cache->part[i]->count; s++) extent_of_segment(run, &cache->part[i]->segment[s], cache->part[i]->first);
    return HDST_OK;
}

// Batches have to lie in one block, so blocks of records are copied.
hdst_status hdst__aggregate_open_input(hdst__aggregation *run, hdst_error *error)
{
    const hdst__reader *reader = run->input->reader;
    run->records = run->end = reader->records;
    const hdst__layout piece_layout = reader->layout == HDST__AOS ? HDST__AOS : HDST__SOA;       // what the reader gives without much moving about
    const uint64_t share = hdst__aggregate_share(run) / HDST__HOST_KEY_PIECE_SHARE,
                   bytes = share < HDST__HOST_KEY_PIECE_BYTES ? share : HDST__HOST_KEY_PIECE_BYTES, fit = bytes / reader->record->size,
                   batch = HDST__KEY_BATCH;
    run->copied = hdst__storage_make(run->arena, reader->record, piece_layout, 0, fit < batch ? batch : fit / batch * batch);
    if (!run->copied) return hdst__error_memory(error, "a reduce by key");
    if (reader->records == 0 || reader->layout == HDST__AOSOA) return HDST_OK;
    if (run->input->cache && run->input->cache->part) return open_parts(run, error);
    if (run->input->cache) return open_cache(run, error);
    if (run->input->rows) one_extent(run);
    return HDST_OK;
}

hdst_status hdst__aggregate_close_input(hdst__aggregation *run, hdst_error *error)
{
    if (run->opened) return close_parts(run, error);
    return run->has_cache ? hdst__dataset_cache_to_device(run->input->cache, error) : HDST_OK;
}

bool hdst__aggregate_make_copy(hdst__aggregation *run, void ***copy)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    *copy = NULL;
    if (run->extents) return true;
    *copy = hdst__alloc_zero(allocator, run->copied->buffers * sizeof **copy);
    for (uint32_t b = 0; *copy && b < run->copied->buffers; b++) {
        (*copy)[b] = hdst__alloc(allocator, run->copied->buffer_bytes[b]);
        if (!(*copy)[b]) return false;
    }
    return *copy;
}

void hdst__aggregate_free_copy(hdst__aggregation *run, void **copy)
{
    for (uint32_t b = 0; copy && b < run->copied->buffers; b++) hdst__free(hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), copy[b]);
    hdst__free(hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY), copy);
}

hdst_status hdst__aggregate_next(hdst__aggregation *run, uint64_t most, void **copy, hdst__aggregate_stretch *stretch, hdst_error *error)
{
    const uint64_t first = run->next_record, left = run->end - first;
    stretch->count = left < most ? left : most;
    stretch->first = run->before + first;
    stretch->unread = false;
    if (stretch->count == 0) return HDST_OK;
    if (hdst__cancel_asked(hdst__engine_cancel(run->engine))) return hdst__cancel_error(first, run->records, error);
    if (!run->extents) {
        const hdst__reader *reader = run->input->reader;
        if (stretch->count > run->copied->capacity) stretch->count = run->copied->capacity;
        stretch->storage = run->copied;
        stretch->buffers = (const void *const *)copy;
        stretch->at = 0;
        run->next_record += stretch->count;
        stretch->unread = reader->concurrent;
        return reader->concurrent ? HDST_OK : reader->fill(reader->user, first, stretch->count, run->copied, copy, 0, error);
    }
    const hdst__aggregate_extent *extent = run->extent;
    while (first >= extent->first + extent->count) extent++;
    stretch->storage = extent->storage;
    stretch->buffers = extent->buffers;
    stretch->at = first - extent->first;
    if (stretch->count > extent->count - stretch->at) stretch->count = extent->count - stretch->at;
    run->next_record += stretch->count;
    return HDST_OK;
}

hdst_status hdst__aggregate_read_stretch(const hdst__aggregation *run, void **copy, hdst__aggregate_stretch *stretch, hdst_error *error)
{
    if (!stretch->unread) return HDST_OK;           // as always where records come in slices, which have no input
    const hdst__reader *reader = run->input->reader;
    stretch->unread = false;
    return reader->fill(reader->user, stretch->first - run->before, stretch->count, run->copied, copy, 0, error);
}
