// SPDX-License-Identifier: Apache-2.0
// Words by Zipf's law, and lines of them in memory: all of 12 words, or with numbers of words that follow the law too, from 1 to 4096.
#ifndef HDST_BENCH_ZIPF_TEXT_H
#define HDST_BENCH_ZIPF_TEXT_H

#include "bench/bench.h"
#include "hdst/hdst.h"

// Number i of `count` comes with 1 / (i + 1) of the whole. (Walker's alias method: a number and a coin give a rank.)
typedef struct zipf_law { uint32_t *other; double *keep; uint64_t count; } zipf_law;

static inline zipf_law zipf_law_of(uint64_t count)
{
    zipf_law law = {malloc(count * sizeof *law.other), malloc(count * sizeof *law.keep), count};
    uint32_t *small = malloc(count * sizeof *small), *large = malloc(count * sizeof *large);
    double all = 0;
    uint64_t smalls = 0, larges = 0;
    for (uint64_t i = 0; i < count; i++) all += 1.0 / (double)(i + 1);
    for (uint64_t i = 0; i < count; i++) {
        law.other[i] = (uint32_t)i;
        law.keep[i] = 1.0 / (double)(i + 1) / all * (double)count;
        if (law.keep[i] < 1) small[smalls++] = (uint32_t)i;
        else large[larges++] = (uint32_t)i;
    }
    while (smalls && larges) {
        const uint32_t s = small[--smalls], t = large[larges - 1];
        law.other[s] = t;
        law.keep[t] -= 1 - law.keep[s];
        if (law.keep[t] < 1) small[smalls++] = large[--larges];
    }
    free(small);
    free(large);
    return law;
}

static inline void zipf_law_end(zipf_law *law)
{
    free(law->other);
    free(law->keep);
}

static inline uint64_t zipf_rank(const zipf_law *law, uint64_t random)
{
    const uint64_t rank = (random >> 32) * law->count >> 32;
    return (double)(uint32_t)random * 0x1p-32 < law->keep[rank] ? rank : law->other[rank];
}

// Words have 4 to 12 bytes, 7 on average, frequent ones the short ones.
static inline hdst_text_span zipf_word(uint64_t rank)
{
    char bytes[12];
    uint64_t letters = rank * 7919 % 456976, random = bench_random(rank);
    uint32_t length = 4 + (rank < 200 ? 0 : rank < 5000 ? (uint32_t)(random % 4) : (uint32_t)(random % 9));
    for (uint32_t i = 0; i < length; i++) {
        bytes[i] = (char)('a' + (i < 4 ? letters % 26 : random >> 5 * i & 15));
        letters /= 26;
    }
    return hdst_text_span_of(bytes, length);
}

static inline hdst_text_span *zipf_words(uint64_t count)
{
    hdst_text_span *words = malloc(count * sizeof *words);
    for (uint64_t i = 0; i < count; i++) words[i] = zipf_word(i);
    return words;
}

// --- Lines ---

enum { ZIPF_TEXT_WORDS = 200000, ZIPF_TEXT_EVEN = 12, ZIPF_TEXT_LONGEST = 4096 };

// Fills `bytes` bytes with lines of words, the last ones with ends of lines.
static inline void zipf_text(char *text, uint64_t bytes, bool even)
{
    zipf_law words = zipf_law_of(ZIPF_TEXT_WORDS), lengths = zipf_law_of(ZIPF_TEXT_LONGEST);
    hdst_text_span *word = zipf_words(ZIPF_TEXT_WORDS);
    uint64_t at = 0, left = 0;
    for (uint64_t i = 0; at + sizeof word[0] <= bytes; i++) {
        const hdst_text_span *next = &word[zipf_rank(&words, bench_random(2 * i))];
        if (left == 0) left = even ? ZIPF_TEXT_EVEN : 1 + zipf_rank(&lengths, bench_random(2 * i + 1));
        memcpy(text + at, hdst_text_bytes(next), next->length);
        at += next->length;
        text[at++] = --left ? ' ' : '\n';
    }
    memset(text + at, '\n', bytes - at);
    zipf_law_end(&words);
    zipf_law_end(&lengths);
    free(word);
}

#endif
