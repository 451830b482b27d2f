// SPDX-License-Identifier: Apache-2.0
// Keys in C structs (record/key_field.h).
#include "record/key_field.h"

#include "record/key_hash.h"

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

static uint64_t align_to(uint64_t at, uint64_t size) { return (at + size - 1) / size * size; }

hdst__key_fields hdst__key_fields_of(const hdst__key_field *field, size_t count)
{
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) at = align_to(at, hdst__scalar_size(field[i].kind)) + hdst__scalar_size(field[i].kind);
    return (hdst__key_fields){field, count, (size_t)at};
}

static void key_fields_pack(const hdst__key_fields *key, const char *row, uint64_t *words)
{
    uint64_t at = 0;
    memset(words, 0, align_to(key->bytes, 8));
    for (size_t i = 0; i < key->count; i++) {
        const uint64_t size = hdst__scalar_size(key->field[i].kind);
        at = align_to(at, size);
        memcpy((char *)words + at, row + key->field[i].offset, size);       // little endian, as all of hdst's raw data
        at += size;
    }
}

uint32_t hdst__key_fields_hash(const hdst__key_fields *key, const char *row)
{
    uint64_t words[HDST__KEY_WORDS];
    key_fields_pack(key, row, words);
    return hdst__key_hash(words, key->bytes);
}

int hdst__key_fields_compare(const hdst__key_fields *key, const char *a, const char *b)
{
    uint64_t left[HDST__KEY_WORDS], right[HDST__KEY_WORDS];
    key_fields_pack(key, a, left);
    key_fields_pack(key, b, right);
    for (size_t w = 0; w < (key->bytes + 7) / 8; w++)
        if (left[w] != right[w]) return left[w] < right[w] ? -1 : 1;
    return 0;
}
