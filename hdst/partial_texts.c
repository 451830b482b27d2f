// SPDX-License-Identifier: Apache-2.0
// Texts of partials (hdst/partial_texts.h).
#include "hdst/partial_texts.h"

#include <string.h>

enum { LITTLE = 64 << 10 };     // bytes that are not worth a thought

static hdst__text_rows keys_of(const hdst__keyed_partial *partial)
{
    return (hdst__text_rows){.texts = partial->texts, .key_words = partial->key_words};
}

// --- Copies ---

typedef struct keeping {
    hdst__text_writer writer;
    hdst_status status;
    hdst_error *error;
} keeping;

static bool keep_one(void *user, hdst__text_span *span)
{
    keeping *k = user;
    k->status = hdst__text_keep(&k->writer, span, k->error);
    return k->status == HDST_OK;
}

hdst_status hdst__partial_texts_keep(hdst__text_heap *heap, const hdst__text_rows *of, void *rows, uint64_t count, hdst_error *error)
{
    keeping k = {{heap, NULL, NULL}, HDST_OK, error};
    if (hdst__text_rows_have_any(of)) hdst__text_rows_visit(of, rows, count, keep_one, &k);
    return k.status;
}

// Rows that refer to the heap alone. The caller frees them.
static hdst_status copy_rows(hdst__text_heap *heap, const hdst__allocator *allocator, const hdst__text_rows *of, const void *rows, uint64_t count, void **copy,
                             hdst_error *error)
{
    const uint64_t bytes = count * hdst__text_rows_bytes(of);
    *copy = hdst__alloc(allocator, bytes);
    if (!*copy) return hdst__error_memory(error, "a partial");
    if (bytes) memcpy(*copy, rows, bytes);
    return hdst__partial_texts_keep(heap, of, *copy, count, error);
}

// --- Merging ---

hdst_status hdst__keyed_texts_merge(hdst__text_heap *heap, hdst__keyed_partial *to, const hdst__keyed_partial *from, hdst_error *error)
{
    const hdst__text_rows keys = keys_of(from);
    hdst__keyed_partial own = *from;
    void *copy = NULL;
    if (!from->texts || to == from) return hdst__keyed_partial_merge(to, from, error);
    hdst_status status = copy_rows(heap, to->allocator, &keys, from->keys, from->count, &copy, error);
    own.keys = copy;
    if (status == HDST_OK) status = hdst__keyed_partial_merge(to, &own, error);
    hdst__free(to->allocator, copy);
    return status;
}

hdst_status hdst__ranged_texts_merge(hdst__text_heap *heap, const hdst__record *record, hdst__ranged_partial *to, const hdst__ranged_partial *from,
                                     const hdst__range_rule *rule, hdst_error *error)
{
    const hdst__text_rows rows = {.record = record};
    hdst__ranged_partial own = {to->allocator, to->row_bytes, NULL, 0};
    if (!record->has_text) return hdst__ranged_partial_merge(to, from, rule, error);
    own.range = hdst__alloc_zero(to->allocator, (from->range_count + 1) * sizeof *own.range);
    hdst_status status = own.range ? HDST_OK : hdst__error_memory(error, "a partial");
    for (size_t i = 0; i < from->range_count && status == HDST_OK; i++, own.range_count++) {
        void *copy;
        own.range[i] = from->range[i];
        status = copy_rows(heap, to->allocator, &rows, from->range[i].rows, from->range[i].row_count, &copy, error);
        own.range[i].rows = copy;
    }
    if (status == HDST_OK) status = hdst__ranged_partial_merge(to, &own, rule, error);
    hdst__ranged_partial_destroy(&own);
    return status;
}

// --- What is left over ---

static bool add_length(void *user, hdst__text_span *span)
{
    *(uint64_t *)user += hdst__text_is_inline(span) ? 0 : span->length;
    return true;
}

static bool is_full(const hdst__text_heap *heap, uint64_t bytes) { return hdst__text_heap_bytes(heap) > 2 * bytes + LITTLE; }

static void replace(hdst__text_heap **heap, hdst__text_heap *fresh)
{
    hdst__text_heap_drop(*heap);
    *heap = fresh;
}

void hdst__keyed_texts_compact(hdst__text_heap **heap, hdst__runtime *runtime, hdst__keyed_partial *partial)
{
    const hdst__text_rows keys = keys_of(partial);
    uint64_t bytes = 0;
    void *copy = NULL;
    if (!partial->texts) return;
    hdst__text_rows_visit(&keys, partial->keys, partial->count, add_length, &bytes);
    hdst__text_heap *fresh = is_full(*heap, bytes) ? hdst__text_heap_create(runtime, HDST__OWNER_ACCUMULATORS) : NULL;
    if (!fresh) return;
    if (copy_rows(fresh, partial->allocator, &keys, partial->keys, partial->count, &copy, NULL) == HDST_OK) {
        memcpy(partial->keys, copy, partial->count * hdst__text_rows_bytes(&keys));
        replace(heap, fresh);
    } else hdst__text_heap_drop(fresh);
    hdst__free(partial->allocator, copy);
}

// All copies, or none: rows of one heap.
static bool copy_ranges(hdst__text_heap *fresh, const hdst__text_rows *rows, const hdst__ranged_partial *partial, void **copy)
{
    for (size_t i = 0; i < partial->range_count; i++)
        if (copy_rows(fresh, partial->allocator, rows, partial->range[i].rows, partial->range[i].row_count, &copy[i], NULL) != HDST_OK) return false;
    return true;
}

void hdst__ranged_texts_compact(hdst__text_heap **heap, hdst__runtime *runtime, const hdst__record *record, hdst__ranged_partial *partial)
{
    const hdst__text_rows rows = {.record = record};
    uint64_t bytes = 0;
    if (!record->has_text) return;
    for (size_t i = 0; i < partial->range_count; i++) hdst__text_rows_visit(&rows, partial->range[i].rows, partial->range[i].row_count, add_length, &bytes);
    hdst__text_heap *fresh = is_full(*heap, bytes) ? hdst__text_heap_create(runtime, HDST__OWNER_ACCUMULATORS) : NULL;
    void **copy = fresh ? hdst__alloc_zero(partial->allocator, (partial->range_count + 1) * sizeof *copy) : NULL;
    const bool copied = copy && copy_ranges(fresh, &rows, partial, copy);
    for (size_t i = 0; copy && i < partial->range_count; i++) {
        char *gone = copied ? partial->range[i].rows : copy[i];
        if (copied) partial->range[i].rows = copy[i];
        hdst__free(partial->allocator, gone);
    }
    hdst__free(partial->allocator, copy);
    if (copied) replace(heap, fresh);
    else hdst__text_heap_drop(fresh);
}
