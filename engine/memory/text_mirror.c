// SPDX-License-Identifier: Apache-2.0
// Texts of a segment in one stretch of memory (engine/memory/text_mirror.h).
#include "engine/memory/text_mirror.h"

#include "base/thread_pool.h"
#include "engine/memory/registered.h"
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

// So much is a guess, and texts that it has no room for lie elsewhere until they are gathered: where memory has no room for it, less is begun with.
static hdst_status provide_about(hdst__text_mirror *mirror, hdst__device *device, uint64_t bytes, hdst_error *error)
{
    for (; bytes > LEAST_BYTES; bytes /= 2) {
        const hdst_status status = provide(mirror, device, bytes, NULL);
        if (status != HDST_E_MEMORY) return status;
    }
    return provide(mirror, device, LEAST_BYTES, error);
}

// From several threads at once.
static hdst_status take(void *user, uint64_t bytes, char **at, hdst_error *error)
{
    hdst__text_mirror *mirror = user;
    const uint64_t wanted = (bytes + SLACK + 7) / 8 * 8;
    uint64_t used = atomic_load(&mirror->used);
    do
        if (wanted > mirror->memory->bytes - used) {
            atomic_fetch_add(&mirror->lacked, wanted);
            return mirror->beyond->take(mirror->beyond->user, bytes, at, error);
        }
    while (!atomic_compare_exchange_weak(&mirror->used, &used, used + wanted));
    *at = (char *)mirror->memory->host + used;
    memset(*at + bytes, 0, SLACK);
    return HDST_OK;
}

hdst_status hdst__text_mirror_open(hdst__text_mirror *mirror, hdst__device *device, const hdst__reader *reader, uint64_t count, const hdst__storage **storage,
                                 hdst_error *error)
{
    const uint64_t about = count * reader->text_bytes, usual = about + about / SPARE_SHARE + LEAST_BYTES;
    const uint64_t lacked = atomic_exchange(&mirror->lacked, 0), seen = atomic_exchange(&mirror->used, 0) + lacked, more = seen + seen / SPARE_SHARE;
    mirror->lent = NULL;
    if (!reader->makes_texts || !(*storage)->text) return HDST_OK;
    hdst_status status = lacked && more > usual ? provide(mirror, device, more, NULL) : HDST_E_MEMORY;
    if (status == HDST_E_MEMORY) status = provide_about(mirror, device, usual, error);
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

// --- Texts that stay where they are ---

enum { PART_RECORDS = 1 << 16, MOST_PARTS = 64, ALIGNED = 8 };

typedef struct extent { uint64_t low, high, bytes; } extent;    // of texts that are not in their spans: where they lie, and how many bytes they have

typedef struct looking {
    const hdst__storage *storage;
    const char *rows;
    uint64_t count, parts;
    extent part[MOST_PARTS];
} looking;

static void look_at_part(void *user, uint64_t part)
{
    looking *l = user;
    extent found = {UINT64_MAX, 0, 0};
    const uint64_t first = l->count * part / l->parts, end = l->count * (part + 1) / l->parts;
    for (uint32_t leaf = 0; leaf < l->storage->record->leaf_count; leaf++) {
        const hdst__leaf *texts = &l->storage->record->leaves[leaf];
        for (uint64_t i = first; i < end && texts->kind == HDST__TEXT; i++)
            for (uint64_t e = 0; e < texts->elements; e++) {
                hdst__text_span span;
                memcpy(&span, l->rows + hdst__storage_offset(l->storage, leaf, i, e), sizeof span);
                if (hdst__text_is_inline(&span)) continue;
                const uint64_t at = span.address & address_bits;
                found.bytes += span.length;
                if (at < found.low) found.low = at;
                if (at + span.length > found.high) found.high = at + span.length;
            }
    }
    l->part[part] = found;
}

static extent extent_of(hdst__device *device, const hdst__storage *storage, const char *rows, uint64_t count)
{
    looking l = {.storage = storage, .rows = rows, .count = count, .parts = count / PART_RECORDS + 1};
    if (l.parts > MOST_PARTS) l.parts = MOST_PARTS;
    hdst__thread_pool_run(device->runtime->threads, l.parts, look_at_part, &l);
    extent all = l.part[0];
    for (uint64_t p = 1; p < l.parts; p++) {
        all.bytes += l.part[p].bytes;
        if (l.part[p].low < all.low) all.low = l.part[p].low;
        if (l.part[p].high > all.high) all.high = l.part[p].high;
    }
    return all;
}

static bool provide_copy(hdst__text_mirror *mirror, hdst__device *device, uint64_t bytes)
{
    if (mirror->copy && mirror->copy->bytes >= bytes) return true;
    device->ops->release(device, mirror->copy);
    mirror->copy = NULL;
    const uint64_t room = bytes + bytes / SPARE_SHARE + LEAST_BYTES;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_SEGMENTS, room, "the texts of a segment", &mirror->copy, NULL) == HDST_OK;
}

// The device's copy begins at a whole word, as the addresses of texts say where in a word their bytes are.
bool hdst__text_mirror_lend(hdst__text_mirror *mirror, hdst__device *device, const hdst__storage *storage, const char *rows, uint64_t count)
{
    const extent all = extent_of(device, storage, rows, count);
    const uint64_t bytes = all.high - all.low, before = all.low % ALIGNED;
    mirror->lent = NULL;
    atomic_store(&mirror->used, 0);
    if (!all.bytes) return true;
    const char *from = (const char *)(uintptr_t)all.low;
    if (bytes / 2 > all.bytes + LEAST_BYTES || !hdst__registered_holds(device->runtime->registered, device, from, bytes)) return false;
    if (!provide_copy(mirror, device, before + bytes + SLACK)) return false;
    mirror->lent = from;
    atomic_store(&mirror->used, before + bytes);
    return true;
}

// --- To the device ---

hdst__memory *hdst__text_mirror_copy(const hdst__text_mirror *mirror) { return mirror->lent ? mirror->copy : mirror->memory; }

uint64_t hdst__text_mirror_host(const hdst__text_mirror *mirror)
{
    if (mirror->lent) return (uint64_t)(uintptr_t)mirror->lent / ALIGNED * ALIGNED;
    return mirror->memory ? (uint64_t)(uintptr_t)mirror->memory->host : 0;
}

hdst_status hdst__text_mirror_write(const hdst__text_mirror *mirror, hdst__device *device, uint64_t *moved, hdst_error *error)
{
    const uint64_t used = atomic_load(&mirror->used);
    if (!used) return HDST_OK;
    *moved += used;
    if (mirror->lent) {
        const uint64_t before = (uint64_t)(uintptr_t)mirror->lent % ALIGNED;
        return device->ops->write(device, mirror->copy, before, mirror->lent, used - before, false, error);
    }
    return device->ops->write(device, mirror->memory, 0, mirror->memory->host, used, false, error);
}

void hdst__text_mirror_close(hdst__text_mirror *mirror, hdst__device *device)
{
    device->ops->release(device, mirror->memory);
    device->ops->release(device, mirror->copy);
    *mirror = (hdst__text_mirror){0};
}
