// SPDX-License-Identifier: Apache-2.0
// Texts in records (record/text_span.h).
#include "record/text_span.h"

int hdst__text_compare(const hdst__text_span *a, const hdst__text_span *b)
{
    const uint32_t shorter = a->length < b->length ? a->length : b->length;
    const int start = memcmp(a->start, b->start, shorter < 4 ? shorter : 4);
    if (start) return start;
    const int rest = shorter > 4 ? memcmp(hdst__text_bytes(a) + 4, hdst__text_bytes(b) + 4, shorter - 4) : 0;
    return rest ? rest : (a->length > b->length) - (a->length < b->length);
}

static char turned(char byte, char first, char last) { return byte >= first && byte <= last ? (char)(byte ^ 0x20) : byte; }

void hdst__text_copy(char *to, const hdst__text_span *span)
{
    const uint64_t view = span->address >> HDST__TEXT_VIEW_BIT;
    const char *from = (const char *)(uintptr_t)(span->address & ~(UINT64_C(3) << HDST__TEXT_VIEW_BIT));
    const char first = view == 1 ? 'A' : 'a', last = view == 1 ? 'Z' : 'z';
    if (!view) memcpy(to, from, span->length);
    for (uint32_t i = 0; i < span->length && view; i++) to[i] = turned(from[i], first, last);
}

static uint64_t little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

uint64_t hdst__text_hash(const char *bytes, uint32_t length) { return hdst__text_hash_from(length, bytes, length); }

uint64_t hdst__text_hash_from(uint64_t h, const char *bytes, uint32_t length)
{
    uint32_t at = 0;
    for (; length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        h = hdst__key_mix64((h ^ little_endian(word)) + HDST__KEY_STEP);
    }
    if (at == length) return h;
    uint64_t last = 0;
    memcpy(&last, bytes + at, length - at);
    return hdst__key_mix64((h ^ little_endian(last)) + HDST__KEY_STEP);
}

// Fields of packed records need not be aligned.
static bool visit_one(char *at, bool (*visit)(void *user, hdst__text_span *span), void *user)
{
    hdst__text_span span;
    memcpy(&span, at, sizeof span);
    if (!visit(user, &span)) return false;
    memcpy(at, &span, sizeof span);
    return true;
}

bool hdst__record_texts(const hdst__record *record, void *rows, uint64_t count, bool (*visit)(void *user, hdst__text_span *span), void *user)
{
    if (!record->has_text) return true;
    for (uint64_t i = 0; i < count; i++)
        for (size_t l = 0; l < record->leaf_count; l++) {
            const hdst__leaf *leaf = &record->leaves[l];
            if (leaf->kind != HDST__TEXT) continue;
            for (uint64_t e = 0; e < leaf->elements; e++)
                if (!visit_one((char *)rows + i * record->size + hdst__leaf_offset(leaf, e), visit, user)) return false;
        }
    return true;
}
