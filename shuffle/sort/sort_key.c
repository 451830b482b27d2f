// SPDX-License-Identifier: Apache-2.0
// Keys of C structs as unsigned numbers in the same order (shuffle/sort/sort_key.h).
#include "shuffle/sort/sort_key.h"

#include <string.h>

hdst__sort_field hdst__sort_field_of(const hdst__record *record, const hdst__sort_key *key)
{
    const hdst__leaf *leaf = &record->leaves[key->leaf];
    return (hdst__sort_field){hdst__leaf_offset(leaf, key->element), leaf->kind, (uint32_t)hdst__scalar_size(leaf->kind) * 8, key->descending};
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

uint64_t hdst__sort_prefix(const hdst__sort_field *fields, size_t count, const char *row)
{
    uint64_t prefix = 0;
    uint32_t left = 64;
    for (size_t i = 0; i < count && fields[i].bits <= left; i++) {
        left -= fields[i].bits;
        prefix |= sort_number(&fields[i], row) << left;
    }
    return prefix;
}

int hdst__sort_compare(const hdst__sort_field *fields, size_t count, const char *a, const char *b)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t left = sort_number(&fields[i], a), right = sort_number(&fields[i], b);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}
