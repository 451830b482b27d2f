// SPDX-License-Identifier: Apache-2.0
// Texts in records: spans of 16 bytes. Up to 12 bytes of text lie in the span itself; of a longer one its first 4 bytes do, and the address of all of them.
// (The shape is Umbra's: Neumann and Freitag, "Umbra: A Disk-Based System with In-Memory Performance", CIDR 2020, section 3.1.)
//
// Bytes never move while a span refers to them, so whoever moves records moves 16 bytes and knows nothing of texts. Who keeps spans for longer than what they
// refer to lasts copies the bytes first (engine/memory/text_heap.h).
#ifndef HDST_RECORD_TEXT_SPAN_H
#define HDST_RECORD_TEXT_SPAN_H

#include "record/key_hash.h"
#include "record/type.h"

#include <string.h>

enum { HDST__TEXT_INLINE = 12 };        // bytes of a text that its span holds
#define HDST__TEXT_LONGEST UINT32_MAX

typedef struct hdst__text_span {
    uint32_t length;            // bytes
    char start[4];              // the first of them; what is not used is zero
    union {
        char rest[8];           // the next, of up to HDST__TEXT_INLINE
        uint64_t address;       // of all bytes, the first ones too, of a longer text
    };
} hdst__text_span;

static inline bool hdst__text_is_inline(const hdst__text_span *span) { return span->length <= HDST__TEXT_INLINE; }

// Its bytes: in the span, or where that refers to.
static inline const char *hdst__text_bytes(const hdst__text_span *span)
{
    return hdst__text_is_inline(span) ? span->start : (const char *)(uintptr_t)span->address;
}

// A span of `length` bytes, which stay where they are.
static inline hdst__text_span hdst__text_span_of(const char *bytes, uint32_t length)
{
    hdst__text_span span = {.length = length};
    if (length <= HDST__TEXT_INLINE) {
        memcpy(span.start, bytes, length < 4 ? length : 4);
        if (length > 4) memcpy(span.rest, bytes + 4, length - 4);
        return span;
    }
    memcpy(span.start, bytes, 4);
    span.address = (uint64_t)(uintptr_t)bytes;
    return span;
}

// What a function leaves for a long text that it looks at in another case: the address and, above it, the view (codegen/ir/text_value.h counts them).
// Whoever takes the function's output copies such texts at once (hdst__text_settle), so nobody else meets them.
enum { HDST__TEXT_VIEW_BIT = 62 };
void hdst__text_copy(char *to, const hdst__text_span *span);       // the bytes of a long text, as they are looked at
static inline uint64_t hdst__text_address(const char *bytes, uint32_t view) { return (uint64_t)(uintptr_t)bytes | (uint64_t)view << HDST__TEXT_VIEW_BIT; }

// Byte for byte: below 0, 0, above 0. Of two texts one of which begins with the other, the shorter one is smaller.
int hdst__text_compare(const hdst__text_span *a, const hdst__text_span *b);

static inline bool hdst__text_equal(const hdst__text_span *a, const hdst__text_span *b)
{
    if (memcmp(a, b, 8)) return false;                  // length and start
    if (a->address == b->address) return true;          // the rest, too
    return !hdst__text_is_inline(a) && !memcmp(hdst__text_bytes(a), hdst__text_bytes(b), a->length);
}

// The hash of bytes, the same on every device: h = length; for each word w of 8 bytes, little-endian, the rest of the last one zero:
// h = mix64((h ^ w) + HDST__KEY_STEP) (record/key_hash.h). In a packed key a text stands as these 8 bytes.
uint64_t hdst__text_hash(const char *bytes, uint32_t length);
uint64_t hdst__text_hash_from(uint64_t h, const char *bytes, uint32_t length);      // the same from another h on
static inline uint64_t hdst__text_span_hash(const hdst__text_span *span) { return hdst__text_hash(hdst__text_bytes(span), span->length); }

// Calls `visit` for each text of `count` C structs, one after another, which may change the span, until it returns false; whether it never did.
bool hdst__record_texts(const hdst__record *record, void *rows, uint64_t count, bool (*visit)(void *user, hdst__text_span *span), void *user);

#endif
