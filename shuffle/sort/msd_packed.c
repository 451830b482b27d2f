// SPDX-License-Identifier: Apache-2.0
// Records that wait in buckets, packed (shuffle/sort/msd_radix_private.h): numbers of records rarely need all bits of their fields, so two words that differ in
// 64 bits together lie in one. They are looked at, and dealt to where they come in order, as what they were.
#include "shuffle/sort/msd_radix_private.h"

#include <string.h>

enum { WORD_BITS = 64 };

typedef hdst__msd_sorting sorting;
typedef hdst__msd_packing bits_kept;
typedef hdst__msd_digit digit;
typedef hdst__msd_loops loops;

#define INLINE HDST__MSD_INLINE

INLINE uint64_t word_of(const char *row, uint64_t k, uint64_t size)
{
    uint64_t word = 0;
    memcpy(&word, row + k * sizeof word, size - k * sizeof word < sizeof word ? size - k * sizeof word : sizeof word);
    return word;
}

INLINE uint64_t pack(const bits_kept *p, const char *row, uint64_t size)
{
    uint64_t number = 0;
    for (uint64_t k = 0; k * sizeof number < size; k++) number |= (word_of(row, k, size) & p->mask[k]) << p->place[k];
    return number;
}

INLINE uint64_t number_of(const char *row)
{
    uint64_t number;
    memcpy(&number, row, sizeof number);
    return number;
}

INLINE void unpack(const bits_kept *p, const char *from, char *row, uint64_t size)
{
    const uint64_t number = number_of(from);
    for (uint64_t k = 0; k * sizeof number < size; k++) {
        const uint64_t word = p->base[k] | (number >> p->place[k] & p->mask[k]);
        memcpy(row + k * sizeof word, &word, size - k * sizeof word < sizeof word ? size - k * sizeof word : sizeof word);
    }
}

// --- Loops over records, of a size that the compiler knows ---

INLINE void differ(const char *first, const char *rows, uint64_t count, uint64_t *bits, uint64_t size)
{
    uint64_t is[HDST__MSD_WORDS] = {0}, some[HDST__MSD_WORDS] = {0};
    for (uint64_t k = 0; k * sizeof *is < size; k++) is[k] = word_of(first, k, size);
    for (uint64_t i = 0; i < count; i++, rows += size)
        for (uint64_t k = 0; k * sizeof *is < size; k++) some[k] |= word_of(rows, k, size) ^ is[k];
    for (uint64_t k = 0; k < HDST__MSD_WORDS; k++) bits[k] |= some[k];
}

INLINE void look_at(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all, uint64_t size)
{
    const bits_kept p = *s->packing;
    uint64_t some = *any, each = *all;
    char row[HDST__MSD_WORDS * sizeof some];
    for (uint64_t i = 0; i < count; i++) {
        unpack(&p, rows + i * HDST__MSD_PACKED, row, size);
        const uint64_t key = hdst__msd_key_of(s, row);
        some |= key;
        each &= key;
    }
    *any = some;
    *all = each;
}

INLINE void deal_to_chunks(sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks, uint64_t size)
{
    const bits_kept p = *s->packing;
    for (uint64_t i = 0; i < count; i++, rows += size) {
        const uint32_t b = hdst__msd_bucket_of(s, hdst__msd_key_of(s, rows));
        const uint64_t number = pack(&p, rows, size);
        hdst__msd_open *open = &chunks->open[b];
        if (open->at == open->end) chunks->next(chunks, b);
        memcpy(open->at, &number, sizeof number);
        open->at += sizeof number;
    }
}

INLINE void count_digit(sorting *s, const char *rows, uint64_t count, digit d, uint64_t *counts, uint64_t size)
{
    const bits_kept p = *s->packing;
    char row[HDST__MSD_WORDS * sizeof *counts];
    for (uint64_t i = 0; i < count; i++) {
        unpack(&p, rows + i * HDST__MSD_PACKED, row, size);
        counts[hdst__msd_digit_of(s, row, d)]++;
    }
}

INLINE void deal(sorting *s, const char *rows, uint64_t count, digit d, uint64_t *next, char *to, uint64_t size)
{
    const bits_kept p = *s->packing;
    char row[HDST__MSD_WORDS * sizeof *next];
    for (uint64_t i = 0; i < count; i++) {
        unpack(&p, rows + i * HDST__MSD_PACKED, row, size);
        memcpy(to + next[hdst__msd_digit_of(s, row, d)]++ * size, row, size);
    }
}

