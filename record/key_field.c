// SPDX-License-Identifier: Apache-2.0
// Keys in C structs (record/key_field.h).
#include "record/key_field.h"

#include "record/key_hash.h"
#include "record/text_span.h"

#include <string.h>

uint64_t hdst__key_field_read(const hdst__key_field *field, const char *row)
{
    uint64_t bits = 0;
    const unsigned size = (unsigned)hdst__scalar_size(field->kind), unused = 64 - 8 * size;
    switch (size) {                     // of a size that the compiler knows a copy is one instruction
    case 1: memcpy(&bits, row + field->offset, 1); break;
    case 2: memcpy(&bits, row + field->offset, 2); break;
    case 4: memcpy(&bits, row + field->offset, 4); break;
    default: memcpy(&bits, row + field->offset, 8);
    }
    return hdst__kind_is_signed(field->kind) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

void hdst__key_field_read_all(const hdst__key_field *field, const char *rows, uint64_t row_bytes, uint64_t count, uint64_t *bits)
{
    rows += field->offset;
#define READ(type)                                                 \
    for (uint64_t i = 0; i < count; i++) {                         \
        type number;                                               \
        memcpy(&number, rows + i * row_bytes, sizeof number);      \
        bits[i] = (uint64_t)number;                                \
    }                                                              \
    break
    switch (field->kind) {
    case HDST__I32: READ(int32_t);
    case HDST__U32: READ(uint32_t);
    case HDST__I64: case HDST__U64: READ(uint64_t);
    default: for (uint64_t i = 0; i < count; i++) bits[i] = hdst__key_field_read(field, rows - field->offset + i * row_bytes);
    }
#undef READ
}

static uint64_t align_to(uint64_t at, uint64_t size) { return (at + size - 1) / size * size; }

// A text stands in a packed key as its hash.
static uint64_t packed_size(hdst__kind kind) { return kind == HDST__TEXT ? sizeof(uint64_t) : hdst__scalar_size(kind); }

hdst__key_fields hdst__key_fields_of(const hdst__key_field *field, size_t count)
{
    uint64_t at = 0;
    bool has_text = false;
    for (size_t i = 0; i < count; i++) {
        at = align_to(at, packed_size(field[i].kind)) + packed_size(field[i].kind);
        has_text |= field[i].kind == HDST__TEXT;
    }
    return (hdst__key_fields){field, count, (size_t)at, has_text};
}

static hdst__text_span span_at(const hdst__key_field *field, const char *row)
{
    hdst__text_span span;
    memcpy(&span, row + field->offset, sizeof span);
    return span;
}

void hdst__key_fields_pack(const hdst__key_fields *key, const char *row, uint64_t *words)
{
    uint64_t at = 0;
    memset(words, 0, align_to(key->bytes, 8));
    for (size_t i = 0; i < key->count; i++) {
        const hdst__key_field *field = &key->field[i];
        const uint64_t size = packed_size(field->kind);
        at = align_to(at, size);
        if (field->kind == HDST__TEXT) {
            const hdst__text_span span = span_at(field, row);
            words[at / 8] = hdst__text_span_hash(&span);
        } else memcpy((char *)words + at, row + field->offset, size);       // little endian, as all of hdst's raw data
        at += size;
    }
}

uint32_t hdst__key_fields_hash(const hdst__key_fields *key, const char *row)
{
    uint64_t words[HDST__KEY_WORDS];
    hdst__key_fields_pack(key, row, words);
    return hdst__key_hash(words, key->bytes);
}

// The words of which a packed key's fields from `first` on, none of them a text, are a part: *end is behind them. Below 0, 0, above 0.
static int compare_numbers(const hdst__key_fields *key, const char *a, const hdst__key_fields *key_of_b, const char *b, size_t first, size_t *end)
{
    size_t count = 0;
    while (first + count < key->count && key->field[first + count].kind != HDST__TEXT) count++;
    *end = first + count;
    const hdst__key_fields numbers = hdst__key_fields_of(key->field + first, count), others = hdst__key_fields_of(key_of_b->field + first, count);
    return hdst__key_fields_compare_with(&numbers, a, &others, b);
}

// Texts begin words of their own, and so does what follows one.
static int compare_with_texts(const hdst__key_fields *key, const char *a, const hdst__key_fields *key_of_b, const char *b)
{
    for (size_t i = 0; i < key->count;) {
        int order;
        if (key->field[i].kind == HDST__TEXT) {
            const hdst__text_span x = span_at(&key->field[i], a), y = span_at(&key_of_b->field[i], b);
            order = hdst__text_compare(&x, &y);
            i++;
        } else order = compare_numbers(key, a, key_of_b, b, i, &i);
        if (order) return order;
    }
    return 0;
}

int hdst__key_fields_compare_with(const hdst__key_fields *key, const char *a, const hdst__key_fields *key_of_b, const char *b)
{
    uint64_t left[HDST__KEY_WORDS], right[HDST__KEY_WORDS];
    if (key->has_text) return compare_with_texts(key, a, key_of_b, b);
    hdst__key_fields_pack(key, a, left);
    hdst__key_fields_pack(key_of_b, b, right);
    for (size_t w = 0; w < (key->bytes + 7) / 8; w++)
        if (left[w] != right[w]) return left[w] < right[w] ? -1 : 1;
    return 0;
}

int hdst__key_fields_compare(const hdst__key_fields *key, const char *a, const char *b) { return hdst__key_fields_compare_with(key, a, key, b); }
