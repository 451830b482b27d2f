// SPDX-License-Identifier: Apache-2.0
// Keys of C structs as unsigned numbers in the same order.
#ifndef HDST_SHUFFLE_SORT_SORT_KEY_H
#define HDST_SHUFFLE_SORT_SORT_KEY_H

#include "record/text_span.h"
#include "shuffle/sort/sort.h"

typedef struct hdst__sort_field {   // a key of a C struct
    uint64_t offset;
    hdst__kind kind;
    uint32_t bits;                  // 8 to 64; of a text 128
    bool descending;
} hdst__sort_field;

hdst__sort_field hdst__sort_field_of(const hdst__record *record, const hdst__sort_key *key);
// The number: its lowest `bits` bits. Floats: the sign moved so that all bits count upward (Herf, "Radix tricks", 2001).
// The first keys, as many as fit 64 bits, the weightiest highest; of a text the first bytes. Rows with different prefixes are in their order.
bool hdst__sort_has_texts(const hdst__sort_field *fields, size_t count);
// Of a text eight bytes from `from` on as a number in their order; behind its end they are zero.
uint64_t hdst__sort_text_prefix(const hdst__sort_field *field, const hdst__text_span *span, uint64_t from);
uint64_t hdst__sort_prefix(const hdst__sort_field *fields, size_t count, const char *row);
// < 0, 0, > 0: where `a` stands to `b`.
int hdst__sort_compare(const hdst__sort_field *fields, size_t count, const char *a, const char *b);

#endif
