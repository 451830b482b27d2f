// SPDX-License-Identifier: Apache-2.0
// Batches: the keys and values of some records as columns of words (shuffle/aggregate/aggregation_layout.h). Loops here have no branch that depends on the
// data, so that compilers make vectors of them; on x86-64 there is a version for each of the common widths, chosen when the library is loaded.
#include "shuffle/aggregate/aggregation_layout.h"

#include "record/key_hash.h"
#include "base/vector_targets.h"
#include "accum/fixed_point.h"
#include "accum/representation.h"

#include <string.h>

bool hdst__key_batch_create(hdst__key_batch *batch, const hdst__allocator *allocator, const hdst__aggregation_layout *layout)
{
    const size_t n = layout->batch;
    *batch = (hdst__key_batch){
        .source = hdst__alloc(allocator, (layout->value_count + 1) * sizeof *batch->source),
        .key_source = hdst__alloc(allocator, layout->key_count * sizeof *batch->key_source),
        .hash = hdst__alloc(allocator, n * sizeof *batch->hash),
        .key = hdst__alloc(allocator, n * (layout->key_words + 1) * sizeof *batch->key),
        .word = hdst__alloc(allocator, n * (layout->cell_words + 1) * sizeof *batch->word),
        .exception = hdst__alloc(allocator, n),
    };
    if (batch->source && batch->key_source && batch->hash && batch->key && batch->word && batch->exception) return true;
    hdst__key_batch_destroy(batch, allocator);
    return false;
}

void hdst__key_batch_destroy(hdst__key_batch *batch, const hdst__allocator *allocator)
{
    void *const memory[] = {batch->source, batch->key_source, batch->hash, batch->key, batch->word, batch->exception};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) hdst__free(allocator, memory[i]);
    *batch = (hdst__key_batch){0};
}

static hdst__key_source place_of(const hdst__storage *storage, const void *const *buffers, uint32_t leaf, uint64_t element, uint64_t first)
{
    const hdst__leaf_address *address = &storage->leaf[leaf];
    return (hdst__key_source){(const char *)buffers[address->buffer] + hdst__storage_offset(storage, leaf, first, element), address->stride};
}

// --- Keys ---

HDST__WIDE_VECTORS static void hash_u32(const uint32_t *restrict key, uint32_t *restrict hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) hash[i] = hdst__key_mix32(key[i]);
}

HDST__WIDE_VECTORS static void hash_strided(const uint32_t *restrict tuples, uint32_t *restrict hash, uint32_t count)    // every second word is a key
{
    for (uint32_t i = 0; i < count; i++) hash[i] = hdst__key_mix32(tuples[2 * i]);
}

HDST__WIDE_VECTORS static void hash_u64(const uint64_t *restrict key, uint32_t *restrict hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) hash[i] = (uint32_t)(hdst__key_mix64(key[i]) >> 32);
}

HDST__WIDE_VECTORS static void hash_words(const uint64_t *restrict key, uint32_t words, uint32_t *restrict hash, uint32_t count)
{
    uint64_t h[HDST__KEY_BATCH] = {0};
    for (uint32_t w = 0; w < words; w++)
        for (uint32_t i = 0; i < count; i++) h[i] = hdst__key_mix64((h[i] ^ key[(size_t)i * words + w]) + HDST__KEY_STEP);
    for (uint32_t i = 0; i < count; i++) hash[i] = (uint32_t)(h[i] >> 32);
}

static void pack_keys(hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint32_t words)
{
    memset(batch->key, 0, (size_t)batch->count * words * sizeof *batch->key);
    for (uint64_t c = 0; c < layout->key_count; c++) {
        const hdst__key_column *column = &layout->key[c];
        const hdst__key_source from = batch->key_source[c];
        char *to = (char *)batch->key + column->at;
        const size_t step = words * sizeof *batch->key;
        switch (column->bytes) {
        case 1: for (uint32_t i = 0; i < batch->count; i++) to[i * step] = from.base[i * from.stride]; break;
        case 2: for (uint32_t i = 0; i < batch->count; i++) memcpy(to + i * step, from.base + i * from.stride, 2); break;
        case 4: for (uint32_t i = 0; i < batch->count; i++) memcpy(to + i * step, from.base + i * from.stride, 4); break;
        case 8: for (uint32_t i = 0; i < batch->count; i++) memcpy(to + i * step, from.base + i * from.stride, 8); break;
        default: for (uint32_t i = 0; i < batch->count; i++) memcpy(to + i * step, from.base + i * from.stride, sizeof(hdst__text_span));
        }
    }
}

