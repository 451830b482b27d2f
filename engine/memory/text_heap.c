// SPDX-License-Identifier: Apache-2.0
// Bytes of texts that records refer to (engine/memory/text_heap.h).
#include "engine/memory/text_heap.h"

#include "engine/memory/spill.h"

#include <string.h>
#include <sys/mman.h>

enum {
    FIRST_BLOCK = 64 << 10,     // bytes; each is twice as large as the one before
    LARGEST_BLOCK = 64 << 20,
    STRETCH = 16 << 10,         // that a writer takes at once
};

typedef struct block {
    struct block *next;
    char *memory;
    uint64_t bytes, used;
    hdst__spill file;           // mapped: it is a temporary file
    bool mapped;
} block;

typedef struct held {
    struct held *next;
    hdst__text_heap *heap;
} held;

struct hdst__text_heap {
    hdst__runtime *runtime;
    hdst__owner owner;
    atomic_uint holders;
    pthread_mutex_t lock;       // of what follows
    block *blocks;              // the newest first
    uint64_t in_budget, taken;
    held *others;
};

hdst__text_heap *hdst__text_heap_create(hdst__runtime *runtime, hdst__owner owner)
{
    hdst__text_heap *heap = hdst__alloc_zero(runtime->allocator, sizeof *heap);
    if (!heap) return NULL;
    *heap = (hdst__text_heap){.runtime = runtime, .owner = owner};
    atomic_init(&heap->holders, 1);
    pthread_mutex_init(&heap->lock, NULL);
    return heap;
}

hdst__text_heap *hdst__text_heap_hold(hdst__text_heap *heap)
{
    if (heap) atomic_fetch_add_explicit(&heap->holders, 1, memory_order_relaxed);
    return heap;
}

static void free_block(hdst__runtime *runtime, block *b)
{
    if (b->mapped) {
        hdst__spill_unmap_read(runtime, &b->file, b->memory);
        hdst__spill_close(&b->file);
    } else hdst__free(runtime->allocator, b->memory);
    hdst__free(runtime->allocator, b);
}

void hdst__text_heap_drop(hdst__text_heap *heap)
{
    if (!heap || atomic_fetch_sub_explicit(&heap->holders, 1, memory_order_acq_rel) > 1) return;
    hdst__runtime *runtime = heap->runtime;
    for (block *b = heap->blocks, *next; b; b = next) {
        next = b->next;
        free_block(runtime, b);
    }
    for (held *h = heap->others, *next; h; h = next) {
        next = h->next;
        hdst__text_heap_drop(h->heap);
        hdst__free(runtime->allocator, h);
    }
    pthread_mutex_destroy(&heap->lock);
    hdst__free(runtime->allocator, heap);
}

static bool add_held(hdst__text_heap *heap, hdst__text_heap *other)
{
    for (const held *h = heap->others; h; h = h->next)
        if (h->heap == other) return true;
    held *one = hdst__alloc(heap->runtime->allocator, sizeof *one);
    if (!one) return false;
    *one = (held){heap->others, hdst__text_heap_hold(other)};
    heap->others = one;
    return true;
}

bool hdst__text_heap_holds(hdst__text_heap *heap, hdst__text_heap *other)
{
    if (!other || other == heap) return true;
    pthread_mutex_lock(&heap->lock);
    const bool does = add_held(heap, other);
    pthread_mutex_unlock(&heap->lock);
    return does;
}

// One block stays, of those in memory: what follows is mostly as much as what was.
void hdst__text_heap_reset(hdst__text_heap *heap)
{
    block *kept = NULL;
    for (block *b = heap->blocks, *next; b; b = next) {
        next = b->next;
        if (!kept && !b->mapped) kept = b;
        else {
            if (!b->mapped) heap->in_budget -= b->bytes;
            free_block(heap->runtime, b);
        }
    }
    if (kept) kept->next = NULL, kept->used = 0;
    heap->blocks = kept;
    heap->taken = 0;
}

static hdst_status take_bytes(void *user, uint64_t bytes, char **at, hdst_error *error) { return hdst__text_heap_take(user, bytes, at, error); }

hdst__bytes_place hdst__text_heap_sink(hdst__text_heap *heap) { return (hdst__bytes_place){take_bytes, heap}; }

uint64_t hdst__text_heap_bytes(const hdst__text_heap *heap)
{
    pthread_mutex_lock((pthread_mutex_t *)&heap->lock);
    const uint64_t taken = heap->taken;
    pthread_mutex_unlock((pthread_mutex_t *)&heap->lock);
    return taken;
}

// Texts take a quarter of the budget at most, and leave as much to others as they take: beyond that files are no slower than what they would drive out.
static bool in_budget(hdst__text_heap *heap, block *b)
{
    hdst__budget *budget = &heap->runtime->memory;
    if (heap->in_budget + b->bytes > budget->limit / 4 || 2 * b->bytes > hdst__budget_left(budget)) return false;
    b->memory = hdst__budget_alloc(budget, heap->owner, b->bytes, "texts", NULL);
    if (b->memory) heap->in_budget += b->bytes;
    return b->memory;
}

