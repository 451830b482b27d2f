// SPDX-License-Identifier: Apache-2.0
// Keys of C structs as unsigned numbers in the same order.
#ifndef HDST_SHUFFLE_SORT_SORT_KEY_H
#define HDST_SHUFFLE_SORT_SORT_KEY_H

#include "record/text_span.h"
#include "shuffle/sort/sort.h"

#include <string.h>

typedef struct hdst__sort_field {   // a key of a C struct
    uint64_t offset;
    hdst__kind kind;
    uint32_t bits;                  // 8 to 64; of a text 128
    bool descending;
} hdst__sort_field;

hdst__sort_field hdst__sort_field_of(const hdst__record *record, const hdst__sort_key *key);

typedef enum hdst__sort_class { HDST__SORT_UNSIGNED, HDST__SORT_SIGNED, HDST__SORT_FLOAT, HDST__SORT_BOOL } hdst__sort_class;
hdst__sort_class hdst__sort_class_of(const hdst__sort_field *field);

// The lowest `bits` bits: loads whose size is known in each case.
static inline uint64_t hdst__sort_bits(const char *at, uint32_t bits)
{
    uint64_t word = 0;
    switch (bits) {             // little endian, as all of hdst's raw data
    case 8: return (uint8_t)*at;
    case 16: memcpy(&word, at, 2); return word;
    case 32: memcpy(&word, at, 4); return word;
    default: memcpy(&word, at, 8); return word;
    }
}

// The number of a key that is no text: its lowest `bits` bits. Floats: the sign moved so that all bits count upward (Herf, "Radix tricks", 2001).
static inline uint64_t hdst__sort_number(const hdst__sort_field *field, hdst__sort_class class, const char *row)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - field->bits), sign = (uint64_t)1 << (field->bits - 1);
    uint64_t number = hdst__sort_bits(row + field->offset, field->bits);
    if (class == HDST__SORT_FLOAT) number ^= number & sign ? all : sign;
    else if (class == HDST__SORT_SIGNED) number ^= sign;
    else if (class == HDST__SORT_BOOL) number = number != 0;
    return field->descending ? number ^ all : number;
}

// The first keys, as many as fit 64 bits, the weightiest highest; of a text the first bytes. Rows with different prefixes are in their order.
bool hdst__sort_has_texts(const hdst__sort_field *fields, size_t count);
// Of a text eight bytes from `from` on as a number in their order; behind its end they are zero.
uint64_t hdst__sort_text_prefix(const hdst__sort_field *field, const hdst__text_span *span, uint64_t from);
uint64_t hdst__sort_prefix(const hdst__sort_field *fields, size_t count, const char *row);
// < 0, 0, > 0: where `a` stands to `b`.
int hdst__sort_compare(const hdst__sort_field *fields, size_t count, const char *a, const char *b);

#endif
