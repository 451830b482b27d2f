// SPDX-License-Identifier: Apache-2.0
// The records of an input where they lie (shuffle/group/group_input.h).
#include "shuffle/group/group_input.h"

#include "base/costs_host.h"
#include "engine/engine.h"
#include "engine/memory/dataset_cache.h"

#include <setjmp.h>

static uint64_t window_of(const hdst__group *g)
{
    const uint64_t fit = HDST__HOST_GROUP_WINDOW_BYTES / g->record->size + 1;
    return fit < HDST__HOST_GROUP_WINDOW_RECORDS ? fit : HDST__HOST_GROUP_WINDOW_RECORDS;
}

static void list_segments(hdst__group_input *in, const hdst__dataset_cache *cache)
{
    in->extent = HDST__NEW_ARRAY(&in->arena, hdst__group_extent, cache->count);
    for (uint64_t i = 0; i < cache->count; i++) {
        const hdst__segment *segment = &cache->segment[i];
        const void **buffers = HDST__NEW_ARRAY(&in->arena, const void *, segment->buffers);
        for (uint32_t b = 0; b < segment->buffers; b++) buffers[b] = segment->memory[b]->host;
        in->extent[in->extents++] = (hdst__group_extent){segment->storage, buffers, segment->first, segment->count};
        in->copies |= segment->storage->layout != HDST__AOS;
    }
    in->window = hdst__storage_make(&in->arena, in->group->record, HDST__AOS, 0, in->window_records);
    in->records = cache->reader.records;
}

// Segments that the host can reach are read where they are. There may be none: not on this device, not for these layouts, not with this budget.
static hdst_status open_cache(hdst__group_input *in, hdst__dataset_cache *cache, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__device *device;
    hdst__arena_init(&in->arena, hdst__engine_owned(in->group->engine, HDST__OWNER_SORTS), &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "records by key");
    hdst_status status = hdst__engine_open(in->group->engine, &device, error);
    if (status == HDST_OK) status = hdst__dataset_cache_to_host(cache, device, &in->handed_over, error);
    if (status == HDST_OK && in->handed_over) list_segments(in, cache);
    in->arena.out_of_memory = NULL;
    return status;
}

// Texts are kept by who reads them, so records that have some are copied.
static bool may_lie(const hdst__group *g, const hdst__reader *reader)
{
    return reader->records && g->cache && !g->cache->part && !g->record->has_text;
}

hdst_status hdst__group_input_open(hdst__group *g, const hdst__reader *reader, hdst__group_input *in, hdst_error *error)
{
    *in = (hdst__group_input){.group = g, .records = reader->records, .window_records = window_of(g)};
    if (g->lies && !g->record->has_text) {
        in->lies = g->lies;
        g->stats.records += reader->records;
        return HDST_OK;
    }
    if (may_lie(g, reader)) {
        hdst__engine_lock(g->engine);
        const hdst_status status = open_cache(in, g->cache, error);
        if (status == HDST_OK && in->handed_over) {
            g->stats.records += reader->records;
            return HDST_OK;
        }
        hdst__arena_destroy(&in->arena);
        if (in->handed_over) hdst__dataset_cache_to_device(g->cache, NULL);
        hdst__engine_unlock(g->engine);
        *in = (hdst__group_input){.group = g, .records = reader->records, .window_records = window_of(g)};
        if (status != HDST_OK) return status;
    }
    const hdst_status status = hdst__rows_read(hdst__engine_runtime(g->engine), reader, &in->rows, &g->stats, error);
    in->lies = in->rows.records;
    return status;
}

void hdst__group_input_of_rows(const hdst__group *g, hdst__rows *rows, hdst__group_input *in)
{
    *in = (hdst__group_input){.group = g, .records = rows->count, .lies = rows->records, .rows = *rows, .window_records = window_of(g)};
    *rows = (hdst__rows){0};
}

hdst_status hdst__group_input_close(hdst__group_input *in, hdst_error *error)
{
    const hdst__group *g = in->group;
    hdst_status status = HDST_OK;
    if (in->handed_over) {
        status = hdst__dataset_cache_to_device(g->cache, error);
        hdst__arena_destroy(&in->arena);
        hdst__engine_unlock(g->engine);
    }
    hdst__rows_free(hdst__engine_runtime(g->engine), &in->rows);
    *in = (hdst__group_input){.group = g};
    return status;
}

static const hdst__group_extent *extent_of(const hdst__group_input *in, uint64_t first, uint64_t *count)
{
    uint64_t low = 0, high = in->extents;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (in->extent[middle].first <= first) low = middle;
        else high = middle;
    }
    const hdst__group_extent *e = &in->extent[low];
    const uint64_t left = e->first + e->count - first;
    if (*count > left) *count = left;
    return e;
}

const char *hdst__group_input_window(const hdst__group_input *in, uint64_t first, uint64_t *count, char *copy)
{
    const uint64_t size = in->group->record->size;
    void *buffers[] = {copy};
    if (*count > in->window_records) *count = in->window_records;
    if (in->lies) return in->lies + first * size;
    const hdst__group_extent *e = extent_of(in, first, count);
    if (e->storage->layout == HDST__AOS) return (const char *)e->buffers[0] + (first - e->first) * size;
    hdst__storage_copy(in->window, buffers, 0, e->storage, e->buffers, first - e->first, *count);
    return copy;
}

// The leaf and element at an offset of the struct.
static bool find_leaf(const hdst__record *record, uint64_t offset, uint32_t *leaf, uint64_t *element)
{
    for (*leaf = 0; *leaf < record->leaf_count; ++*leaf)
        for (*element = 0; *element < record->leaves[*leaf].elements; ++*element)
            if (hdst__leaf_offset(&record->leaves[*leaf], *element) == offset) return true;
    return false;
}

const char *hdst__group_input_keys(const hdst__group_input *in, uint64_t first, uint64_t *count, uint64_t *stride)
{
    const hdst__record *record = in->group->record;
    const uint64_t offset = in->group->key.field->offset;
    uint32_t leaf;
    uint64_t element;
    *count = *count > in->window_records ? in->window_records : *count;
    *stride = record->size;
    if (in->lies) return in->lies + first * record->size + offset;
    const hdst__group_extent *e = extent_of(in, first, count);
    if (e->storage->block || !find_leaf(record, offset, &leaf, &element)) return NULL;
    const hdst__leaf_address *address = &e->storage->leaf[leaf];
    *stride = address->stride;
    return (const char *)e->buffers[address->buffer] + hdst__storage_offset(e->storage, leaf, first - e->first, element);
}
