// SPDX-License-Identifier: Apache-2.0
// Segments that do not stay on a device, pinned on the host (engine/memory/host_copies.h).
#include "engine/memory/host_copies.h"

#include "base/costs_host.h"

struct hdst__host_copy {
    hdst__segment segment;          // with memory of the host's alone; zeroed: there is none
    hdst__memory *pin;              // by buffer
    uint64_t bytes;                 // of the budget
    uint64_t reads;                 // of its records from where they come from, so far,
    double seconds;                 //     and how long they took
};

// --- One copy ---

static void free_copy(const hdst__dataset_cache *cache, struct hdst__host_copy *copy)
{
    hdst__device *device = cache->device;
    const hdst__allocator *allocator = cache->runtime->allocator;
    for (uint32_t b = 0; b < copy->segment.buffers; b++) {
        hdst__memory *memory = copy->segment.memory[b];
        if (copy->pin[b].object) device->ops->release_sub_buffer(device, &copy->pin[b]);
        hdst__device_free_host_memory(device, memory);
        hdst__free(allocator, memory);
    }
    hdst__free(allocator, copy->segment.memory);
    hdst__free(allocator, copy->pin);
    *copy = (struct hdst__host_copy){0};
}

static hdst__memory *host_memory(hdst__device *device, uint64_t bytes)
{
    hdst__memory *memory = hdst__alloc_zero(device->runtime->allocator, sizeof *memory);
    if (!memory) return NULL;
    *memory = (hdst__memory){.kind = HDST__MEMORY_SHARED, .owner = HDST__OWNER_CACHES, .bytes = bytes};
    if (hdst__device_host_memory(device, memory, "a copy of a cached segment", NULL) == HDST_OK) return memory;
    hdst__free(device->runtime->allocator, memory);
    return NULL;
}

static bool add_buffer(const hdst__dataset_cache *cache, struct hdst__host_copy *copy, uint64_t bytes)
{
    hdst__memory *memory = host_memory(cache->device, bytes);
    if (!memory) return false;
    const uint32_t b = copy->segment.buffers++;
    copy->segment.memory[b] = memory;
    copy->bytes += hdst__budget_block_bytes(memory->allocation);
    return true;
}

static bool make_copy(const hdst__dataset_cache *cache, const hdst__storage *storage, struct hdst__host_copy *copy)
{
    const hdst__allocator *allocator = cache->runtime->allocator;
    *copy = (struct hdst__host_copy){.segment.storage = storage};
    copy->segment.memory = hdst__alloc_zero(allocator, storage->buffers * sizeof *copy->segment.memory);
    copy->pin = hdst__alloc_zero(allocator, storage->buffers * sizeof *copy->pin);
    bool made = copy->segment.memory && copy->pin;
    for (uint32_t b = 0; b < storage->buffers && made; b++) made = add_buffer(cache, copy, storage->buffer_bytes[b]);
    if (!made) free_copy(cache, copy);
    return made;
}

// --- All of them ---

static void count_evictable(const hdst__dataset_cache *cache, int64_t bytes)
{
    hdst__budget_evictable(&cache->runtime->memory, bytes, cache->runtime->partial.evict, cache->runtime);
}

// With an eighth of what nobody uses left to those who come later; memory is not taken from anybody for it.
static bool has_room(const hdst__dataset_cache *cache, const hdst__storage *storage)
{
    const uint64_t unused = hdst__budget_unused(&cache->runtime->memory), room = unused - unused / HDST__HOST_RESIDENT_REST_SHARE;
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < storage->buffers; b++) {
        const uint64_t of_buffer = hdst__page_round(storage->buffer_bytes[b]);
        bytes += of_buffer + (of_buffer < HDST__HOST_HUGE_LEAST_BYTES ? HDST__HOST_PAGE_BYTES : HDST__HOST_HUGE_PAGE_BYTES);
    }
    return bytes <= room;
}

// With a user more; NULL: there is none.
static hdst__segment *pinned(hdst__dataset_cache *cache, uint64_t number)
{
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    struct hdst__host_copy *copy = &cache->copies[number];
    const bool there = copy->segment.memory;
    if (there) atomic_fetch_add(&copy->segment.users, 1);
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return there ? &copy->segment : NULL;
}

