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

static uint64_t sort_number(const hdst__sort_field *field, const char *row)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - field->bits), sign = (uint64_t)1 << (field->bits - 1);
    uint64_t number = 0;
    memcpy(&number, row + field->offset, field->bits / 8);      // little endian, as all of hdst's raw data
    if (hdst__kind_is_float(field->kind)) number ^= number & sign ? all : sign;
    else if (hdst__kind_is_signed(field->kind)) number ^= sign;
    else if (field->kind == HDST__BOOL) number = number != 0;
    return field->descending ? number ^ all : number;
}

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
        prefix |= sort_number(&fields[i], row) << left;
    }
    return prefix;
}

int hdst__sort_compare(const hdst__sort_field *fields, size_t count, const char *a, const char *b)
{
    for (size_t i = 0; i < count; i++) {
        const int order = fields[i].kind == HDST__TEXT ? compare_texts(&fields[i], a, b) : 0;
        if (order) return order;
        if (fields[i].kind == HDST__TEXT) continue;
        const uint64_t left = sort_number(&fields[i], a), right = sort_number(&fields[i], b);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}
