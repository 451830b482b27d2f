// SPDX-License-Identifier: Apache-2.0
// A cached dataset over several devices: each has a run of the records, as a cache of its own, and runs them where they lie
// (engine/memory/dataset_cache.h).
#include "engine/memory/dataset_cache.h"

#include <stdio.h>

// Of a part, from the dataset's source.
static hdst_status fill_part(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                             hdst_error *error)
{
    const hdst__dataset_cache *part = user;
    const hdst__reader *source = &part->whole->source.shared;
    return source->fill(source->user, part->first + first, count, storage, buffers, to_first, error);
}

// Of the whole dataset, from the parts as far as the host can reach them.
static hdst_status fill_from_parts(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__dataset_cache *cache = user;
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < cache->parts && count && status == HDST_OK; i++) {
        hdst__dataset_cache *part = cache->part[i];
        const uint64_t behind = part->first + part->reader.records;
        if (first >= behind) continue;
        const uint64_t length = behind - first < count ? behind - first : count;
        const hdst__reader reader = hdst__dataset_cache_reader(part);
        status = reader.fill(reader.user, first - part->first, length, storage, buffers, to_first, error);
        first += length;
        to_first += length;
        count -= length;
    }
    return status;
}

static hdst_status make_part(hdst__dataset_cache *cache, uint32_t i, uint64_t first, uint64_t count, hdst__device *device, hdst_error *error)
{
    hdst__reader reader = cache->source.shared;
    reader.fill = fill_part;
    reader.records = count;
    if (reader.rows) reader.rows = (const char *)reader.rows + first * reader.record->size;     // registered ones are copied from there, not by fill
    hdst__dataset_cache *part = cache->part[i] = hdst__dataset_cache_create(cache->runtime, &reader);
    if (!part) return hdst__error_memory(error, "a cached dataset");
    part->reader.user = part;
    part->whole = cache;
    part->first = first;
    return hdst__dataset_cache_prepare(part, device, error);
}

static void read_parts(hdst__dataset_cache *cache, hdst__device *device)
{
    cache->device = device;
    cache->streamed = true;
    cache->reader.fill = fill_from_parts;
    cache->reader.user = cache;
    cache->reader.concurrent = false;       // segments change hands to be read
    cache->reader.on_device = true;
    cache->reader.rows = NULL;              // of one part, or as they were before they were cached
    snprintf(cache->why, sizeof cache->why, "it lies on %u devices, part by part", cache->parts);
}

hdst_status hdst__dataset_cache_spread(hdst__dataset_cache *cache, hdst__device *const *devices, const uint64_t *counts, uint32_t parts, hdst_error *error)
{
    cache->part = hdst__alloc_zero(cache->runtime->allocator, parts * sizeof(hdst__dataset_cache *));
    if (!cache->part) return hdst__error_memory(error, "a cached dataset");
    hdst__shared_reader_init(&cache->source, &cache->reader);
    cache->parts = parts;
    hdst_status status = HDST_OK;
    uint64_t first = 0;
    for (uint32_t i = 0; i < parts && status == HDST_OK; first += counts[i++]) status = make_part(cache, i, first, counts[i], devices[i], error);
    if (status != HDST_OK) {
        hdst__dataset_cache_gather(cache);
        return status;
    }
    cache->spreads++;
    cache->cuts++;
    read_parts(cache, devices[0]);
    return HDST_OK;
}

void hdst__dataset_cache_join(hdst__dataset_cache *cache, hdst__dataset_cache **part, uint32_t parts, hdst__device *device)
{
    uint64_t first = 0;
    bool same = cache->part == part;
    for (uint32_t i = 0; i < parts; first += part[i++]->reader.records) {
        same &= part[i]->first == first;
        part[i]->first = first;
        part[i]->whole = cache;
    }
    same &= cache->reader.records == first;
    cache->runtime = part[0]->runtime;
    cache->reader = part[0]->reader;
    cache->reader.records = first;
    cache->part = part;
    cache->parts = parts;
    cache->joined = true;
    if (!same) cache->number = ++cache->runtime->caches;
    cache->spreads += !same;
    read_parts(cache, device);
}
