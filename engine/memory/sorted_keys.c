// SPDX-License-Identifier: Apache-2.0
// Where keys begin, found by a kernel (engine/memory/sorted_keys.h): the last record of each segment says which keys begin there, and each of these searches.
#include "engine/memory/sorted_keys.h"

#include "base/costs_gpu.h"
#include "base/pieces.h"
#include "engine/device/driver_gate.h"
#include "engine/device/library_kernel.h"
#include "engine/memory/dataset_cache.h"
#include "record/key_field.h"

#include <inttypes.h>

extern const hdst__pieces hdst__memory_pieces;      // engine/memory/*.cl

enum { LANES = 256 };

typedef struct search {
    hdst__device *device;
    const hdst__dataset_cache *cache;
    const hdst__leaf *key;
    uint64_t limit;
    uint64_t *starts, count;        // so many are found
    hdst__arena text;
    hdst__kernel kernel;
    hdst__program *program;
    hdst__memory *found;            // starts of keys, as many as there is room for
} search;

// --- The kernel ---

static const char *type_of(hdst__kind kind)
{
    static const char *const names[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const char *name = names[hdst__scalar_size(kind)];
    return hdst__kind_is_signed(kind) ? name + 1 : name;
}

static void write_text(hdst__writer *out, const void *user)
{
    const search *s = user;
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write(out, "#define KEY %s\n#define KEY_AT %" PRIu64 "ul\n#define RECORD_BYTES %" PRIu64 "ul\n%s", type_of(s->key->kind), s->key->offset,
                s->cache->reader.record->size, hdst__pieces_text(out->arena, &hdst__memory_pieces, "sorted_keys.cl"));
}

static hdst_status load(search *s, hdst_error *error)
{
    const char *text;
    hdst__arena_init(&s->text, s->cache->runtime->allocator, NULL);
    const hdst_status status = hdst__library_kernel_text(&s->text, write_text, s, "where keys begin", &text, error);
    return status == HDST_OK ? hdst__library_kernel_load(s->device, text, "find_starts", LANES, &s->kernel, &s->program, error) : status;
}

// --- Keys ---

static hdst_status read_key(const search *s, const hdst__segment *segment, uint64_t record, uint64_t *bits, hdst_error *error)
{
    char key[8] = {0};
    const hdst__key_field field = {0, s->key->kind};
    const uint64_t at = record * s->cache->reader.record->size + s->key->offset;
    const hdst_status status = s->device->ops->read(s->device, segment->memory[0], at, key, hdst__scalar_size(s->key->kind), true, error);
    *bits = hdst__key_field_read(&field, key);          // of negative ones a number beyond all limits
    return status;
}

static hdst_status provide(search *s, uint64_t keys, hdst_error *error)
{
    const uint64_t room = keys < HDST__GPU_KEYS_SEARCHED ? keys : HDST__GPU_KEYS_SEARCHED, bytes = room * sizeof *s->starts;
    if (s->found && s->found->bytes >= bytes) return HDST_OK;
    s->device->ops->release(s->device, s->found);
    s->found = NULL;
    return s->device->ops->alloc(s->device, HDST__MEMORY_DEVICE, HDST__OWNER_CACHES, bytes, "where keys begin", &s->found, error);
}

// The next ones, of which there is none before this segment.
static hdst_status find(search *s, const hdst__segment *segment, uint64_t keys, hdst_error *error)
{
    hdst__device *device = s->device;
    const uint64_t groups = hdst__device_groups(device, keys / LANES + 1, HDST__GPU_GROUPS_PER_UNIT);
    const hdst__work_arg args[] = {{.memory = segment->memory[0]}, {.number = segment->count}, {.number = segment->first}, {.number = s->count},
                                   {.number = keys}, {.memory = s->found}};
    hdst_status status = device->ops->work(device, s->program, args, sizeof args / sizeof *args, groups, LANES, error);
    if (status == HDST_OK) status = device->ops->read(device, s->found, 0, s->starts + s->count, keys * sizeof *s->starts, true, error);
    s->count += keys;
    return status;
}

static hdst_status search_segment(search *s, const hdst__segment *segment, bool *odd, hdst_error *error)
{
    uint64_t last = 0;
    hdst_status status = read_key(s, segment, segment->count - 1, &last, error);
    if (status != HDST_OK || last < s->count) return status;
    *odd = last >= s->limit;
    if (*odd) return HDST_OK;
    status = provide(s, last + 1 - s->count, error);
    while (status == HDST_OK && s->count <= last) {
        const uint64_t left = last + 1 - s->count;
        status = find(s, segment, left < HDST__GPU_KEYS_SEARCHED ? left : HDST__GPU_KEYS_SEARCHED, error);
    }
    return status;
}

// Negative keys come first, the largest one last.
static hdst_status search_all(search *s, hdst_error *error)
{
    uint64_t first = 0;
    hdst_status status = load(s, error);
    if (status == HDST_OK) status = read_key(s, &s->cache->segment[0], 0, &first, error);
    bool odd = first >= s->limit;
    for (uint64_t i = 0; i < s->cache->count && status == HDST_OK && !odd; i++)
        if (s->cache->segment[i].count) status = search_segment(s, &s->cache->segment[i], &odd, error);
    if (status == HDST_OK) s->device->ops->proven(s->device, s->program);
    else s->device->ops->finish(s->device);
    if (status != HDST_OK || odd) s->count = 0;
    return status;
}

// --- Whether ---

static const char *refusal(const hdst__dataset_cache *cache, const hdst__leaf *key)
{
    const hdst__device *device = cache->device;
    const uint64_t bytes = hdst__scalar_size(key->kind);
    if (!device || device->unified || cache->streamed || cache->reader.layout != HDST__AOS) return "";
    if (!cache->count || cache->loaded != cache->count || !cache->segment[0].count) return "";
    if (!device->ops->work || device->facts.max_group < LANES) return "the device has no kernels for it";
    if (key->offset % bytes || cache->reader.record->size % bytes) return "the key lies at odd places";
    return NULL;
}

static hdst_status run(search *s, const char **why_not, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst__driver_run_begin();
    const hdst_status status = search_all(s, &full);
    s->device->ops->unload(s->device, s->program);
    s->device->ops->release(s->device, s->found);
    hdst__driver_run_end();
    hdst__arena_destroy(&s->text);
    if (status == HDST_E_MEMORY) {
        *why_not = "the device has no room for it";
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}

hdst_status hdst__sorted_keys_find(hdst__dataset_cache *cache, const hdst__leaf *key, uint64_t limit, uint64_t *starts, uint64_t *count, const char **why_not,
                                   hdst_error *error)
{
    hdst_status status = HDST_OK;
    pthread_mutex_lock(&cache->runtime->mutex);
    search s = {.device = cache->device, .cache = cache, .key = key, .limit = limit, .starts = starts};
    *why_not = refusal(cache, key);
    if (!*why_not) status = run(&s, why_not, error);
    pthread_mutex_unlock(&cache->runtime->mutex);
    *count = s.count;
    return status;
}