static hdst__segment *add_copy(hdst__dataset_cache *cache, uint64_t number, struct hdst__host_copy *made)
{
    struct hdst__host_copy *copy = &cache->copies[number];
    made->segment.first = number * cache->each;
    made->segment.count = hdst__partial_cache_records(cache, number);
    made->segment.users = 1;
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    *copy = *made;
    count_evictable(cache, (int64_t)made->bytes);
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return &copy->segment;
}

static bool make_list(hdst__dataset_cache *cache)
{
    if (cache->copies) return true;
    struct hdst__host_copy *list = hdst__alloc_zero(cache->runtime->allocator, cache->count * sizeof *list);
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    cache->copies = list;
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return list;
}

// Once reading it has taken nearly as long as to have its memory and pin it: so that is not done for what is read once or twice.
static bool pays(const hdst__dataset_cache *cache, const hdst__storage *storage, uint64_t number)
{
    const uint64_t after = cache->device->limits->copies_after;
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    const uint64_t reads = cache->copies[number].reads;
    const double seconds = cache->copies[number].seconds;
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return after ? reads >= after : reads && seconds >= HDST__HOST_PIN_SECONDS * (double)hdst__storage_bytes(storage);
}

static bool keeps_none(const hdst__dataset_cache *cache)
{
    return cache->device->unified || cache->reader.copies_texts || cache->device->limits->copies_after == UINT64_MAX;
}

hdst__segment *hdst__host_copy_pin(hdst__dataset_cache *cache, uint64_t number)
{
    const hdst__storage *storage = cache->segment[number].storage;
    if (keeps_none(cache) || !make_list(cache)) return NULL;
    hdst__segment *segment = pinned(cache, number);
    struct hdst__host_copy made;
    if (segment || cache->pins_nothing || !pays(cache, storage, number) || !has_room(cache, storage) || !make_copy(cache, storage, &made)) return segment;
    return add_copy(cache, number, &made);
}

void hdst__host_copy_note(hdst__dataset_cache *cache, uint64_t number, double seconds)
{
    if (!cache->copies) return;
    pthread_mutex_lock(&cache->runtime->partial.mutex);         // another thread may take the copy away
    cache->copies[number].reads++;
    cache->copies[number].seconds += seconds;
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
}

// Filled first, by all threads, its pages are there when the driver asks for them one by one.
hdst_status hdst__host_copy_fill(hdst__dataset_cache *cache, hdst__segment *segment, hdst_error *error)
{
    struct hdst__host_copy *copy = &cache->copies[segment->first / cache->each];
    hdst__device *device = cache->device;
    hdst_error refused = HDST_ERROR_INIT;
    const hdst_status status = hdst__segment_fill(segment, device, &cache->reader, error);
    for (uint32_t b = 0; b < segment->buffers && status == HDST_OK && !cache->pins_nothing; b++) {
        const hdst__memory *memory = segment->memory[b];
        if (copy->pin[b].object || device->ops->wrap(device, memory->host, hdst__page_round(memory->bytes), &copy->pin[b], &refused) == HDST_OK) continue;
        copy->pin[b] = (hdst__memory){0};
        cache->pins_nothing = true;
        hdst__log_write(&device->runtime->log, HDST__LOG_WARN, "what does not stay of a cached dataset is read again, as it cannot be pinned: %s",
                        refused.message);
    }
    if (status == HDST_OK) segment->loaded = true;
    return status;
}

uint64_t hdst__host_copies_count(const hdst__dataset_cache *cache)
{
    uint64_t count = 0;
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    for (uint64_t i = 0; cache->copies && i < cache->count; i++) count += cache->copies[i].segment.memory && cache->copies[i].segment.loaded;
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
    return count;
}

static void let_go(hdst__dataset_cache *cache, struct hdst__host_copy *copy)
{
    count_evictable(cache, -(int64_t)copy->bytes);
    free_copy(cache, copy);
}

bool hdst__host_copies_let_one_go(hdst__dataset_cache *cache)
{
    for (uint64_t i = cache->copies ? cache->count : 0; i > 0; i--) {
        struct hdst__host_copy *copy = &cache->copies[i - 1];
        if (!copy->segment.memory || atomic_load(&copy->segment.users)) continue;
        let_go(cache, copy);
        return true;
    }
    return false;
}

void hdst__host_copies_release(hdst__dataset_cache *cache)
{
    for (uint64_t i = 0; cache->copies && i < cache->count; i++)
        if (cache->copies[i].segment.memory) let_go(cache, &cache->copies[i]);
    hdst__free(cache->runtime->allocator, cache->copies);
    cache->copies = NULL;
}
