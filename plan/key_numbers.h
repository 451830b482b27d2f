// SPDX-License-Identifier: Apache-2.0
// Which number a key has: the place of its first occurrence among the records of a dictionary, in a hash table of the host's memory. Keys are single numbers,
// by their bits, or texts, by their bytes.
//
// Threads: one fills it, several may ask.
#ifndef HDST_PLAN_KEY_NUMBERS_H
#define HDST_PLAN_KEY_NUMBERS_H

#include "base/cancel.h"
#include "engine/memory/reader.h"
#include "record/text_span.h"

typedef struct hdst__key_numbers {
    const hdst__allocator *allocator;
    hdst__kind kind;
    uint64_t count;             // of keys
    hdst__text_span *texts;     // by number: what it is; of numbers NULL
    uint64_t *bits;             // the same of numbers, with zeroes above
    uint64_t *slots;            // a power of two of them, at most half of which are taken: a number and 1; 0: free
    uint64_t mask;
} hdst__key_numbers;

// Reads the dictionary: records of one field of kind `kind`, whose texts stay where they are. HDST_E_MEMORY: the budget has no room for 24 to 48 bytes a key.
hdst_status hdst__key_numbers_fill(hdst__key_numbers *numbers, const hdst__allocator *allocator, const hdst__reader *dictionary, hdst__kind kind,
                                   const hdst__cancel *cancel, hdst_error *error);
void hdst__key_numbers_free(hdst__key_numbers *numbers);
// Of a value of the kind at `value`. UINT64_MAX: it is none of the keys.
uint64_t hdst__key_numbers_find(const hdst__key_numbers *numbers, const void *value);

#endif
