// SPDX-License-Identifier: Apache-2.0
// A cached dataset that does not fit in whole: a part of it stays, the rest streams (engine/memory/dataset_cache.h).
#include "engine/memory/dataset_cache.h"

#include "base/costs_host.h"
#include "engine/memory/host_copies.h"

#include <setjmp.h>

// --- Cutting ---

// What its segments take, of a full one's storage; on the host its alignment, too.
static void note_bytes(hdst__dataset_cache *cache, const hdst__storage *storage)
{
    const bool unified = cache->device->unified;
    cache->segment_host_bytes = cache->segment_device_bytes = 0;
    for (uint32_t b = 0; b < storage->buffers; b++) {
        const uint64_t bytes = hdst__page_round(storage->buffer_bytes[b]);
        cache->segment_device_bytes += bytes;
        if (unified) cache->segment_host_bytes += bytes + (bytes < HDST__HOST_HUGE_LEAST_BYTES ? HDST__HOST_PAGE_BYTES : HDST__HOST_HUGE_PAGE_BYTES);
    }
}

// Each segment has a storage of its own size, as those have through which the others stream.
static bool make_storages(hdst__dataset_cache *cache)
{
    const hdst__reader *reader = &cache->reader;
    jmp_buf out_of_memory;
    cache->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) {
        cache->arena.out_of_memory = NULL;
        return false;
    }
    const uint64_t rest = hdst__partial_cache_records(cache, cache->count - 1);
    const hdst__storage *full = hdst__storage_make(&cache->arena, reader->record, reader->layout, reader->block, cache->each);
    const hdst__storage *last = hdst__storage_make(&cache->arena, reader->record, reader->layout, reader->block, rest);
    cache->arena.out_of_memory = NULL;
    if (!full || !last) return false;
    for (uint64_t i = 0; i < cache->count; i++) cache->segment[i].storage = i + 1 < cache->count ? full : last;
    note_bytes(cache, full);
    return true;
}

static uint64_t bytes_left(const hdst__dataset_cache *cache)
{
    const uint64_t host = hdst__budget_left(&cache->runtime->memory), device = hdst__budget_left(&cache->device->budget);
    return host < device ? host : device;
}

// Where kernels read records where they lie in the program's memory there is nothing to keep.
static bool lies_there(const hdst__dataset_cache *cache, uint64_t count)
{
    const hdst__device *device = cache->device;
    return device->unified && hdst__segment_registered_rows(cache->device, &cache->reader, cache->segment[0].storage, 0, count);
}

void hdst__partial_cache_cut(hdst__dataset_cache *cache)
{
    const hdst__reader *reader = &cache->reader;
    const uint64_t each = hdst__segment_stream_records(reader, cache->device, bytes_left(cache));
    if (cache->whole || each >= reader->records || reader->record->leaf_count == 0) return;
    cache->count = (reader->records + each - 1) / each;
    cache->each = each;
    cache->chosen = false;
    cache->segment = hdst__alloc_zero(cache->runtime->allocator, cache->count * sizeof *cache->segment);
    if (!cache->segment || !make_storages(cache) || lies_there(cache, each)) hdst__partial_cache_release(cache);
}

// --- Which stay ---

// An eighth of what nobody uses is left to those who come later.
static uint64_t that_fit(const hdst__budget *budget, uint64_t each, uint64_t count)
{
    const uint64_t unused = hdst__budget_unused(budget), fit = each ? (unused - unused / HDST__HOST_RESIDENT_REST_SHARE) / each : count;
    return fit < count ? fit : count;
}

// So many segments fit beside `others` of the same size.
static uint64_t fit_beside(const hdst__dataset_cache *cache, uint64_t others)
{
    const uint64_t all = cache->count + others, host = that_fit(&cache->runtime->memory, cache->segment_host_bytes, all);
    const uint64_t fit = that_fit(&cache->device->budget, cache->segment_device_bytes, host);
    return fit > others ? fit - others : 0;
}

// Before they are chosen the ring may not be there yet.
uint64_t hdst__partial_cache_resident(const hdst__dataset_cache *cache)
{
    return cache->chosen ? atomic_load(&cache->resident) : fit_beside(cache, HDST__HOST_RING_SEGMENTS);
}

// --- Coming and going ---

typedef struct taken { int64_t host, device; } taken;

static taken taken_by(const hdst__segment *segment)
{
    taken all = {0};
    for (uint32_t b = 0; b < segment->buffers; b++) {
        const hdst__memory *memory = segment->memory[b];
        all.device += (int64_t)(memory->held ? memory->held : hdst__page_round(memory->bytes));
        if (memory->allocation) all.host += (int64_t)hdst__budget_block_bytes(memory->allocation);
    }
    return all;
}

