// SPDX-License-Identifier: Apache-2.0
// Partials by key: made, merged (accum/keyed_partial.h).
#include "accum/keyed_partial.h"

#include "record/key_hash.h"

#include <string.h>

hdst__keyed_partial *hdst__keyed_partial_of(hdst__partial *state, uint32_t key_bytes, const hdst__key_texts *texts, uint64_t count)
{
    const hdst__allocator *allocator = hdst__partial_allocator(state);
    hdst__keyed_partial *partial = hdst__alloc_zero(allocator, sizeof *partial);
    if (!partial) return NULL;
    *partial = (hdst__keyed_partial){.allocator = allocator, .key_bytes = key_bytes, .key_words = key_bytes > 8 ? (key_bytes + 7) / 8 : 1, .texts = texts,
                                      .count = count};
    uint64_t bytes;
    if (!__builtin_mul_overflow(count, partial->key_words * sizeof(uint64_t), &bytes)) partial->keys = hdst__alloc_zero(allocator, bytes);
    if (partial->keys) {
        partial->state = state;
        return partial;
    }
    hdst__free(allocator, partial);
    return NULL;
}

hdst__keyed_partial *hdst__keyed_partial_create(const hdst__allocator *allocator, uint32_t key_bytes, const hdst__cell *cells, size_t cell_count,
                                                uint64_t count)
{
    const hdst__accum accum = {.is_table = true, .cell = cells, .leaf_count = cell_count};
    const hdst__tables tables = {.accum = &accum, .accum_count = 1};
    hdst__partial *state = hdst__partial_create(allocator, &tables, &count);
    hdst__keyed_partial *partial = state ? hdst__keyed_partial_of(state, key_bytes, NULL, count) : NULL;
    if (!partial) hdst__partial_destroy(state);
    return partial;
}

void hdst__keyed_partial_destroy(hdst__keyed_partial *partial)
{
    if (!partial) return;
    hdst__partial_destroy(partial->state);
    hdst__free(partial->allocator, partial->keys);
    hdst__free(partial->allocator, partial);
}

// --- The order ---

// Of a key with texts their hashes stand for them.
static uint32_t hash_of(const hdst__keyed_partial *of, const uint64_t *key)
{
    if (!of->texts) return hdst__key_hash(key, of->key_bytes);
    return hdst__key_texts_hash(of->texts, key, of->key_words);
}

static int compare(const hdst__keyed_partial *a, uint64_t i, const hdst__keyed_partial *b, uint64_t j)
{
    const uint64_t *x = a->keys + i * a->key_words, *y = b->keys + j * b->key_words;
    const uint32_t h = hash_of(a, x), k = hash_of(b, y);
    if (h != k) return h < k ? -1 : 1;
    return hdst__key_compare(a->texts, x, y, a->key_words);
}

bool hdst__keyed_partial_in_order(const hdst__keyed_partial *partial)
{
    for (uint64_t i = 1; i < partial->count; i++)
        if (compare(partial, i - 1, partial, i) >= 0) return false;
    return true;
}

// --- Merging ---

// The row of each key in the merged list; returns its length.
static uint64_t place_rows(const hdst__keyed_partial *a, uint64_t *a_row, const hdst__keyed_partial *b, uint64_t *b_row)
{
    uint64_t i = 0, j = 0, count = 0;
    for (; i < a->count || j < b->count; count++) {
        const int order = i == a->count ? 1 : j == b->count ? -1 : compare(a, i, b, j);
        if (order <= 0) a_row[i++] = count;
        if (order >= 0) b_row[j++] = count;
    }
    return count;
}

static hdst_status take_rows(hdst__keyed_partial *to, const hdst__keyed_partial *from, const uint64_t *row, hdst_error *error)
{
    for (uint64_t i = 0; i < from->count; i++)
        memcpy(to->keys + row[i] * to->key_words, from->keys + i * from->key_words, from->key_words * sizeof *to->keys);
    return hdst__partial_scatter(to->state, from->state, row, from->count, error);
}

// `to` becomes what both are together.
static hdst_status join(hdst__keyed_partial *to, const hdst__keyed_partial *from, uint64_t *to_row, uint64_t *from_row, hdst_error *error)
{
    const uint64_t count = place_rows(to, to_row, from, from_row);
    hdst__keyed_partial *both = hdst__alloc_zero(to->allocator, sizeof *both);
    if (!both) return hdst__error_memory(error, "unfinished sums by key");
    *both = *to;
    both->count = count;
    both->keys = hdst__alloc_zero(to->allocator, count * to->key_words * sizeof *both->keys);
    both->state = hdst__partial_create_like(to->state, count ? count : 1);
    hdst_status status = both->keys && both->state ? take_rows(both, to, to_row, error) : hdst__error_memory(error, "unfinished sums by key");
    if (status == HDST_OK) status = take_rows(both, from, from_row, error);
    if (status == HDST_OK) {
        const hdst__keyed_partial before = *to;
        *to = *both;
        *both = before;
    }
    hdst__keyed_partial_destroy(both);
    return status;
}

hdst_status hdst__keyed_partial_merge(hdst__keyed_partial *to, const hdst__keyed_partial *from, hdst_error *error)
{
    if (to == from || to->key_bytes != from->key_bytes) return hdst__error_set(error, HDST_E_INTERNAL, "a partial was to be merged with one of other keys");
    if (to->count == from->count && !to->texts && !memcmp(to->keys, from->keys, to->count * to->key_words * sizeof *to->keys))
        return hdst__partial_merge(to->state, from->state, error);
    uint64_t *row = hdst__alloc(to->allocator, (to->count + from->count) * sizeof *row);
    const hdst_status status = row ? join(to, from, row, row + to->count, error) : hdst__error_memory(error, "unfinished sums by key");
    hdst__free(to->allocator, row);
    return status;
}
