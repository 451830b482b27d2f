// SPDX-License-Identifier: Apache-2.0
// A dataset that stays where the device reads it, segment by segment (engine/memory/dataset_cache.h).
#include "engine/memory/dataset_cache.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

hdst__dataset_cache *hdst__dataset_cache_create(hdst__runtime *runtime, const hdst__reader *reader)
{
    hdst__dataset_cache *cache = hdst__alloc_zero(runtime->allocator, sizeof *cache);
    if (!cache) return NULL;
    cache->runtime = runtime;
    cache->number = ++runtime->caches;
    cache->reader = *reader;
    cache->reader.held = true;
    cache->reader.lines = NULL;         // the host has their records too
    hdst__arena_init(&cache->arena, runtime->allocator, NULL);
    return cache;
}

// --- Reading on the host ---

static hdst_status hand_over(const hdst__dataset_cache *cache, const hdst__segment *segment, bool to_host, hdst_error *error)
{
    hdst__device *device = cache->device;
    hdst_status status = HDST_OK;
    for (uint32_t b = 0; b < segment->buffers && status == HDST_OK; b++) status = (to_host ? device->ops->to_host : device->ops->to_device)(device,
        segment->memory[b], error);
    return status;
}

static hdst_status copy_segment(const hdst__dataset_cache *cache, const hdst__segment *segment, uint64_t at, uint64_t count, const hdst__storage *storage,
                                void *const *buffers, uint64_t to, hdst_error *error)
{
    const void **from = hdst__alloc(cache->runtime->allocator, segment->buffers * sizeof *from);
    if (!from) return hdst__error_memory(error, "addresses of a segment");
    for (uint32_t b = 0; b < segment->buffers; b++) from[b] = segment->memory[b]->host;
    hdst_status status = cache->lent ? HDST_OK : hand_over(cache, segment, true, error);
    if (status == HDST_OK) hdst__storage_copy(storage, buffers, to, segment->storage, from, at, count);
    if (status == HDST_OK && !cache->lent) status = hand_over(cache, segment, false, error);
    hdst__free(cache->runtime->allocator, from);
    return status;
}

static bool host_has_all(const hdst__dataset_cache *cache)
{
    const bool reaches = cache->device && (cache->device->unified || cache->texts_apart);
    return reaches && !cache->streamed && cache->count && cache->loaded == cache->count;
}

static hdst_status fill_from_segments(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                      uint64_t to_first, hdst_error *error)
{
    const hdst__dataset_cache *cache = user;
    if (!host_has_all(cache)) return cache->reader.fill(cache->reader.user, first, count, storage, buffers, to_first, error);
    for (uint64_t i = 0; i < cache->count && count; i++) {
        const hdst__segment *segment = &cache->segment[i];
        if (first >= segment->first + segment->count) continue;
        const uint64_t at = first - segment->first, left = segment->count - at, part = left < count ? left : count;
        hdst_status status = copy_segment(cache, segment, at, part, storage, buffers, to_first, error);
        if (status != HDST_OK) return status;
        first += part;
        to_first += part;
        count -= part;
    }
    return HDST_OK;
}

hdst_status hdst__dataset_cache_lend(hdst__dataset_cache *cache, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (!cache || !host_has_all(cache)) return HDST_OK;
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) status = hand_over(cache, &cache->segment[i], true, error);
    cache->lent = status == HDST_OK;
    if (status != HDST_OK) hdst__dataset_cache_to_device(cache, NULL);      // those that were handed over
    return status;
}

hdst_status hdst__dataset_cache_give_back(hdst__dataset_cache *cache, hdst_error *error)
{
    if (!cache || !cache->lent) return HDST_OK;
    cache->lent = false;
    return hdst__dataset_cache_to_device(cache, error);
}

hdst__reader hdst__dataset_cache_reader(hdst__dataset_cache *cache)
{
    hdst__reader reader = cache->reader;
    reader.fill = fill_from_segments;
    reader.user = cache;
    reader.concurrent = false;          // segments are handed over to be copied
    reader.on_device = true;
    reader.rows = NULL;
    return reader;
}

// --- Giving back ---

void hdst__dataset_cache_list(hdst__dataset_cache *cache, hdst__dataset_cache **list)
{
    pthread_mutex_lock(&cache->runtime->partial.mutex);
    cache->next_whole = *list;
    *list = cache;
    pthread_mutex_unlock(&cache->runtime->partial.mutex);
}

static bool take_off(hdst__dataset_cache **list, const hdst__dataset_cache *cache)
{
    while (*list && *list != cache) list = &(*list)->next_whole;
    if (!*list) return false;
    *list = cache->next_whole;
    return true;
}

