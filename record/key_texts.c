// SPDX-License-Identifier: Apache-2.0
// Packed keys with texts (record/key_texts.h).
#include "record/key_texts.h"

int hdst__key_texts_compare(const hdst__key_texts *texts, const uint64_t *a, const uint64_t *b, uint32_t key_words)
{
    for (uint32_t w = 0, t = 0; w < key_words; w++) {
        if (t == texts->count || texts->word[t] != w) {
            if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
            continue;
        }
        const hdst__text_span x = hdst__span_of_words(a + w), y = hdst__span_of_words(b + w);
        const int order = hdst__text_compare(&x, &y);
        if (order) return order;
        w += HDST__SPAN_WORDS - 1;
        t++;
    }
    return 0;
}

bool hdst__key_texts_equal(const hdst__key_texts *texts, const uint64_t *a, const uint64_t *b, uint32_t key_words)
{
    for (uint32_t w = 0, t = 0; w < key_words; w++) {
        if (t == texts->count || texts->word[t] != w) {
            if (a[w] != b[w]) return false;
            continue;
        }
        if (!hdst__span_words_equal(a + w, b + w)) return false;
        w += HDST__SPAN_WORDS - 1;
        t++;
    }
    return true;
}

uint64_t hdst__key_texts_mixed(const hdst__key_texts *texts, const uint64_t *key, uint32_t key_words, uint64_t first)
{
    uint64_t h = first;
    for (uint32_t w = 0, t = 0; w < key_words; w++) {
        uint64_t word = key[w];
        if (t < texts->count && texts->word[t] == w) {
            const hdst__text_span span = hdst__span_of_words(key + w++);
            word = hdst__text_hash_from(first ^ span.length, hdst__text_bytes(&span), span.length);
            t++;
        }
        h = hdst__key_mix64((h ^ word) + HDST__KEY_STEP);
    }
    return h;
}

// One text alone is a packed key of 8 bytes.
uint32_t hdst__key_texts_hash(const hdst__key_texts *texts, const uint64_t *key, uint32_t key_words)
{
    if (key_words > HDST__SPAN_WORDS) return (uint32_t)(hdst__key_texts_mixed(texts, key, key_words, 0) >> 32);
    const hdst__text_span span = hdst__span_of_words(key);
    return (uint32_t)(hdst__key_mix64(hdst__text_span_hash(&span)) >> 32);
}
