// SPDX-License-Identifier: Apache-2.0
// Rows with texts as bytes (accum/row_texts.h).
#include "accum/row_texts.h"

#include <string.h>

bool hdst__text_rows_have_any(const hdst__text_rows *of) { return of->record ? of->record->has_text : of->texts != NULL; }

uint64_t hdst__text_rows_bytes(const hdst__text_rows *of) { return of->record ? of->record->size : of->key_words * sizeof(uint64_t); }

static bool visit_keys(const hdst__text_rows *of, uint64_t *keys, uint64_t count, bool (*visit)(void *user, hdst__text_span *span), void *user)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < of->texts->count; t++) {
            uint64_t *at = keys + i * of->key_words + of->texts->word[t];
            hdst__text_span span = hdst__span_of_words(at);
            if (!visit(user, &span)) return false;
            memcpy(at, &span, sizeof span);
        }
    return true;
}

bool hdst__text_rows_visit(const hdst__text_rows *of, void *rows, uint64_t count, bool (*visit)(void *user, hdst__text_span *span), void *user)
{
    if (of->record) return hdst__record_texts(of->record, rows, count, visit, user);
    return !of->texts || visit_keys(of, rows, count, visit, user);
}

// --- Writing ---

static bool put_bytes(void *user, hdst__text_span *span)
{
    if (!hdst__text_is_inline(span)) hdst__buffer_add(user, hdst__text_bytes(span), span->length);
    return true;
}

static bool forget_address(void *user, hdst__text_span *span)
{
    (void)user;
    if (!hdst__text_is_inline(span)) span->address = 0;
    return true;
}

void hdst__text_rows_write(const hdst__text_rows *of, const void *rows, uint64_t count, hdst__buffer *out)
{
    const uint64_t bytes = count * hdst__text_rows_bytes(of);
    if (!hdst__text_rows_have_any(of) || !count) {
        if (count) hdst__buffer_add(out, rows, bytes);
        return;
    }
    char *bare = hdst__alloc(out->allocator, bytes);
    if (!bare) {
        out->failed = true;
        return;
    }
    memcpy(bare, rows, bytes);
    hdst__text_rows_visit(of, bare, count, forget_address, NULL);
    hdst__buffer_add(out, bare, bytes);
    memcpy(bare, rows, bytes);
    hdst__text_rows_visit(of, bare, count, put_bytes, out);
    hdst__free(out->allocator, bare);
}

// --- Reading ---

static bool add_length(void *user, hdst__text_span *span)
{
    uint64_t *bytes = user;
    return hdst__text_is_inline(span) || !__builtin_add_overflow(*bytes, span->length, bytes);
}

// What is not used of a short text is zero, whatever the bytes say: texts are compared by whole words.
static bool take_bytes(void *user, hdst__text_span *span)
{
    char **at = user;
    if (hdst__text_is_inline(span)) {
        char bytes[HDST__TEXT_INLINE];
        memcpy(bytes, span->start, sizeof bytes);
        *span = hdst__text_span_of(bytes, span->length);
        return true;
    }
    *span = hdst__text_span_of(*at, span->length);
    *at += span->length;
    return true;
}

hdst_status hdst__text_rows_read(const hdst__text_rows *of, void *rows, uint64_t count, hdst__byte_cursor *from, const hdst__bytes_place *place,
                                 hdst_error *error)
{
    uint64_t bytes = 0;
    char *at = NULL;
    if (!hdst__cursor_take(from, rows, count * hdst__text_rows_bytes(of))) return HDST_E_FORMAT;
    if (!hdst__text_rows_have_any(of)) return HDST_OK;
    if (!hdst__text_rows_visit(of, rows, count, add_length, &bytes) || bytes > from->left) return HDST_E_FORMAT;
    const hdst_status status = bytes ? place->take(place->user, bytes, &at, error) : HDST_OK;
    if (status != HDST_OK) return status;
    if (bytes) (void)hdst__cursor_take(from, at, bytes);
    hdst__text_rows_visit(of, rows, count, take_bytes, &at);
    return HDST_OK;
}