static void unlist(hdst__dataset_cache *cache)
{
    hdst__partial_caches *all = &cache->runtime->partial;
    pthread_mutex_lock(&all->mutex);
    if (!take_off(&all->whole, cache)) take_off(&all->gave_way, cache);
    pthread_mutex_unlock(&all->mutex);
}

void hdst__dataset_cache_release(hdst__dataset_cache *cache)
{
    unlist(cache);
    hdst__partial_cache_release(cache);
    for (uint64_t i = 0; cache->segment && i < cache->count; i++) hdst__segment_destroy(cache->device, &cache->segment[i]);
    hdst__free(cache->runtime->allocator, cache->segment);
    hdst__arena_destroy(&cache->arena);
    cache->segment = NULL;
    cache->count = cache->loaded = 0;
}

void hdst__dataset_cache_gather(hdst__dataset_cache *cache)
{
    if (!cache->part || cache->joined) return;
    for (uint32_t i = 0; i < cache->parts; i++) {
        if (!cache->part[i]) continue;
        hdst__dataset_cache_release(cache->part[i]);
        hdst__free(cache->runtime->allocator, cache->part[i]);
    }
    hdst__free(cache->runtime->allocator, cache->part);
    cache->part = NULL;
    cache->parts = 0;
    cache->reader = cache->source.reader;
    hdst__shared_reader_destroy(&cache->source);
    cache->device = NULL;
    cache->streamed = false;
}

const hdst__reader *hdst__dataset_cache_own_reader(const hdst__dataset_cache *cache) { return &cache->reader; }

void hdst__dataset_cache_destroy(hdst__dataset_cache *cache)
{
    if (!cache) return;
    hdst__runtime *runtime = cache->runtime;
    pthread_mutex_lock(&runtime->mutex);
    hdst__dataset_cache_end(cache);
    pthread_mutex_unlock(&runtime->mutex);
}

void hdst__dataset_cache_end(hdst__dataset_cache *cache)
{
    const hdst__allocator *allocator = cache->runtime->allocator;
    hdst__dataset_cache_gather(cache);
    hdst__dataset_cache_release(cache);
    hdst__free(allocator, cache);
}

enum { TEXT_SAMPLE = 512 };

static bool add_length(void *user, hdst__text_span *span)
{
    if (!hdst__text_is_inline(span)) *(uint64_t *)user += span->length;
    return true;
}

// The bytes of the texts of some records, from `first` on.
static bool sample_texts(const hdst__dataset_cache *cache, const hdst__storage *storage, char *rows, uint64_t first, uint64_t *bytes)
{
    void *const buffers[] = {rows};
    const hdst__reader *reader = &cache->reader;
    if (reader->fill(reader->user, first, storage->capacity, storage, buffers, 0, NULL) != HDST_OK) return false;
    hdst__record_texts(reader->record, rows, storage->capacity, add_length, bytes);
    return true;
}

// What texts of a record take beside it, about, where the reader does not say so: pieces of the records are to have room with them.
static void estimate_texts(hdst__dataset_cache *cache)
{
    const uint64_t records = cache->reader.records < TEXT_SAMPLE ? cache->reader.records : TEXT_SAMPLE;
    jmp_buf out_of_memory;
    if (!cache->texts_apart || cache->reader.text_bytes || cache->reader.makes_texts) return;
    cache->arena.out_of_memory = &out_of_memory;
    if (!setjmp(out_of_memory)) {
        const hdst__storage *storage = hdst__storage_make(&cache->arena, cache->reader.record, HDST__AOS, 0, records);
        char *rows = storage ? hdst__arena_alloc(&cache->arena, storage->buffer_bytes[0] + HDST__HOST_CACHE_LINE_BYTES) : NULL;
        uint64_t bytes = 0;
        const bool has = rows && sample_texts(cache, storage, rows, 0, &bytes) &&
                         sample_texts(cache, storage, rows, (cache->reader.records - records) / 2, &bytes);
        if (has) cache->reader.text_bytes = bytes / (2 * records) + 1;
    }
    cache->arena.out_of_memory = NULL;
}

// Equal segments, as few as fit: a short last one would be a launch for little.
static uint64_t records_per_segment(const hdst__dataset_cache *cache)
{
    uint64_t bytes = cache->device->info->max_alloc_bytes < HDST__HOST_CHUNK_BYTES ? cache->device->info->max_alloc_bytes : HDST__HOST_CHUNK_BYTES;
    uint64_t most = hdst__segment_records(&cache->reader, bytes, cache->reader.records), unit = hdst__segment_records(&cache->reader, 0, 0);
    uint64_t segments = (cache->reader.records + most - 1) / most, each = (cache->reader.records + segments - 1) / segments;
    if (segments > 1 && most >= HDST__SUB_BUFFER_BYTES && HDST__SUB_BUFFER_BYTES % unit == 0) unit = HDST__SUB_BUFFER_BYTES;     // see HDST__SUB_BUFFER_RECORDS
    return (each + unit - 1) / unit * unit;
}

