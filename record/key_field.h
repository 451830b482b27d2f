// SPDX-License-Identifier: Apache-2.0
// Keys in C structs: which numbers and texts of a struct are its key, and how they are packed (record/key_hash.h, record/key_texts.h).
#ifndef HDST_RECORD_KEY_FIELD_H
#define HDST_RECORD_KEY_FIELD_H

#include "record/type.h"

#include <stddef.h>

typedef struct hdst__key_field {        // a number or text of a key
    uint64_t offset;                    // in the C struct, bytes
    hdst__kind kind;
} hdst__key_field;

typedef struct hdst__key_fields {       // a key
    const hdst__key_field *field;
    size_t count, bytes;                // bytes: of the packed key
    bool has_text;
} hdst__key_fields;

enum { HDST__KEY_WORDS = 64 };          // of a packed key, at most

uint64_t hdst__key_field_read(const hdst__key_field *field, const char *row);       // its bits; signed integers extended. Of no text
// The same of rows that lie `row_bytes` apart.
void hdst__key_field_read_all(const hdst__key_field *field, const char *rows, uint64_t row_bytes, uint64_t count, uint64_t *bits);
hdst__key_fields hdst__key_fields_of(const hdst__key_field *field, size_t count);   // which must outlive it
// The packed key: as many words as hold its bytes, the rest of the last one zero.
void hdst__key_fields_pack(const hdst__key_fields *key, const char *row, uint64_t *words);
uint32_t hdst__key_fields_hash(const hdst__key_fields *key, const char *row);
// Compares the packed keys of two rows, word by word, texts by their bytes, as results of reductions by key are ordered: below 0, 0, above 0.
int hdst__key_fields_compare(const hdst__key_fields *key, const char *a, const char *b);
// The same of rows of two records: fields of both keys have the same kinds, in order.
int hdst__key_fields_compare_with(const hdst__key_fields *key, const char *a, const hdst__key_fields *key_of_b, const char *b);

#endif
