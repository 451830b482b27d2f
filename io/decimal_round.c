// SPDX-License-Identifier: Apache-2.0
// Decimal to binary numbers by one multiplication of 64 by 128 bits.
#include "io/decimal_round.h"

#include <stdbool.h>
#include <string.h>

typedef struct binary_format {
    int fraction_bits, least_exponent, infinite;    // the exponent's bits of an infinity
    int64_t least_power, most_power;                // of ten: anything is zero below, infinite above
    int64_t least_even, most_even;                  // powers of ten at which a text may lie exactly between two numbers
} binary_format;

static const binary_format of_double = {52, -1023, 0x7ff, HDST__LEAST_POWER, HDST__MOST_POWER, -4, 23};
static const binary_format of_float = {23, -127, 0xff, -64, 38, -17, 10};

typedef struct product {
    uint64_t high, low;
} product;

static product multiply(uint64_t a, uint64_t b)
{
    const unsigned __int128 both = (unsigned __int128)a * b;
    return (product){(uint64_t)(both >> 64), (uint64_t)both};
}

// The upper 128 bits of digits * 5^exponent, or as many of them as decide.
static product scale(uint64_t digits, int64_t exponent, int wanted_bits)
{
    const uint64_t *power = hdst__powers_of_five[exponent - HDST__LEAST_POWER], below = UINT64_MAX >> wanted_bits;
    product p = multiply(digits, power[0]);
    if ((p.high & below) != below) return p;
    const product more = multiply(digits, power[1]);
    p.low += more.high;
    p.high += p.low < more.high;
    return p;
}

// floor(log2(10^exponent)) + 64, for all powers of the table
static int binary_exponent(int64_t exponent) { return (int)((152170 + 65536) * exponent >> 16) + 63; }

// Where it is rounded up to 2^fraction_bits these are the bits of the least normal number.
static uint64_t denormal(uint64_t bits, int shift)
{
    if (shift >= 64) return 0;
    bits >>= shift;
    return (bits + (bits & 1)) >> 1;
}

static uint64_t round_to(uint64_t digits, int64_t exponent, const binary_format *format)
{
    const uint64_t infinity = (uint64_t)format->infinite << format->fraction_bits;
    if (!digits || exponent < format->least_power) return 0;
    if (exponent > format->most_power) return infinity;
    const int zeros = __builtin_clzll(digits);
    const product p = scale(digits << zeros, exponent, format->fraction_bits + 3);
    const int upper = (int)(p.high >> 63), shift = upper + 64 - format->fraction_bits - 3;
    uint64_t bits = p.high >> shift;        // one more than the number has
    int power = binary_exponent(exponent) + upper - zeros - format->least_exponent;
    if (power <= 0) return denormal(bits, 1 - power);
    const bool may_be_even = exponent >= format->least_even && exponent <= format->most_even;
    if (p.low <= 1 && may_be_even && (bits & 3) == 1 && bits << shift == p.high) bits &= ~UINT64_C(1);
    bits = (bits + (bits & 1)) >> 1;
    if (bits >> (format->fraction_bits + 1)) bits >>= 1, power++;
    if (power >= format->infinite) return infinity;
    return ((uint64_t)power << format->fraction_bits) | (bits & ((UINT64_C(1) << format->fraction_bits) - 1));
}

double hdst__decimal_round_double(uint64_t digits, int64_t exponent)
{
    const uint64_t bits = round_to(digits, exponent, &of_double);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float hdst__decimal_round_float(uint64_t digits, int64_t exponent)
{
    const uint32_t bits = (uint32_t)round_to(digits, exponent, &of_float);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
