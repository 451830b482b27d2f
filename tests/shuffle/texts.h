// SPDX-License-Identifier: Apache-2.0
// What tests of reductions by text have in common: texts, records around them, and the rows that they should come to, by sorting strings with the C library and
// by the hash as record/key_hash.h and record/text_span.h describe it.
#ifndef TESTS_SHUFFLE_TEXTS_H
#define TESTS_SHUFFLE_TEXTS_H

#include "engine/engine_state.h"
#include "shuffle/aggregate/aggregate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// --- The hash, written anew ---

static inline uint64_t mixed(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#define STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t text_hash(const char *bytes, size_t length)
{
    uint64_t h = length;
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && at + k < length; k++) word |= (uint64_t)(unsigned char)bytes[at + k] << 8 * k;
        h = mixed((h ^ word) + STEP);
    }
    return h;
}

static inline uint64_t inverse_of(uint64_t odd)         // modulo 2^64
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

static inline uint64_t unshifted(uint64_t y, int by)
{
    uint64_t x = y;
    for (int i = 0; i < 64; i += by) x = y ^ x >> by;
    return x;
}

static inline uint64_t unmixed(uint64_t x)
{
    x = unshifted(x, 31) * inverse_of(UINT64_C(0x94d049bb133111eb));
    x = unshifted(x, 27) * inverse_of(UINT64_C(0xbf58476d1ce4e5b9));
    return unshifted(x, 30);
}

// The last 8 bytes that give a text of `length` bytes (a multiple of 8) this hash, behind those that are there.
static inline void end_with_hash(char *bytes, size_t length, uint64_t hash)
{
    uint64_t h = length;
    for (size_t at = 0; at + 8 < length; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        h = mixed((h ^ word) + STEP);
    }
    const uint64_t word = (unmixed(hash) - STEP) ^ h;
    memcpy(bytes + length - 8, &word, 8);
}

// --- Texts ---

typedef struct string {
    const char *bytes;
    size_t length;
    uint32_t hash;                      // of a key of this text alone
    uint64_t n;                         // records with it
} string;

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return mixed(*state);
}

static inline int compare_bytes(const void *a, const void *b)
{
    const string *x = a, *y = b;
    const int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static inline int compare_keys(const void *a, const void *b)
{
    const string *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : compare_bytes(a, b);
}

// Each text once, with the number of its records, in the order of results. Returns how many they are.
static inline size_t count_strings(string *all, size_t count)
{
    size_t kept = 0;
    qsort(all, count, sizeof *all, compare_bytes);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_bytes(&all[kept - 1], &all[i]) == 0) all[kept - 1].n += all[i].n;
        else all[kept++] = all[i];
    }
    for (size_t i = 0; i < kept; i++) all[i].hash = (uint32_t)(mixed(text_hash(all[i].bytes, all[i].length)) >> 32);
    qsort(all, kept, sizeof *all, compare_keys);
    return kept;
}

// --- Records ---

typedef struct counted { hdst__text_span key; uint64_t n; } counted;

static inline const hdst__record *make_words(hdst__arena *arena)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    const char *why;
    fields[0] = (hdst__field){.name = "key", .type = hdst__type_scalar(HDST__TEXT)};
    fields[1] = (hdst__field){.name = "n", .type = hdst__type_scalar(HDST__U64)};
    *record = (hdst__record){.name = "word", .fields = fields, .field_count = 2};
    cr_assert(hdst__record_finish(arena, record, &why));
    cr_assert_eq(record->size, sizeof(counted));
    return record;
}

#endif
