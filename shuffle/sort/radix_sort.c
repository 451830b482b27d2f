// SPDX-License-Identifier: Apache-2.0
// Numbers in order on the host (shuffle/sort/radix_sort.h): from the lowest digit up (Knuth, The Art of Computer Programming, vol. 3, 5.2.5).
#include "shuffle/sort/radix_sort.h"

#include "base/costs_host.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, WORD_DIGIT_BITS = 11, WORD_DIGITS = 1 << WORD_DIGIT_BITS };

// --- Entries ---

static uint64_t end_of_block(uint64_t first, uint64_t count) { return count - first < HDST__HOST_CANCEL_RECORDS ? count : first + HDST__HOST_CANCEL_RECORDS; }

// false: cancelled, as below.
static bool count_digits(const hdst__radix_entry *from, uint64_t count, unsigned shift, uint64_t counts[DIGITS], const hdst__cancel *cancel)
{
    memset(counts, 0, DIGITS * sizeof *counts);
    for (uint64_t i = 0; i < count;) {
        if (hdst__cancel_asked(cancel)) return false;
        for (const uint64_t end = end_of_block(i, count); i < end; i++) counts[from[i].key >> shift & (DIGITS - 1)]++;
    }
    return true;
}

static bool scatter(const hdst__radix_entry *from, hdst__radix_entry *to, uint64_t count, unsigned shift, const uint64_t counts[DIGITS],
                    const hdst__cancel *cancel)
{
    uint64_t next[DIGITS], sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        next[d] = sum;
        sum += counts[d];
    }
    for (uint64_t i = 0; i < count;) {
        if (hdst__cancel_asked(cancel)) return false;
        for (const uint64_t end = end_of_block(i, count); i < end; i++) to[next[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    }
    return true;
}

hdst__radix_entry *hdst__radix_sort_entries(hdst__radix_entry *entries, hdst__radix_entry *scratch, uint64_t count, const hdst__cancel *cancel)
{
    uint64_t differing = 0;
    for (uint64_t i = 1; i < count; i++) differing |= entries[i].key ^ entries[0].key;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        uint64_t counts[DIGITS];
        if (!(differing >> shift & (DIGITS - 1))) continue;
        if (!count_digits(entries, count, shift, counts, cancel) || !scatter(entries, scratch, count, shift, counts, cancel)) return NULL;
        hdst__radix_entry *sorted = scratch;
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

uint64_t *hdst__radix_sort_words(uint64_t *words, uint64_t *scratch, uint64_t count)
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

// --- By comparing ---

static void merge(const uint64_t *from, uint64_t *to, uint64_t first, uint64_t middle, uint64_t end, hdst__compare_words compare, const void *user)
{
    uint64_t a = first, b = middle;
    for (uint64_t i = first; i < end; i++) {
        const bool left = a < middle && (b == end || compare(user, from[a], from[b]) <= 0);
        to[i] = left ? from[a++] : from[b++];
    }
}

uint64_t *hdst__merge_sort_words(uint64_t *words, uint64_t *scratch, uint64_t count, hdst__compare_words compare, const void *user)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            const uint64_t middle = count - first < width ? count : first + width, end = count - middle < width ? count : middle + width;
            merge(words, scratch, first, middle, end, compare, user);
        }
        uint64_t *sorted = scratch;
        scratch = words;
        words = sorted;
    }
    return words;
}