INLINE void copy(const sorting *s, const char *rows, uint64_t count, char *to, uint64_t size)
{
    const bits_kept p = *s->packing;
    for (uint64_t i = 0; i < count; i++) unpack(&p, rows + i * HDST__MSD_PACKED, to + i * size, size);
}

#define SIZES(X) X(12) X(16) X(20) X(24) X(32)
#define LOOPS(N) \
    static void look_at_##N(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all) { look_at(s, rows, count, any, all, N); } \
    static void deal_to_chunks_##N(sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks) \
    { deal_to_chunks(s, rows, count, chunks, N); } \
    static void count_##N(sorting *s, const char *rows, uint64_t count, const digit *d, uint64_t *counts) { count_digit(s, rows, count, *d, counts, N); } \
    static void deal_##N(sorting *s, const char *rows, uint64_t count, const digit *d, uint64_t *next, char *to) { deal(s, rows, count, *d, next, to, N); } \
    static void copy_##N(sorting *s, const char *rows, uint64_t count, char *to) { copy(s, rows, count, to, N); }
SIZES(LOOPS)

#define OF_SIZE(N) {N, {.size = HDST__MSD_PACKED, .look_at = look_at_##N, .deal_to_chunks = deal_to_chunks_##N, .count = count_##N, .deal = deal_##N, \
                        .copy = copy_##N}},
static const struct { uint64_t size; loops loops; } of_sizes[] = {SIZES(OF_SIZE)};

const loops *hdst__msd_packed_loops_of(uint64_t size)
{
    for (size_t i = 0; i < sizeof of_sizes / sizeof *of_sizes; i++)
        if (of_sizes[i].size == size) return &of_sizes[i].loops;
    return NULL;
}

#define DIFFER(N) if (size == N) differ(first, rows, count, bits, N);

void hdst__msd_differ(const char *first, const char *rows, uint64_t count, uint64_t size, uint64_t bits[HDST__MSD_WORDS])
{
    SIZES(DIFFER)
}

// --- Which bits ---

static uint32_t word_bits(uint64_t k, uint64_t size)
{
    const uint64_t bytes = size > k * HDST__MSD_PACKED ? size - k * HDST__MSD_PACKED : 0;
    return bytes < HDST__MSD_PACKED ? (uint32_t)bytes * 8 : WORD_BITS;
}

bool hdst__msd_packing_choose(bits_kept *packing, const char *first, const uint64_t differ[HDST__MSD_WORDS], uint64_t size)
{
    uint32_t bits[HDST__MSD_WORDS], used = 0, place = 0;
    for (uint64_t k = 0; k < HDST__MSD_WORDS; k++) used += bits[k] = differ[k] ? WORD_BITS - (uint32_t)__builtin_clzll(differ[k]) : 0;
    if (used > WORD_BITS) return false;
    for (uint64_t k = 0, full = 0; used < WORD_BITS && full < HDST__MSD_WORDS; k = (k + 1) % HDST__MSD_WORDS) {      // one bit for each word in turn
        full = bits[k] < word_bits(k, size) ? 0 : full + 1;
        if (full) continue;
        bits[k]++;
        used++;
    }
    for (uint64_t k = 0; k < HDST__MSD_WORDS; k++) {
        const uint64_t word = k * HDST__MSD_PACKED < size ? word_of(first, k, size) : 0;
        packing->mask[k] = bits[k] ? ~(uint64_t)0 >> (WORD_BITS - bits[k]) : 0;
        packing->base[k] = word & ~packing->mask[k];
        packing->place[k] = bits[k] ? place : 0;
        place += bits[k];
    }
    return true;
}

void hdst__msd_repack(char *rows, uint64_t count, const bits_kept *from, const bits_kept *to)
{
    for (char *at = rows; at < rows + count * HDST__MSD_PACKED; at += HDST__MSD_PACKED) {
        char row[HDST__MSD_WORDS * HDST__MSD_PACKED];
        unpack(from, at, row, sizeof row);
        const uint64_t number = pack(to, row, sizeof row);
        memcpy(at, &number, sizeof number);
    }
}
