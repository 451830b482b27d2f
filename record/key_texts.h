// SPDX-License-Identifier: Apache-2.0
// Packed keys with texts (record/key_hash.h). What is hashed has 8 bytes for a text: its hash. What tells keys apart, and orders them, has its span: two words,
// at a multiple of 8 bytes. Other fields lie in both as they would without texts.
#ifndef HDST_RECORD_KEY_TEXTS_H
#define HDST_RECORD_KEY_TEXTS_H

#include "record/text_span.h"

#include <stdbool.h>

enum { HDST__SPAN_WORDS = 2 };

typedef struct hdst__key_texts {        // of a packed key; where it has none a NULL stands for this
    const uint32_t *word;               // the first word of each text, in order
    uint32_t count;
} hdst__key_texts;

static inline hdst__text_span hdst__span_of_words(const uint64_t *at)
{
    hdst__text_span span;
    memcpy(&span, at, sizeof span);
    return span;
}

// As results of reductions by key are ordered: word by word, texts by their bytes. Below 0, 0, above 0.
int hdst__key_texts_compare(const hdst__key_texts *texts, const uint64_t *a, const uint64_t *b, uint32_t key_words);
bool hdst__key_texts_equal(const hdst__key_texts *texts, const uint64_t *a, const uint64_t *b, uint32_t key_words);
// A key's hash, or what else depends on `first` and on each bit of the key: h = first; for each word or hash of a text w: h = mix64((h ^ w) + HDST__KEY_STEP).
// With another `first` than 0 texts begin with it, too: who does not know it cannot make texts that share their hash.
uint64_t hdst__key_texts_mixed(const hdst__key_texts *texts, const uint64_t *key, uint32_t key_words, uint64_t first);

uint32_t hdst__key_texts_hash(const hdst__key_texts *texts, const uint64_t *key, uint32_t key_words);    // that results are in the order of

static inline int hdst__key_compare(const hdst__key_texts *texts, const uint64_t *a, const uint64_t *b, uint32_t key_words)
{
    if (texts) return hdst__key_texts_compare(texts, a, b, key_words);
    for (uint32_t w = 0; w < key_words; w++)
        if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
    return 0;
}

// The same of one text, the most frequent key of that kind.
static inline bool hdst__span_words_equal(const uint64_t *a, const uint64_t *b)
{
    if (a[0] != b[0]) return false;                     // length and start
    if (a[1] == b[1]) return true;
    const uint32_t length = (uint32_t)a[0];             // little-endian hosts
    return length > HDST__TEXT_INLINE && !memcmp((const char *)(uintptr_t)a[1], (const char *)(uintptr_t)b[1], length);
}

#endif