// Three quarters of what is left: tables, results and the staging of copies need room too. Less in a run for which that did not do.
static bool fits(const hdst__dataset_cache *cache, const hdst__budget *budget, uint64_t bytes)
{
    uint64_t left = hdst__budget_left(budget);
    if (cache->streamed) left += atomic_load(&budget->owned[HDST__OWNER_SEGMENTS].now);        // through which it streams
    if (left > budget->limit) left = budget->limit;
    return bytes <= (cache->runtime->lean ? left / HDST__HOST_LEAN_SHARE : left / 4 * 3);
}

// Of the budgets that all of it has to fit, the first that it does not; NULL: none. *bytes: what it takes.
static const hdst__budget *too_small(const hdst__dataset_cache *cache, uint64_t each, uint64_t *bytes)
{
    const hdst__budget *host = &cache->runtime->memory, *device = &cache->device->budget;
    const uint64_t records = (cache->reader.records + each - 1) / each * each;
    uint64_t record = hdst__segment_record_bytes(cache->reader.record);
    if (cache->texts_apart) record += cache->reader.text_bytes;
    *bytes = record && records > UINT64_MAX / record ? UINT64_MAX : record * records;
    if ((cache->device->unified || cache->texts_apart) && !fits(cache, host, *bytes)) return host;
    return fits(cache, device, *bytes) ? NULL : device;
}

static hdst_status check_budgets(const hdst__dataset_cache *cache, uint64_t each, hdst_error *error)
{
    uint64_t bytes;
    const hdst__budget *budget = too_small(cache, each, &bytes);
    return budget ? hdst__budget_error(budget, bytes, "a cached dataset, and room beside it,", error) : HDST_OK;
}

// Nobody is refused anything: whoever asks goes on without it.
bool hdst__dataset_cache_has_room(const hdst__dataset_cache *cache)
{
    uint64_t bytes;
    return !too_small(cache, records_per_segment(cache), &bytes);
}

static hdst_status make_segments(hdst__dataset_cache *cache, hdst_error *error)
{
    const hdst__reader *reader = &cache->reader;
    uint64_t each = records_per_segment(cache), count = (reader->records + each - 1) / each;
    hdst__memory_kind kind = cache->device->unified || cache->texts_apart ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    jmp_buf out_of_memory;
    hdst_status fitting = check_budgets(cache, each, error);
    if (fitting != HDST_OK) return fitting;
    cache->segment = hdst__alloc_zero(cache->runtime->allocator, count * sizeof *cache->segment);
    if (!cache->segment) return hdst__error_memory(error, "a cached dataset");
    cache->count = count;
    cache->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a cached dataset");
    for (uint64_t i = 0; i < cache->count; i++) {
        uint64_t first = i * each, records = reader->records - first < each ? reader->records - first : each;
        const hdst__storage *storage = hdst__storage_make(&cache->arena, reader->record, reader->layout, reader->block, records);
        hdst_status status = hdst__segment_create(cache->device, kind, HDST__OWNER_CACHES, storage, "a cached dataset", &cache->segment[i], error);
        if (status != HDST_OK) return status;
        cache->segment[i].first = first;
        cache->segment[i].count = records;
    }
    return HDST_OK;
}

void hdst__dataset_cache_stream(hdst__dataset_cache *cache, const hdst_error *cause)
{
    hdst__dataset_cache_release(cache);
    cache->streamed = true;
    snprintf(cache->why, sizeof cache->why, "%.150s", cause->message);
    if (!cache->texts_apart) hdst__partial_cache_cut(cache);        // of segments with texts nobody knows before what they take
    hdst__log_write(&cache->runtime->log, HDST__LOG_WARN, "a cached dataset does not fit and is read again in every run%s: %s",
                    cache->each ? ", but for the part of it that does" : "", cause->message);
}

enum { MOST_RETURNS = 8 };      // each time it is read anew: where it fails as often, what is in use leaves no room in fact

// One that gave way before, and came back to find that its memory was taken meanwhile, waits for it again.
static void stream_for_now(hdst__dataset_cache *cache, const hdst_error *cause)
{
    const uint32_t returns = cache->whole ? cache->whole->returns : cache->returns;
    hdst__dataset_cache_stream(cache, cause);
    if (returns && returns <= MOST_RETURNS) hdst__dataset_cache_list(cache, &cache->runtime->partial.gave_way);
}

