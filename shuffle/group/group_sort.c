// SPDX-License-Identifier: Apache-2.0
// Numbers in order: a radix sort that is stable, from the lowest digit up (Knuth, The Art of Computer Programming, vol. 3, 5.2.5), over words where the number and the
// place of a record fit one, else over pairs of words; and a merge sort of the few records whose keys share a hash.
#include "shuffle/group/group.h"

#include "engine/engine_private.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, WORD_DIGIT_BITS = 11, WORD_DIGITS = 1 << WORD_DIGIT_BITS };

// --- Pairs ---

static void scatter(const hdst__group_entry *from, hdst__group_entry *to, uint64_t count, unsigned shift, const uint64_t counts[DIGITS])
{
    uint64_t next[DIGITS], sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        next[d] = sum;
        sum += counts[d];
    }
    for (uint64_t i = 0; i < count; i++) to[next[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

hdst__group_entry *hdst__group_order_numbers(hdst__group_entry *entries, hdst__group_entry *scratch, uint64_t count)
{
    uint64_t differing = 0;
    for (uint64_t i = 1; i < count; i++) differing |= entries[i].key ^ entries[0].key;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        uint64_t counts[DIGITS] = {0};
        if (!(differing >> shift & (DIGITS - 1))) continue;
        for (uint64_t i = 0; i < count; i++) counts[entries[i].key >> shift & (DIGITS - 1)]++;
        scatter(entries, scratch, count, shift, counts);
        hdst__group_entry *sorted = scratch;
        scratch = entries;
        entries = sorted;
    }
    return entries;
}

// --- Words: the number above, the place below ---

static void begin_digits(const uint64_t counts[WORD_DIGITS], uint64_t next[WORD_DIGITS])
{
    uint64_t sum = 0;
    for (unsigned d = 0; d < WORD_DIGITS; d++) {
        next[d] = sum;
        sum += counts[d];
    }
}

uint64_t *hdst__group_order_words(uint64_t *words, uint64_t *scratch, uint64_t count)
{
    uint64_t differing = 0, counts[WORD_DIGITS], next[WORD_DIGITS];
    for (uint64_t i = 1; i < count; i++) differing |= words[i] ^ words[0];
    for (unsigned shift = 32; shift < 64; shift += WORD_DIGIT_BITS) {
        if (!(differing >> shift & (WORD_DIGITS - 1))) continue;
        memset(counts, 0, sizeof counts);
        for (uint64_t i = 0; i < count; i++) counts[words[i] >> shift & (WORD_DIGITS - 1)]++;
        begin_digits(counts, next);
        for (uint64_t i = 0; i < count; i++) scratch[next[words[i] >> shift & (WORD_DIGITS - 1)]++] = words[i];
        uint64_t *sorted = scratch;
        scratch = words;
        words = sorted;
    }
    return words;
}

// --- Several keys with one hash ---

typedef struct ties {
    const hdst__group *group;
    const char *rows;
    size_t words;
} ties;

static int compare(const ties *t, uint64_t a, uint64_t b)
{
    uint64_t left[HDST__KEY_WORDS], right[HDST__KEY_WORDS];
    const hdst__group *g = t->group;
    hdst__group_pack(g, t->rows + a * g->record->size, left);
    hdst__group_pack(g, t->rows + b * g->record->size, right);
    for (size_t w = 0; w < t->words; w++)
        if (left[w] != right[w]) return left[w] < right[w] ? -1 : 1;
    return 0;
}

static void merge(const ties *t, const uint64_t *from, uint64_t *to, uint64_t first, uint64_t middle, uint64_t end)
{
    uint64_t a = first, b = middle;
    for (uint64_t i = first; i < end; i++) {
        const bool left = a < middle && (b == end || compare(t, from[a], from[b]) <= 0);
        to[i] = left ? from[a++] : from[b++];
    }
}

// Merged from the bottom up: the array of the two that holds the result.
static const uint64_t *merge_sort(const ties *t, uint64_t *from, uint64_t *to, uint64_t count)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            const uint64_t middle = count - first < width ? count : first + width, end = count - middle < width ? count : middle + width;
            merge(t, from, to, first, middle, end);
        }
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

bool hdst__group_order_rows(const hdst__group *g, char *rows, uint64_t count)
{
    const hdst__allocator *allocator = g->engine->allocator;
    const uint64_t size = g->record->size;
    const ties t = {g, rows, (g->key_bytes + 7) / 8};
    uint64_t *places = hdst__alloc(allocator, 2 * count * sizeof *places);
    char *copy = hdst__alloc(allocator, count * size);
    if (places && copy) {
        for (uint64_t i = 0; i < count; i++) places[i] = i;
        const uint64_t *sorted = merge_sort(&t, places, places + count, count);
        for (uint64_t i = 0; i < count; i++) memcpy(copy + i * size, rows + sorted[i] * size, size);
        memcpy(rows, copy, count * size);
    }
    const bool done = places && copy;
    hdst__free(allocator, places);
    hdst__free(allocator, copy);
    return done;
}
