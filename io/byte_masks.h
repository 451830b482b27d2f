// SPDX-License-Identifier: Apache-2.0
// Which of 64 bytes are what: one bit for each, the first byte's the lowest. After G. Langdale and D. Lemire, "Parsing gigabytes of JSON per second", The VLDB
// Journal 28 (2019).
#ifndef HDST_IO_BYTE_MASKS_H
#define HDST_IO_BYTE_MASKS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// For processors without these vectors: eight bytes of a word at a time.
typedef struct hdst__word_bytes {
    uint64_t word[8];
} hdst__word_bytes;

static inline hdst__word_bytes hdst__word_bytes_load(const char *p)
{
    hdst__word_bytes bytes;
    memcpy(bytes.word, p, sizeof bytes.word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int i = 0; i < 8; i++) bytes.word[i] = __builtin_bswap64(bytes.word[i]);
#endif
    return bytes;
}

// The upper bits of the bytes of a word, together.
static inline uint64_t hdst__upper_bits(uint64_t word)
{
    return ((word >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t hdst__word_bytes_equal(const hdst__word_bytes *bytes, char c)
{
    const uint64_t all = UINT64_C(0x0101010101010101) * (unsigned char)c, low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        const uint64_t other = bytes->word[i] ^ all;        // zero where equal
        mask |= hdst__upper_bits(~(((other & low) + low) | other)) << 8 * i;
    }
    return mask;
}

// Letters of ASCII of either case, and few others: bytes from 0x41 to 0x7f.
static inline uint64_t hdst__word_bytes_letters(const hdst__word_bytes *bytes)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), below = UINT64_C(0x3f3f3f3f3f3f3f3f);
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) mask |= hdst__upper_bits(((bytes->word[i] & low) + below) & ~bytes->word[i]) << 8 * i;
    return mask;
}

#ifdef __SSE2__
typedef struct hdst__bytes {
    __m128i part[4];
} hdst__bytes;

static inline hdst__bytes hdst__bytes_load(const char *p)
{
    hdst__bytes bytes;
    for (int i = 0; i < 4; i++) bytes.part[i] = _mm_loadu_si128((const __m128i *)(p + 16 * i));
    return bytes;
}

static inline uint64_t hdst__bytes_equal(const hdst__bytes *bytes, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes->part[i], _mm_set1_epi8(c))) << 16 * i;
    return mask;
}

static inline uint64_t hdst__bytes_letters(const hdst__bytes *bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(bytes->part[i], _mm_set1_epi8(0x40))) << 16 * i;
    return mask;
}
#else
typedef hdst__word_bytes hdst__bytes;
static inline hdst__bytes hdst__bytes_load(const char *p) { return hdst__word_bytes_load(p); }
static inline uint64_t hdst__bytes_equal(const hdst__bytes *bytes, char c) { return hdst__word_bytes_equal(bytes, c); }
static inline uint64_t hdst__bytes_letters(const hdst__bytes *bytes) { return hdst__word_bytes_letters(bytes); }
#endif

#endif
