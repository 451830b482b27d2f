// SPDX-License-Identifier: Apache-2.0
// Texts of a segment in one stretch of memory (engine/memory/text_mirror.h).
#include "engine/memory/text_mirror.h"

#include "record/text_bytes.h"
#include "record/text_span.h"

#include <string.h>

enum { SLACK = 16, LEAST_BYTES = 1 << 16, SPARE_SHARE = 8 };        // kernels read whole words; stretches of a reader differ by about an eighth at most

static const uint64_t address_bits = (UINT64_C(1) << HDST__TEXT_VIEW_BIT) - 1;

static hdst_status provide(hdst__text_mirror *mirror, hdst__device *device, uint64_t bytes, hdst_error *error)
{
    if (mirror->memory && mirror->memory->bytes >= bytes) return HDST_OK;
    device->ops->release(device, mirror->memory);
    mirror->memory = NULL;
    return device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, bytes, "the texts of a segment", &mirror->memory, error);
}

// From several threads at once.
static hdst_status take(void *user, uint64_t bytes, char **at, hdst_error *error)
{
    hdst__text_mirror *mirror = user;
    const uint64_t wanted = (bytes + SLACK + 7) / 8 * 8;
    uint64_t used = atomic_load(&mirror->used);
    do
        if (wanted > mirror->memory->bytes - used) return mirror->beyond->take(mirror->beyond->user, bytes, at, error);
    while (!atomic_compare_exchange_weak(&mirror->used, &used, used + wanted));
    *at = (char *)mirror->memory->host + used;
    memset(*at + bytes, 0, SLACK);
    return HDST_OK;
}

hdst_status hdst__text_mirror_open(hdst__text_mirror *mirror, hdst__device *device, const hdst__reader *reader, uint64_t count, const hdst__storage **storage,
                                 hdst_error *error)
{
    atomic_store(&mirror->used, 0);
    if (!reader->makes_texts || !(*storage)->text) return HDST_OK;
    const uint64_t about = count * reader->text_bytes;
    const hdst_status status = provide(mirror, device, about + about / SPARE_SHARE + LEAST_BYTES, error);
    if (status != HDST_OK) return status;
    mirror->beyond = (*storage)->text;
    mirror->sink = (hdst__bytes_place){take, mirror};
    mirror->with = **storage;
    mirror->with.text = &mirror->sink;
    *storage = &mirror->with;
    return HDST_OK;
}

// --- Texts that lie elsewhere ---

typedef struct gathering {
    uint64_t from, from_bytes, to;      // what the stretch had, on the host, and where that is now
    char *at;                           // where the next text goes; NULL: they are only counted
    uint64_t bytes;                     // of those that lie elsewhere
    uint64_t last, last_bytes, last_to; // the text before this one: its neighbours are often parts of it
} gathering;

static bool lies_in(uint64_t address, uint64_t length, uint64_t from, uint64_t bytes) { return address - from < bytes && length <= bytes - (address - from); }

static void gather_one(gathering *g, char *span_at)
{
    hdst__text_span span;
    memcpy(&span, span_at, sizeof span);
    if (hdst__text_is_inline(&span)) return;
    const uint64_t address = span.address & address_bits;
    uint64_t to = address - g->from + g->to;
    if (!lies_in(address, span.length, g->from, g->from_bytes)) {
        if (!lies_in(address, span.length, g->last, g->last_bytes)) {
            g->last = address;
            g->last_bytes = span.length;
            g->last_to = (uint64_t)(uintptr_t)g->at;
            g->bytes += span.length;
            if (g->at) memcpy(g->at, (const char *)(uintptr_t)address, span.length);
            if (g->at) g->at += span.length;
        }
        to = address - g->last + g->last_to;
    }
    span.address = to | (span.address & ~address_bits);
    if (g->at) memcpy(span_at, &span, sizeof span);
}

static void gather(gathering *g, const hdst__storage *storage, void *const *buffers, uint64_t count)
{
    for (uint32_t l = 0; l < storage->record->leaf_count; l++) {
        const hdst__leaf *leaf = &storage->record->leaves[l];
        if (leaf->kind != HDST__TEXT) continue;
        char *const base = buffers[storage->leaf[l].buffer];
        for (uint64_t i = 0; i < count; i++)
            for (uint64_t e = 0; e < leaf->elements; e++) gather_one(g, base + hdst__storage_offset(storage, l, i, e));
    }
}

hdst_status hdst__text_mirror_gather(hdst__text_mirror *mirror, hdst__device *device, const hdst__storage *storage, void *const *buffers, uint64_t count,
                                   hdst_error *error)
{
    hdst__memory *const before = mirror->memory;
    const uint64_t used = atomic_load(&mirror->used), from = before ? (uint64_t)(uintptr_t)before->host : 0;
    gathering g = {.from = from, .from_bytes = used, .to = from};
    hdst_status status = HDST_OK;
    gather(&g, storage, buffers, count);
    if (!g.bytes) return HDST_OK;
    const uint64_t bytes = used + g.bytes + SLACK;
    if (!before || before->bytes < bytes) {
        mirror->memory = NULL;
        status = provide(mirror, device, bytes + bytes / SPARE_SHARE + LEAST_BYTES, error);
        if (status == HDST_OK && used) memcpy(mirror->memory->host, before->host, used);
    }
    if (status == HDST_OK) {
        char *const host = mirror->memory->host;
        g = (gathering){.from = from, .from_bytes = used, .to = (uint64_t)(uintptr_t)host, .at = host + used};
        gather(&g, storage, buffers, count);
        memset(g.at, 0, SLACK);
        atomic_store(&mirror->used, bytes);
    }
    if (before && mirror->memory != before) device->ops->release(device, before);
    return status;
}

// --- To the device ---

hdst_status hdst__text_mirror_write(const hdst__text_mirror *mirror, hdst__device *device, uint64_t *moved, hdst_error *error)
{
    const uint64_t used = atomic_load(&mirror->used);
    if (!used) return HDST_OK;
    *moved += used;
    return device->ops->write(device, mirror->memory, 0, mirror->memory->host, used, false, error);
}

void hdst__text_mirror_close(hdst__text_mirror *mirror, hdst__device *device)
{
    device->ops->release(device, mirror->memory);
    *mirror = (hdst__text_mirror){0};
}