static void count_evictable(const hdst__dataset_cache *cache, taken more)
{
    hdst__budget_evictable(&cache->device->budget, more.device, cache->runtime->partial.evict, cache->runtime);
    if (more.host) hdst__budget_evictable(&cache->runtime->memory, more.host, cache->runtime->partial.evict, cache->runtime);
}

// With the partial caches' mutex held.
static void let_go(hdst__dataset_cache *cache, hdst__segment *segment)
{
    const hdst__storage *storage = segment->storage;
    const taken was = taken_by(segment);
    hdst__segment_destroy(cache->device, segment);
    segment->storage = storage;
    count_evictable(cache, (taken){-was.host, -was.device});
    atomic_fetch_sub(&cache->resident, 1);
}

// The last segments go first.
static bool let_one_go(hdst__dataset_cache *cache)
{
    for (uint64_t i = cache->count; i > 0; i--) {
        hdst__segment *segment = &cache->segment[i - 1];
        if (!segment->memory || atomic_load(&segment->users)) continue;
        let_go(cache, segment);
        return true;
    }
    return false;
}

static bool evict(hdst__budget *budget, void *user)
{
    hdst__runtime *runtime = user;
    bool went = false;
    if (runtime->given_up) return false;
    pthread_mutex_lock(&runtime->partial.mutex);
    for (hdst__dataset_cache *cache = runtime->partial.first; cache && !went; cache = cache->next_partial) {
        const bool of_host = budget == &runtime->memory, takes_it = budget == &cache->device->budget || (of_host && cache->device->unified);
        went = (takes_it && let_one_go(cache)) || (of_host && hdst__host_copies_let_one_go(cache));
    }
    pthread_mutex_unlock(&runtime->partial.mutex);
    return went;
}

// False: there is no room after all.
static bool keep(hdst__dataset_cache *cache, uint64_t number)
{
    const hdst__memory_kind kind = cache->device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    const hdst__budget *host = &cache->runtime->memory, *device = &cache->device->budget;
    hdst__segment segment, *place = &cache->segment[number];
    if (hdst__budget_unused(host) < cache->segment_host_bytes || hdst__budget_unused(device) < cache->segment_device_bytes) return false;
    if (hdst__segment_create(cache->device, kind, HDST__OWNER_CACHES, place->storage, "a cached dataset", &segment, NULL) != HDST_OK) return false;
    segment.first = number * cache->each;
    segment.count = hdst__partial_cache_records(cache, number);
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    *place = segment;
    atomic_fetch_add(&cache->resident, 1);
    count_evictable(cache, taken_by(place));
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return true;
}

void hdst__partial_cache_choose(hdst__dataset_cache *cache)
{
    if (cache->chosen) return;
    hdst__partial_caches *all = &cache->runtime->partial;
    const uint64_t resident = fit_beside(cache, 0), count = cache->count;
    cache->chosen = true;
    pthread_mutex_lock(&all->mutex);
    cache->next_partial = all->first;
    all->first = cache;
    all->evict = evict;
    pthread_mutex_unlock(&all->mutex);
    bool fits = true;
    for (uint64_t i = 0; i < count && fits; i++)
        if ((i + 1) * resident / count > i * resident / count) fits = keep(cache, i);
}

hdst__segment *hdst__partial_cache_pin(hdst__dataset_cache *cache, uint64_t number)
{
    hdst__segment *segment = &cache->segment[number];
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    const bool stays = segment->memory;
    if (stays) atomic_fetch_add(&segment->users, 1);
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return stays ? segment : NULL;
}

static void unlist(hdst__partial_caches *all, const hdst__dataset_cache *cache)
{
    hdst__dataset_cache **at = &all->first;
    while (*at && *at != cache) at = &(*at)->next_partial;
    if (*at) *at = cache->next_partial;
}

void hdst__partial_cache_release(hdst__dataset_cache *cache)
{
    if (!cache->each) return;
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    unlist(&cache->runtime->partial, cache);
    for (uint64_t i = 0; i < cache->count; i++)
        if (cache->segment && cache->segment[i].memory) let_go(cache, &cache->segment[i]);
    hdst__host_copies_release(cache);
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    hdst__free(cache->runtime->allocator, cache->segment);
    cache->segment = NULL;
    cache->count = cache->each = 0;
}

bool hdst__partial_caches_release(hdst__runtime *runtime)
{
    bool some = false;
    if (runtime->given_up) return false;
    pthread_mutex_lock(&runtime->partial.mutex);
    for (hdst__dataset_cache *cache = runtime->partial.first; cache; cache = cache->next_partial)
        while (let_one_go(cache) || hdst__host_copies_let_one_go(cache)) some = true;
    pthread_mutex_unlock(&runtime->partial.mutex);
    return some;
}
