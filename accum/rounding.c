// SPDX-License-Identifier: Apache-2.0
// Rounding to nearest, ties to even (accum/rounding.h), with integers alone.
#include "accum/rounding.h"

// The mantissa with its leading bit is added to the exponent field, so that carries run into the exponent, up to
// infinity; a denormal has an exponent field of zero and no such bit.
uint64_t hdst__round_nearest(hdst__kind kind, bool negative, unsigned __int128 magnitude, bool more, int32_t exponent)
{
    const hdst__float_format f = hdst__float_format_of(kind);
    if (magnitude == 0) return 0;
    const int32_t zeros = magnitude >> 64 ? __builtin_clzll((uint64_t)(magnitude >> 64)) : 64 + __builtin_clzll((uint64_t)magnitude);
    const int32_t top = exponent + 127 - zeros - f.fraction_bits, unit = top > f.lowest ? top : f.lowest;
    const int32_t cut = unit - exponent;    // bits of the magnitude that go
    const uint64_t sign = negative ? f.sign : 0, above = (uint64_t)(unit - f.lowest);
    if (above + 1 >= f.exponent_mask) return sign | f.infinity;
    if (cut > 128) return sign;                             // below a half of the smallest denormal
    uint64_t mantissa = (uint64_t)(cut > 127 ? 0 : cut > 0 ? magnitude >> cut : magnitude << -cut), up = 0;
    if (cut > 0) {
        const unsigned __int128 half = (unsigned __int128)1 << (cut - 1), rest = magnitude & (half | (half - 1));
        up = rest > half || (rest == half && (more || mantissa % 2));
    }
    const uint64_t bits = (above << f.fraction_bits) + mantissa + up;
    return sign | (bits > f.infinity ? f.infinity : bits);
}
