// SPDX-License-Identifier: Apache-2.0
// The input of tests of cancelling: pairs of a key, spread over 24 bits, and a value of 1, or the numbers of their parts.
#ifndef TESTS_SHUFFLE_PAIRS_H
#define TESTS_SHUFFLE_PAIRS_H

#include "engine/engine_state.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct pair { uint64_t key, value; } pair;

// For a record of uint32_t the part of 16 that the pair belongs to, else the pair.
static inline void fill_pairs(uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first)
{
    cr_assert(storage->record->size == sizeof(pair) || storage->record->size == sizeof(uint32_t));
    for (uint64_t i = 0; i < count; i++) {
        const pair p = {(first + i) * UINT64_C(0x9e3779b97f4a7c15) >> 40, 1};
        const uint32_t part = (uint32_t)(p.key % 16);
        for (size_t l = 0; l < storage->record->leaf_count; l++) {
            const hdst__leaf_address *at = &storage->leaf[l];
            char *to = (char *)buffers[at->buffer] + at->offset + (to_first + i) * at->stride;
            if (storage->record->size == sizeof part) memcpy(to, &part, sizeof part);
            else memcpy(to, l ? &p.value : &p.key, sizeof(uint64_t));
        }
    }
}

// Of one field `key`, or of `key` and `value`.
static inline const hdst__record *make_record(hdst__arena *arena, hdst__kind kind, size_t count)
{
    static const char *const names[] = {"key", "value"};
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    const char *why;
    for (size_t i = 0; i < count; i++) fields[i] = (hdst__field){.name = names[i], .type = hdst__type_scalar(kind)};
    *record = (hdst__record){.name = "pair", .fields = fields, .field_count = count};
    cr_assert(hdst__record_finish(arena, record, &why));
    return record;
}

#endif
