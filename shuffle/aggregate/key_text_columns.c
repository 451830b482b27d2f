// SPDX-License-Identifier: Apache-2.0
// Hashes of a batch of keys with texts (shuffle/aggregate/aggregation_layout.h, record/key_texts.h), by columns. Most texts are short: all are hashed as if
// their bytes were in the span, without a branch, then those anew that were not.
#include "shuffle/aggregate/aggregation_layout.h"

#include "base/vector_targets.h"

// Of the spans at the front of each key. Returns whether some text is longer.
HDST__WIDE_VECTORS static bool hash_short(const uint64_t *restrict key, uint32_t words, uint64_t *restrict h, uint32_t count)
{
    uint64_t longer = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t a = key[(size_t)i * words], b = key[(size_t)i * words + 1], length = (uint32_t)a;       // little-endian hosts
        const uint64_t first = hdst__key_mix64((length ^ (a >> 32 | b << 32)) + HDST__KEY_STEP), second = hdst__key_mix64((first ^ b >> 32) + HDST__KEY_STEP);
        h[i] = length > 8 ? second : length ? first : 0;
        longer |= length > HDST__TEXT_INLINE;
    }
    return longer;
}

static void hash_text_column(const uint64_t *key, uint32_t words, uint64_t *h, uint32_t count)
{
    if (!hash_short(key, words, h, count)) return;
    for (uint32_t i = 0; i < count; i++, key += words) {
        const uint32_t length = (uint32_t)*key;
        if (length > HDST__TEXT_INLINE) h[i] = hdst__text_hash((const char *)(uintptr_t)key[1], length);
    }
}

HDST__WIDE_VECTORS static void hash_one(const uint64_t *restrict h, uint32_t *restrict hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) hash[i] = (uint32_t)(hdst__key_mix64(h[i]) >> 32);
}

HDST__WIDE_VECTORS static void mix(uint64_t *restrict h, const uint64_t *restrict word, uint32_t step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) h[i] = hdst__key_mix64((h[i] ^ word[(size_t)i * step]) + HDST__KEY_STEP);
}

HDST__WIDE_VECTORS static void take_upper(const uint64_t *restrict h, uint32_t *restrict hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) hash[i] = (uint32_t)(h[i] >> 32);
}

void hdst__key_batch_hash_texts(hdst__key_batch *batch, const hdst__aggregation_layout *layout)
{
    uint64_t h[HDST__KEY_BATCH], text[HDST__KEY_BATCH];
    const hdst__key_texts *texts = layout->texts;
    const uint32_t words = layout->key_words, count = batch->count;
    if (words == HDST__SPAN_WORDS) {
        hash_text_column(batch->key, words, text, count);
        hash_one(text, batch->hash, count);
        return;
    }
    memset(h, 0, count * sizeof *h);
    for (uint32_t w = 0, t = 0; w < words; w++) {
        if (t == texts->count || texts->word[t] != w) {
            mix(h, batch->key + w, words, count);
            continue;
        }
        hash_text_column(batch->key + w, words, text, count);
        mix(h, text, 1, count);
        w += HDST__SPAN_WORDS - 1;
        t++;
    }
    take_upper(h, batch->hash, count);
}
