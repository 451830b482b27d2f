// SPDX-License-Identifier: Apache-2.0
// Output records that stay where the device wrote them, as C structs in chunks of device memory
// (engine/memory/store.h).
#include "engine/memory/store.h"
#include "base/costs_host.h"

#include <string.h>

// --- Reading back ---

static hdst_status read_piece(const hdst__store *store, const hdst__segment *segment, uint64_t at, uint64_t count, void *rows, hdst_error *error)
{
    const uint64_t size = store->cache.reader.record->size;
    hdst__device *device = store->cache.device;
    hdst__memory *memory = segment->memory[0];
    if (!device->unified) return device->ops->read(device, memory, at * size, rows, count * size, true, error);
    hdst_status status = device->ops->to_host(device, memory, error);
    if (status != HDST_OK) return status;
    memcpy(rows, (const char *)memory->host + at * size, (size_t)(count * size));
    return device->ops->to_device(device, memory, error);
}

typedef struct piece {          // of host memory, when the records are wanted in another layout
    hdst__arena arena;
    const hdst__storage *structs;
    void *rows;
    uint64_t capacity;
} piece;

static bool make_piece(piece *p, const hdst__store *store, const hdst__storage *storage, uint64_t count)
{
    jmp_buf out_of_memory;
    const uint64_t fit = HDST__HOST_COPY_BYTES / storage->record->size + 1;
    hdst__arena_init(&p->arena, store->cache.runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return false;
    p->capacity = count < fit ? count : fit;
    p->structs = hdst__storage_make(&p->arena, storage->record, HDST__AOS, 0, p->capacity);
    p->rows = hdst__arena_alloc(&p->arena, p->capacity * storage->record->size);
    p->arena.out_of_memory = NULL;
    return true;
}

// `count` records of one segment, from its record `at`, to record `to` of the storage.
static hdst_status read_segment(const hdst__store *store, const hdst__segment *segment, uint64_t at, uint64_t count, const hdst__storage *storage,
                                void *const *buffers,
                                uint64_t to, piece *p, hdst_error *error)
{
    if (storage->layout == HDST__AOS) return read_piece(store, segment, at, count, (char *)buffers[0] + to * storage->record->size, error);
    for (uint64_t done = 0; done < count; done += p->capacity) {
        const uint64_t part = count - done < p->capacity ? count - done : p->capacity;
        const void *from[] = {p->rows};
        hdst_status status = read_piece(store, segment, at + done, part, p->rows, error);
        if (status != HDST_OK) return status;
        hdst__storage_copy(storage, buffers, to + done, p->structs, from, 0, part);
    }
    return HDST_OK;
}

static hdst_status fill_from_store(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__store *store = user;
    piece p = {0};
    if (count == 0) return HDST_OK;
    hdst_status status = storage->layout == HDST__AOS || make_piece(&p, store, storage, count) ? HDST_OK : hdst__error_memory(error, "records between stages");
    for (uint64_t i = 0; i < store->cache.count && count && status == HDST_OK; i++) {
        const hdst__segment *segment = &store->cache.segment[i];
        if (first >= segment->first + segment->count) continue;
        const uint64_t at = first - segment->first, left = segment->count - at, part = left < count ? left : count;
        status = read_segment(store, segment, at, part, storage, buffers, to_first, &p, error);
        first += part;
        to_first += part;
        count -= part;
    }
    hdst__arena_destroy(&p.arena);
    return status;
}

// --- Writing ---

void hdst__store_init(hdst__store *store, hdst__runtime *runtime, const hdst__record *record)
{
    *store = (hdst__store){.cache = {.runtime = runtime}};
    store->cache.reader = (hdst__reader){fill_from_store, store, 0, record, HDST__AOS, 0, true, .on_device = true};
    hdst__arena_init(&store->arena, runtime->allocator, NULL);
    hdst__arena_init(&store->cache.arena, runtime->allocator, NULL);
}

static void forget_records(hdst__store *store)
{
    for (uint64_t i = 0; i < store->cache.count; i++) store->cache.segment[i].count = 0;
    store->cache.count = store->cache.loaded = store->cache.reader.records = 0;
}

void hdst__store_release(hdst__store *store)
{
    forget_records(store);
    for (uint64_t i = 0; i < store->chunks; i++) hdst__segment_destroy(store->cache.device, &store->cache.segment[i]);
    hdst__free(store->cache.runtime ? store->cache.runtime->allocator : NULL, store->cache.segment);
    hdst__arena_destroy(&store->arena);
    store->cache.segment = NULL;
    store->chunks = store->capacity = 0;
}

static bool grow_list(hdst__store *store)
{
    if (store->chunks < store->capacity) return true;
    const uint64_t capacity = store->capacity * 2 + 4;
    hdst__segment *grown = hdst__realloc(store->cache.runtime->allocator, store->cache.segment, capacity * sizeof *grown);
    if (!grown) return false;
    store->cache.segment = grown;
    store->capacity = capacity;
    return true;
}

static const hdst__storage *make_storage(hdst__store *store, uint64_t records)
{
    jmp_buf out_of_memory;
    store->arena.out_of_memory = &out_of_memory;
    const hdst__storage *volatile storage = NULL;
    if (!setjmp(out_of_memory)) storage = hdst__storage_make(&store->arena, store->cache.reader.record, HDST__AOS, 0, records);
    store->arena.out_of_memory = NULL;
    return storage;
}

// Whole runs of 64, so that every segment but the last begins where a slice may; of HDST__SUB_BUFFER_RECORDS where they are not tiny.
static uint64_t chunk_records(const hdst__store *store, uint64_t wanted)
{
    const uint64_t size = store->cache.reader.record->size;
    uint64_t most = store->cache.device->info->max_alloc_bytes;
    if (most > HDST__HOST_CHUNK_BYTES && !store->whole) most = HDST__HOST_CHUNK_BYTES;
    if (store->limit && most > store->limit) most = store->limit;
    const uint64_t unit = most / size < HDST__SUB_BUFFER_RECORDS || wanted < HDST__SUB_BUFFER_RECORDS ? 64 : HDST__SUB_BUFFER_RECORDS;
    const uint64_t fit = most / size / unit * unit, records = (wanted + unit - 1) / unit * unit;
    return records < fit ? records : fit ? fit : 64;
}

static hdst_status add_chunk(hdst__store *store, uint64_t wanted, hdst_error *error)
{
    hdst__device *device = store->cache.device;
    const hdst__storage *storage = grow_list(store) ? make_storage(store, chunk_records(store, wanted)) : NULL;
    if (!storage) return hdst__error_memory(error, "records between stages");
    hdst__segment *segment = &store->cache.segment[store->chunks];
    const hdst__memory_kind kind = device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    hdst_status status = hdst__segment_create(device, kind, HDST__OWNER_CACHES, storage, "records between stages", segment, error);
    if (status != HDST_OK) return status;
    store->chunks++;
    return device->ops->to_device(device, segment->memory[0], error);
}

hdst_status hdst__store_begin(hdst__store *store, hdst__device *device, uint64_t expected, hdst_error *error)
{
    forget_records(store);
    store->copies = false;
    store->cache.device = device;
    if (store->chunks || expected == 0) return HDST_OK;
    return add_chunk(store, expected, error);
}

// The segment that the next records go to.
static hdst_status open_segment(hdst__store *store, uint64_t wanted, hdst__segment **out, hdst_error *error)
{
    hdst__dataset_cache *cache = &store->cache;
    *out = cache->count ? &cache->segment[cache->count - 1] : NULL;
    if (*out && (*out)->count < (*out)->storage->capacity) return HDST_OK;
    if (cache->count == store->chunks) {
        const uint64_t size = cache->reader.record->size, twice = *out ? (*out)->storage->capacity * 2 : HDST__HOST_FIRST_CHUNK_BYTES / size + 1;
        hdst_status status = add_chunk(store, wanted > twice ? wanted : twice, error);
        if (status != HDST_OK) return status;
    }
    *out = &cache->segment[cache->count++];
    (*out)->first = cache->reader.records;
    (*out)->count = 0;
    cache->loaded = cache->count;
    return HDST_OK;
}

hdst_status hdst__store_append(hdst__store *store, const hdst__memory *from, uint64_t offset, uint64_t count, hdst_error *error)
{
    const uint64_t size = store->cache.reader.record->size;
    hdst__device *device = store->cache.device;
    while (count) {
        hdst__segment *segment;
        hdst_status status = open_segment(store, count, &segment, error);
        if (status != HDST_OK) return status;
        const uint64_t room = segment->storage->capacity - segment->count, part = room < count ? room : count;
        status = device->ops->copy(device, segment->memory[0], segment->count * size, from, offset, part * size, error);
        if (status != HDST_OK) return status;
        store->copies = true;
        segment->count += part;
        store->cache.reader.records += part;
        offset += part * size;
        count -= part;
    }
    return HDST_OK;
}

hdst_status hdst__store_room(hdst__store *store, uint64_t wanted, uint64_t *room, hdst_error *error)
{
    hdst__segment *segment;
    hdst_status status = open_segment(store, wanted, &segment, error);
    if (status == HDST_OK) *room = segment->storage->capacity - segment->count;
    return status;
}

hdst_status hdst__store_place(hdst__store *store, uint64_t count, hdst__memory *place, hdst_error *error)
{
    const uint64_t size = store->cache.reader.record->size;
    hdst__device *device = store->cache.device;
    hdst__segment *segment = &store->cache.segment[store->cache.count - 1];
    hdst_status status = device->ops->sub_buffer(device, segment->memory[0], segment->count * size, count * size, place, error);
    if (status != HDST_OK) return status;
    segment->count += count;
    store->cache.reader.records += count;
    return HDST_OK;
}

hdst_status hdst__store_hold_unwritten(hdst__store *store, hdst__device *device, uint64_t records, hdst__memory **memory, bool *fresh, hdst_error *error)
{
    const hdst__record *record = store->cache.reader.record;
    *memory = NULL;
    if (store->chunks && store->cache.segment[0].storage->capacity < records) {
        hdst__runtime *runtime = store->cache.runtime;
        const bool whole = store->whole;
        hdst__store_release(store);
        hdst__store_init(store, runtime, record);
        store->whole = whole;
    }
    *fresh = store->chunks == 0;
    hdst_status status = hdst__store_begin(store, device, records, error);
    if (status != HDST_OK || records == 0) return status;
    hdst__segment *segment;
    status = open_segment(store, records, &segment, error);
    if (status != HDST_OK) return status;
    if (segment->storage->capacity < records) return hdst__error_set(error, HDST_E_MEMORY, "%s: rows of '%s' do not fit one buffer",
                                                                     device->info->name, record->name);
    segment->count = store->cache.reader.records = records;
    *memory = segment->memory[0];
    return HDST_OK;
}

hdst_status hdst__store_hold(hdst__store *store, hdst__device *device, uint64_t records, hdst__memory **memory, hdst_error *error)
{
    bool fresh;
    hdst_status status = hdst__store_hold_unwritten(store, device, records, memory, &fresh, error);
    if (status != HDST_OK || !*memory) return status;
    const hdst__segment *segment = &store->cache.segment[0];
    const hdst__record *record = store->cache.reader.record;
    return fresh ? device->ops->fill(device, *memory, (segment->storage->capacity * record->size + 7) / 8, 0, error) : HDST_OK;
}

void hdst__store_keep_first(hdst__store *store, uint64_t records)
{
    if (records) store->cache.segment[0].count = store->cache.reader.records = records;
    else forget_records(store);
}

hdst_status hdst__store_end(hdst__store *store, hdst_error *error)
{
    if (!store->copies) return HDST_OK;
    store->copies = false;
    return hdst__device_wait(store->cache.device, error);
}