static void hash_keys(hdst__key_batch *batch, const hdst__aggregation_layout *layout)
{
    const hdst__key_source *from = batch->key_source;
    const bool aligned = (uintptr_t)from->base % 4 == 0;
    if (layout->key_count == 1 && layout->key_bytes == 4 && from->stride == 4 && aligned) {
        hash_u32((const uint32_t *)(const void *)from->base, batch->hash, batch->count);
        return;
    }
    if (layout->key_count == 1 && layout->key_bytes == 4 && from->stride == 8 && aligned) {
        hash_strided((const uint32_t *)(const void *)from->base, batch->hash, batch->count);
        return;
    }
    const uint32_t words = layout->key_words ? layout->key_words : 1;
    pack_keys(batch, layout, words);
    if (layout->texts) hdst__key_batch_hash_texts(batch, layout);
    else if (layout->key_words == 0) hash_strided((const uint32_t *)(const void *)batch->key, batch->hash, batch->count);
    else if (layout->key_words == 1) hash_u64(batch->key, batch->hash, batch->count);
    else hash_words(batch->key, layout->key_words, batch->hash, batch->count);
}

// --- Numbers of rows ---

bool hdst__key_batch_is_stray(const hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint32_t i, uint64_t *key)
{
    const uint32_t above = 64 - 8 * layout->key_bytes;
    uint64_t bits = 0;
    memcpy(&bits, batch->key_source->base + i * batch->key_source->stride, layout->key_bytes);       // little-endian hosts
    *key = hdst__kind_is_signed(layout->record->leaves[layout->key->leaf].kind) ? (uint64_t)((int64_t)(bits << above) >> above) : bits;
    return *key >= layout->row_count;
}

// `last`: of the rows, or of the key's type.
HDST__WIDE_VECTORS static uint32_t place_u32(const uint32_t *restrict key, uint64_t step, uint32_t last, uint32_t shift, uint32_t *restrict hash,
                                             uint32_t count)
{
    uint32_t outside = 0;
    if (step == 1) {
        for (uint32_t i = 0; i < count; i++) { outside |= key[i] > last; hash[i] = key[i] << shift; }
    } else if (step == 2) {
        for (uint32_t i = 0; i < count; i++) { outside |= key[2 * i] > last; hash[i] = key[2 * i] << shift; }
    } else {
        for (uint32_t i = 0; i < count; i++) { outside |= key[i * step] > last; hash[i] = key[i * step] << shift; }
    }
    return outside;
}

static void place_keys(hdst__key_batch *batch, const hdst__aggregation_layout *layout)
{
    const hdst__key_source *from = batch->key_source;
    const uint64_t last = layout->row_count - 1;
    const bool is_signed = hdst__kind_is_signed(layout->record->leaves[layout->key->leaf].kind);
    if (layout->key_bytes == 4 && (uintptr_t)from->base % 4 == 0 && from->stride % 4 == 0) {
        const uint32_t least = is_signed && last > INT32_MAX ? INT32_MAX : (uint32_t)last;
        batch->strays = place_u32((const uint32_t *)(const void *)from->base, from->stride / 4, least, layout->row_shift, batch->hash, batch->count);
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t key;
        batch->strays |= hdst__key_batch_is_stray(batch, layout, i, &key);
        batch->hash[i] = (uint32_t)key << layout->row_shift;
    }
}

void hdst__key_batch_open(hdst__key_batch *batch, const hdst__aggregation_layout *layout, const hdst__storage *storage, const void *const *buffers,
                          uint64_t first, uint32_t count)
{
    batch->count = count;
    for (uint64_t c = 0; c < layout->key_count; c++) batch->key_source[c] = place_of(storage, buffers, layout->key[c].leaf, layout->key[c].element, first);
    for (uint64_t c = 0; c < layout->value_count; c++) batch->source[c] = place_of(storage, buffers, layout->value[c].leaf, layout->value[c].element, first);
    batch->strays = false;
    if (layout->rows) place_keys(batch, layout);
    else hash_keys(batch, layout);
}