hdst_status hdst__dataset_cache_prepare(hdst__dataset_cache *cache, hdst__device *device, hdst_error *error)
{
    if (cache->device || cache->reader.records == 0) return HDST_OK;
    cache->device = device;
    cache->texts_apart = cache->reader.record->has_text && !device->unified;
    estimate_texts(cache);
    hdst_error cause = HDST_ERROR_INIT;
    hdst_status status = make_segments(cache, &cause);
    cache->arena.out_of_memory = NULL;
    if (status == HDST_OK) hdst__dataset_cache_list(cache, &cache->runtime->partial.whole);
    if (status == HDST_OK) return HDST_OK;
    if (status == HDST_E_MEMORY) {
        stream_for_now(cache, &cause);
        return HDST_OK;
    }
    hdst__dataset_cache_release(cache);
    cache->device = NULL;
    if (error) *error = cause;
    return status;
}

// Spans refer to the host's memory, so both have the bytes: in one stretch beside the segment, whose copy kernels look at (text_mirror.h).
hdst_status hdst__dataset_cache_load_texts(hdst__dataset_cache *cache, hdst__segment *segment, uint64_t *moved, hdst_error *error)
{
    hdst__reader reader = cache->reader;
    reader.copies_texts = true;
    return hdst__segment_load(segment, cache->device, &reader, segment->storage, segment->first, segment->count, moved, error);
}

// All of them are there, or it is streamed.
static hdst_status load_all_texts(hdst__dataset_cache *cache, uint64_t *moved, hdst_error *error)
{
    hdst_error cause = HDST_ERROR_INIT;
    hdst_status status = HDST_OK;
    for (; status == HDST_OK && cache->loaded < cache->count; cache->loaded += status == HDST_OK)
        status = hdst__dataset_cache_load_texts(cache, &cache->segment[cache->loaded], moved, &cause);
    if (status == HDST_OK) return HDST_OK;
    cache->device->ops->finish(cache->device);          // copies of those before may be under way
    if (status == HDST_E_MEMORY) hdst__dataset_cache_stream(cache, &cause);
    else if (error) *error = cause;
    return status == HDST_E_MEMORY ? HDST_OK : status;
}

// By way of shared memory, a piece at a time.
static hdst_status load_staged(hdst__dataset_cache *cache, hdst__segment *segment, const char *what, uint64_t *moved, hdst_error *error)
{
    const hdst__reader *reader = &cache->reader;
    hdst__arena arena;
    hdst__segment staging;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, cache->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return hdst__error_memory(error, what);
    }
    const uint64_t records = hdst__segment_records(reader, HDST__HOST_STAGING_BYTES, segment->count);
    const hdst__storage *piece = hdst__storage_make(&arena, reader->record, reader->layout, reader->block, records);
    hdst_status status = !piece ? hdst__error_memory(error, what) :
                         hdst__segment_create(cache->device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, piece, what, &staging, error);
    if (status == HDST_OK) {
        status = hdst__segment_load_staged(segment, &staging, piece, cache->device, reader, moved, error);
        hdst__segment_destroy(cache->device, &staging);
    }
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst__dataset_cache_load(hdst__dataset_cache *cache, hdst__device *device, const char *what, uint64_t *moved, hdst_error *error)
{
    hdst_status status = hdst__dataset_cache_prepare(cache, device, error);
    if (status == HDST_OK && cache->texts_apart && !cache->streamed) return load_all_texts(cache, moved, error);
    while (status == HDST_OK && !cache->streamed && cache->loaded < cache->count) {
        hdst__segment *segment = &cache->segment[cache->loaded];
        status = cache->device->unified
                     ? hdst__segment_load(segment, cache->device, &cache->reader, segment->storage, segment->first, segment->count, moved, error)
                     : load_staged(cache, segment, what, moved, error);
        if (status == HDST_OK) cache->loaded++;
    }
    return status;
}

hdst_status hdst__dataset_cache_to_host(hdst__dataset_cache *cache, hdst__device *device, bool *there, hdst_error *error)
{
    uint64_t moved = 0;
    *there = false;
    hdst_status status = hdst__dataset_cache_prepare(cache, device, error);
    if (status != HDST_OK || cache->streamed || !cache->count || !cache->device->unified) return status;
    status = hdst__dataset_cache_load(cache, device, "a cached dataset", &moved, error);
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) status = hand_over(cache, &cache->segment[i], true, error);
    *there = status == HDST_OK;
    if (status != HDST_OK) hdst__dataset_cache_to_device(cache, NULL);      // those that were handed over
    return status;
}

hdst_status hdst__dataset_cache_to_device(hdst__dataset_cache *cache, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) status = hand_over(cache, &cache->segment[i], false, error);
    return status;
}