static hdst_status in_file(hdst__text_heap *heap, block *b, hdst_error *error)
{
    hdst_status status = hdst__spill_open(heap->runtime, &b->file, error);
    if (status == HDST_OK) status = hdst__spill_map_new(&b->file, b->bytes, (void **)&b->memory, error);
    if (status != HDST_OK) hdst__spill_close(&b->file);
    b->mapped = status == HDST_OK;
    return status;
}

static hdst_status add_block(hdst__text_heap *heap, uint64_t bytes, hdst_error *error)
{
    uint64_t wanted = heap->blocks ? 2 * heap->blocks->bytes : FIRST_BLOCK;
    if (wanted > LARGEST_BLOCK) wanted = LARGEST_BLOCK;
    block *b = hdst__alloc_zero(heap->runtime->allocator, sizeof *b);
    if (!b) return hdst__error_set(error, HDST_E_MEMORY, "out of memory: texts");
    b->bytes = bytes > wanted ? bytes : wanted;
    const hdst_status status = in_budget(heap, b) ? HDST_OK : in_file(heap, b, error);
    if (status != HDST_OK) {
        hdst__free(heap->runtime->allocator, b);
        return status;
    }
    b->next = heap->blocks;
    heap->blocks = b;
    return HDST_OK;
}

static hdst_status take_more(hdst__text_heap *heap, uint64_t bytes, char **at, hdst_error *error)
{
    block *b = heap->blocks;
    if (!b || b->bytes - b->used < bytes) {
        const hdst_status status = add_block(heap, bytes, error);
        if (status != HDST_OK) return status;
        b = heap->blocks;
    }
    *at = b->memory + b->used;
    b->used += bytes;
    heap->taken += bytes;
    return HDST_OK;
}

static hdst_status take_locked(hdst__text_heap *heap, uint64_t bytes, char **at, hdst_error *error)
{
    pthread_mutex_lock(&heap->lock);
    const hdst_status status = take_more(heap, bytes, at, error);
    pthread_mutex_unlock(&heap->lock);
    return status;
}

hdst_status hdst__text_heap_take(hdst__text_heap *heap, uint64_t bytes, char **at, hdst_error *error)
{
    const hdst_status status = take_locked(heap, (bytes + HDST__TEXT_SLACK + 7) / 8 * 8, at, error);
    if (status == HDST_OK) memset(*at + bytes, 0, HDST__TEXT_SLACK);
    return status;
}

static hdst_status writer_take(hdst__text_writer *writer, uint64_t bytes, char **at, hdst_error *error)
{
    if (bytes > STRETCH / 4) return hdst__text_heap_take(writer->heap, bytes, at, error);
    if ((uint64_t)(writer->end - writer->at) < bytes + HDST__TEXT_SLACK) {
        const hdst_status status = take_locked(writer->heap, STRETCH, &writer->at, error);
        if (status != HDST_OK) return status;
        writer->end = writer->at + STRETCH;
        memset(writer->at, 0, STRETCH);         // what lies behind a text may be read
    }
    *at = writer->at;
    writer->at += bytes;
    return HDST_OK;
}

hdst_status hdst__text_keep(hdst__text_writer *writer, hdst__text_span *span, hdst_error *error)
{
    char *at;
    if (hdst__text_is_inline(span)) return HDST_OK;
    const hdst_status status = writer_take(writer, span->length, &at, error);
    if (status != HDST_OK) return status;
    hdst__text_copy(at, span);
    span->address = (uint64_t)(uintptr_t)at;
    return HDST_OK;
}

typedef struct keeping {
    hdst__text_writer *writer;
    hdst_status status;
    hdst_error *error;
} keeping;

// Of one field of all rows, which hardly ever has something to settle.
static hdst_status settle_column(hdst__text_writer *writer, char *at, uint64_t step, uint64_t count, hdst_error *error)
{
    for (uint64_t i = 0; i < count; i++, at += step) {
        hdst__text_span span;
        memcpy(&span, at, sizeof span);
        if (hdst__text_is_inline(&span) || !(span.address >> HDST__TEXT_VIEW_BIT)) continue;
        const hdst_status status = hdst__text_keep(writer, &span, error);
        if (status != HDST_OK) return status;
        memcpy(at, &span, sizeof span);
    }
    return HDST_OK;
}

hdst_status hdst__text_settle_rows(hdst__text_writer *writer, const hdst__record *record, void *rows, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        for (uint64_t e = 0; leaf->kind == HDST__TEXT && e < leaf->elements && status == HDST_OK; e++)
            status = settle_column(writer, (char *)rows + hdst__leaf_offset(leaf, e), record->size, count, error);
    }
    return status;
}

static bool keep_one(void *user, hdst__text_span *span)
{
    keeping *k = user;
    k->status = hdst__text_keep(k->writer, span, k->error);
    return k->status == HDST_OK;
}

hdst_status hdst__text_keep_rows(hdst__text_writer *writer, const hdst__record *record, void *rows, uint64_t count, hdst_error *error)
{
    keeping k = {writer, HDST_OK, error};
    hdst__record_texts(record, rows, count, keep_one, &k);
    return k.status;
}