HDST__WIDE_VECTORS static void halves(uint32_t *restrict hash, const uint64_t *restrict raw, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) hash[i] = (uint32_t)raw[i];
}

void hdst__key_batch_open_raw(hdst__key_batch *batch, const hdst__aggregation_layout *layout, const char *raw, uint32_t count)
{
    batch->count = count;
    for (uint64_t c = 0; c < layout->value_count; c++) batch->source[c] = (hdst__key_source){raw + layout->value[c].raw_at, layout->raw_bytes};
    if (layout->raw_bytes == 8 && layout->key_words == 0) {
        halves(batch->hash, (const uint64_t *)(const void *)raw, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++, raw += layout->raw_bytes) {
        memcpy(&batch->hash[i], raw, 4);
        if (layout->key_words) memcpy(batch->key + (size_t)i * layout->key_words, raw + layout->raw_key_at, 8 * (size_t)layout->key_words);
    }
}

void hdst__key_batch_to_raw(const hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint32_t i, char *raw)
{
    memcpy(raw, &batch->hash[i], 4);
    if (layout->key_words) memcpy(raw + layout->raw_key_at, batch->key + (size_t)i * layout->key_words, 8 * (size_t)layout->key_words);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const char *from = batch->source[c].base + i * batch->source[c].stride;
        switch (column->bytes) {
        case 1: raw[column->raw_at] = *from; break;
        case 2: memcpy(raw + column->raw_at, from, 2); break;
        case 4: memcpy(raw + column->raw_at, from, 4); break;
        default: memcpy(raw + column->raw_at, from, 8);
        }
    }
}

// --- Values ---

uint64_t hdst__key_batch_bits(const hdst__key_batch *batch, const hdst__value_column *column, uint64_t number, uint32_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, batch->source[number].base + i * batch->source[number].stride, column->bytes);
    return bits;
}

#define DEFINE_WORDS(name, type, ...)                                                                                                                    \
    HDST__WIDE_VECTORS static uint8_t name##_one(const type *restrict v, uint64_t step, uint32_t count, double up, double down, uint64_t *restrict q,  \
                                                 uint8_t *restrict exception)                                                                               \
    {                                                                                                                                                    \
        uint8_t any = 0;                                                                                                                                 \
        if (step == 1) {                                                                                                                                 \
            for (uint32_t i = 0; i < count; i++) { uint8_t m = hdst__fixed_one((double)v[i], up, down, &q[i]); exception[i] |= m; any |= m; } \
        } else if (step == 2) {                                                                                                                          \
            for (uint32_t i = 0; i < count; i++) { uint8_t m = hdst__fixed_one((double)v[2 * i], up, down, &q[i]); exception[i] |= m; any |= m; } \
        } else {                                                                                                                                         \
            for (uint32_t i = 0; i < count; i++) { uint8_t m = hdst__fixed_one((double)v[i * step], up, down, &q[i]); exception[i] |= m; any |= m; } \
        }                                                                                                                                                \
        return any;                                                                                                                                      \
    }                                                                                                                                                    \
    HDST__WIDE_VECTORS static uint8_t name##_two(const type *restrict v, uint64_t step, uint32_t count, double up, double down, uint64_t *restrict high, \
                                                 uint64_t *restrict low, uint8_t *restrict exception)                                                       \
    {                                                                                                                                                    \
        uint8_t any = 0;                                                                                                                                 \
        for (uint32_t i = 0; i < count; i++) { uint8_t m = hdst__fixed_two((double)v[i * step], up, down, &high[i], &low[i]); exception[i] |= m; any |= m; } \
        return any;                                                                                                                                      \
    }

DEFINE_WORDS(floats, float)
DEFINE_WORDS(doubles, double)

