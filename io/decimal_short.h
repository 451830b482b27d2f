// SPDX-License-Identifier: Apache-2.0
// Numbers of up to eight digits before and up to eight behind the point, which most numbers of text files are: their digits are found and put together eight
// at a time, in a word.
#ifndef HDST_IO_DECIMAL_SHORT_H
#define HDST_IO_DECIMAL_SHORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HDST__SHORT_DECIMAL_BYTES = 24 };    // that must be readable from a number's start, whatever they are

// Bytes in memory's order, the first one lowest.
static inline uint64_t hdst__eight_bytes(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// The upper bit of each byte that is no digit.
static inline uint64_t hdst__no_digits(uint64_t word)
{
    const uint64_t low = (word & UINT64_C(0x7f7f7f7f7f7f7f7f)) ^ UINT64_C(0x3030303030303030);      // digits are 0 to 9 now, and nothing else is
    return ((low + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
}

static inline bool hdst__are_eight_digits(const char *p) { return !hdst__no_digits(hdst__eight_bytes(p)); }

// The value of eight digits, the first one in the lowest byte: pairs, then fours, then all.
static inline uint64_t hdst__join_digits(uint64_t word)
{
    word &= UINT64_C(0x0f0f0f0f0f0f0f0f);
    word = (word * ((10 << 8) + 1)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * ((100 << 16) + 1)) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return word * ((UINT64_C(10000) << 32) + 1) >> 32;
}

static inline uint64_t hdst__eight_digits(const char *p) { return hdst__join_digits(hdst__eight_bytes(p)); }

// How many of the eight bytes are digits before the first that is none.
static inline uint32_t hdst__leading_digits(uint64_t word)
{
    const uint64_t others = hdst__no_digits(word);
    return others ? (uint32_t)__builtin_ctzll(others) / 8 : 8;
}

// The value of the first `count` (1 to 8) digits.
static inline uint64_t hdst__first_digits(uint64_t word, uint32_t count) { return hdst__join_digits(word << (64 - 8 * count)); }

typedef struct hdst__short_decimal {
    uint64_t digits;
    uint32_t places;        // of the digits that stand behind the point
    bool negative, whole;   // whole: without a point
} hdst__short_decimal;

// Reads the number at p and returns its end, where any byte may stand, also one that makes it a longer number. NULL: it is not that short, or none.
static inline const char *hdst__short_decimal_read(const char *p, hdst__short_decimal *d)
{
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    d->negative = *p == '-';
    p += d->negative | (*p == '+');
    const uint64_t word = hdst__eight_bytes(p);
    const uint32_t count = hdst__leading_digits(word);
    if (!count) return NULL;
    d->digits = hdst__first_digits(word, count);
    p += count;
    d->places = 0;
    d->whole = *p != '.';
    if (d->whole) return count < 8 || (unsigned char)(*p - '0') > 9 ? p : NULL;
    const uint64_t behind = hdst__eight_bytes(++p);
    const uint32_t places = hdst__leading_digits(behind);
    if (places) d->digits = d->digits * tens[places] + hdst__first_digits(behind, places);
    d->places = places;
    p += places;
    return places < 8 || (unsigned char)(*p - '0') > 9 ? p : NULL;
}

// The number that is nearest: digits and power of ten are exact, so the division is all that rounds. false: there are more digits than a double
// has.
// Rounded again it is the nearest float: a text that is not exactly between two floats is 2^(e-24) / 5^8 or further from there where it lies between 2^e and
// 2^(e+1), above 2^16 it is 2^-8 / 5^8 or further, and the double is nearer to the text than that, 2^(e-53), for all that eight digits reach.
static inline bool hdst__short_decimal_double(const hdst__short_decimal *d, double *value)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    if (d->digits > UINT64_C(1) << 53) return false;
    const int64_t sign = -(int64_t)d->negative, digits = ((int64_t)d->digits ^ sign) - sign;     // without a branch: nobody can guess the sign
    *value = digits || !d->negative ? (double)digits / tens[d->places] : -0.0;
    return true;
}

#endif
