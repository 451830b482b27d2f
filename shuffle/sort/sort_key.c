// SPDX-License-Identifier: Apache-2.0
// Keys of C structs as unsigned numbers in the same order (shuffle/sort/sort_key.h).
#include "shuffle/sort/sort_key.h"

#include "record/text_span.h"

#include <string.h>

hdst__sort_field hdst__sort_field_of(const hdst__record *record, const hdst__sort_key *key)
{
    const hdst__leaf *leaf = &record->leaves[key->leaf];
    return (hdst__sort_field){hdst__leaf_offset(leaf, key->element), leaf->kind, (uint32_t)hdst__scalar_size(leaf->kind) * 8, key->descending};
}

bool hdst__sort_has_texts(const hdst__sort_field *fields, size_t count)
{
    bool has = false;
    for (size_t i = 0; i < count; i++) has |= fields[i].kind == HDST__TEXT;
    return has;
}

hdst__sort_class hdst__sort_class_of(const hdst__sort_field *field)
{
    if (hdst__kind_is_float(field->kind)) return HDST__SORT_FLOAT;
    if (hdst__kind_is_signed(field->kind)) return HDST__SORT_SIGNED;
    return field->kind == HDST__BOOL ? HDST__SORT_BOOL : HDST__SORT_UNSIGNED;
}

static uint64_t number_of(const hdst__sort_field *field, const char *row) { return hdst__sort_number(field, hdst__sort_class_of(field), row); }

static hdst__text_span text_of(const hdst__sort_field *field, const char *row)
{
    hdst__text_span span;
    memcpy(&span, row + field->offset, sizeof span);        // which packed records do not align
    return span;
}

uint64_t hdst__sort_text_prefix(const hdst__sort_field *field, const hdst__text_span *span, uint64_t from)
{
    uint64_t word = 0;
    const uint64_t left = from < span->length ? span->length - from : 0;
    if (left) memcpy(&word, hdst__text_bytes(span) + from, left < 8 ? left : 8);
    const uint64_t number = __builtin_bswap64(word);        // little-endian hosts
    return field->descending ? ~number : number;
}

static int compare_texts(const hdst__sort_field *field, const char *a, const char *b)
{
    const hdst__text_span x = text_of(field, a), y = text_of(field, b);
    return field->descending ? hdst__text_compare(&y, &x) : hdst__text_compare(&x, &y);
}

uint64_t hdst__sort_prefix(const hdst__sort_field *fields, size_t count, const char *row)
{
    uint64_t prefix = 0;
    uint32_t left = 64;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == HDST__TEXT) {
            const hdst__text_span span = text_of(&fields[i], row);
            return prefix | (left ? hdst__sort_text_prefix(&fields[i], &span, 0) >> (64 - left) : 0);
        }
        if (fields[i].bits > left) break;
        left -= fields[i].bits;
        prefix |= number_of(&fields[i], row) << left;
    }
    return prefix;
}

int hdst__sort_compare(const hdst__sort_field *fields, size_t count, const char *a, const char *b)
{
    for (size_t i = 0; i < count; i++) {
        const int order = fields[i].kind == HDST__TEXT ? compare_texts(&fields[i], a, b) : 0;
        if (order) return order;
        if (fields[i].kind == HDST__TEXT) continue;
        const uint64_t left = number_of(&fields[i], a), right = number_of(&fields[i], b);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}