// Values that do not lie at multiples of their size are copied first.
static const void *aligned_values(const hdst__key_batch *batch, uint64_t number, uint32_t bytes, uint64_t *step, char *copy)
{
    const hdst__key_source from = batch->source[number];
    *step = from.stride / bytes;
    if ((uintptr_t)from.base % bytes == 0 && from.stride % bytes == 0) return from.base;
    for (uint32_t i = 0; i < batch->count; i++) memcpy(copy + (size_t)i * bytes, from.base + i * from.stride, bytes);
    *step = 1;
    return copy;
}

bool hdst__value_is_exception(const hdst__value_column *column, uint64_t bits)
{
    uint64_t high, low;
    double v;
    float f;
    const uint32_t half = (uint32_t)bits;
    memcpy(&f, &half, sizeof f);
    memcpy(&v, &bits, sizeof v);
    if (column->cell.kind == HDST__F32) v = (double)f;
    if (column->words == 0) return true;
    const double up = hdst__power_of_two(column->s), down = hdst__power_of_two(-column->s);
    return column->words == 1 ? hdst__fixed_one(v, up, down, &high) : hdst__fixed_two(v, up, down, &high, &low);
}

static void sum_words(hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint64_t number)
{
    const hdst__value_column *column = &layout->value[number];
    double copy[HDST__KEY_BATCH];
    uint64_t step, *high = batch->word + (size_t)column->word * layout->batch, *low = high + layout->batch;
    const void *v = aligned_values(batch, number, column->bytes, &step, (char *)copy);
    const double up = hdst__power_of_two(column->s), down = hdst__power_of_two(-column->s);
    const bool is_float = column->cell.kind == HDST__F32;
    uint8_t any;
    if (column->words == 0) {
        memset(batch->exception, 1, batch->count);
        any = 1;
    } else if (column->words == 1) {
        any = is_float ? floats_one(v, step, batch->count, up, down, high, batch->exception)
                       : doubles_one(v, step, batch->count, up, down, high, batch->exception);
    } else {
        any = is_float ? floats_two(v, step, batch->count, up, down, high, low, batch->exception)
                       : doubles_two(v, step, batch->count, up, down, high, low, batch->exception);
    }
    batch->exceptions |= any;
}

static void plain_words(hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint64_t number)
{
    const hdst__value_column *column = &layout->value[number];
    uint64_t *word = batch->word + (size_t)column->word * layout->batch;
    if (column->cell.acc == HDST__SUM || column->cell.acc == HDST__OR || column->cell.acc == HDST__XOR) {
        const hdst__key_source from = batch->source[number];
        switch (column->bytes) {        // sums are kept modulo 2^64, of which narrower kinds take the low bits
        case 1: for (uint32_t i = 0; i < batch->count; i++) word[i] = (uint8_t)from.base[i * from.stride]; return;
        case 2: for (uint32_t i = 0; i < batch->count; i++) { uint16_t v; memcpy(&v, from.base + i * from.stride, 2); word[i] = v; } return;
        case 4: for (uint32_t i = 0; i < batch->count; i++) { uint32_t v; memcpy(&v, from.base + i * from.stride, 4); word[i] = v; } return;
        default: for (uint32_t i = 0; i < batch->count; i++) memcpy(&word[i], from.base + i * from.stride, 8); return;
        }
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        int64_t w = 0;
        uint64_t bits = hdst__key_batch_bits(batch, column, number, i);
        if (hdst__kind_is_signed(column->cell.kind)) bits = (uint64_t)((int64_t)(bits << (64 - 8 * column->bytes)) >> (64 - 8 * column->bytes));
        hdst__cell_accumulate(&column->cell, &w, bits);
        word[i] = (uint64_t)w;
    }
}

void hdst__key_batch_words(hdst__key_batch *batch, const hdst__aggregation_layout *layout, bool whole)
{
    batch->exceptions = false;
    memset(batch->exception, 0, batch->count);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        if (layout->value[c].cell.digits) sum_words(batch, layout, c);
        else plain_words(batch, layout, c);
    }
    for (uint32_t i = 0; batch->exceptions && whole && i < batch->count; i++)
        if (batch->exception[i])
            for (uint32_t w = 0; w < layout->cell_words; w++) batch->word[(size_t)w * layout->batch + i] = 0;
}
