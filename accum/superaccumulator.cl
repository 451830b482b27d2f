#pragma once
// Exact sums. A superaccumulator is a row of signed digits of 32 bits, each in a long of its own so that carries can wait, and a word of flags after the
// last digit.
// A digit that has grown past 2^62 passes 2^43 on to the next one. Every addition is below 2^33 (2^45 in the last digit), so it takes half a million
// work-items adding at the same moment to overflow the room above 2^62, and a carry never overshoots.
inline void digit_add(volatile __global long *cell, uint digit, uint last, long v)
{
    while (v != 0) {
        long now = atom_add(cell + digit, v) + v;
        if (digit == last || (now < 1L << 62 && now > -(1L << 62))) return;
        v = now > 0 ? 1L << 11 : -(1L << 11);
        atom_add(cell + digit, -(v << 32));
        digit++;
    }
}
// Adds magnitude * 2^place units of digit 0, with magnitude < 2^63.
inline void superaccumulator_add_bits(volatile __global long *cell, uint last, ulong magnitude, bool negative, uint place)
{
    uint digit = place >> 5, shift = place & 31;
    ulong low = (magnitude & 0xffffffff) << shift, high = ((magnitude >> 32) << shift) + (low >> 32);
    long sign = negative ? -1 : 1;
    digit_add(cell, digit, last, sign * (long)(low & 0xffffffff));
    if (digit + 1 == last) {
        digit_add(cell, last, last, sign * (long)high);
    } else {
        digit_add(cell, digit + 1, last, sign * (long)(high & 0xffffffff));
        digit_add(cell, digit + 2, last, sign * (long)(high >> 32));
    }
}
// Adds q * 2^-s, where lowest is the exponent of digit 0.
inline void superaccumulator_add_fixed(volatile __global long *cell, uint last, int lowest, long q, int s)
{
    if (q != 0) superaccumulator_add_bits(cell, last, q < 0 ? 0 - (ulong)q : (ulong)q, q < 0, (uint)(-s - lowest));
}
enum { FLAG_NAN = 1, FLAG_INF = 2, FLAG_NEG_INF = 4, FLOAT_LAST = 8, FLOAT_LOWEST = -149, DOUBLE_LAST = 65, DOUBLE_LOWEST = -1074 };
inline void superaccumulator_flag(volatile __global long *cell, uint last, bool nan, bool negative)
{
    atomic_or((volatile __global uint *)(cell + last + 1), nan ? FLAG_NAN : negative ? FLAG_NEG_INF : FLAG_INF);
}
// Out of line: what comes here is rare, and a small record loop is quick.
__attribute__((noinline)) void superaccumulator_add_float(volatile __global long *cell, float v)
{
    uint bits = as_uint(v), exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
    if (exponent == 255) superaccumulator_flag(cell, FLOAT_LAST, fraction != 0, bits >> 31);
    else superaccumulator_add_bits(cell, FLOAT_LAST, exponent ? fraction | 0x800000 : fraction, bits >> 31, exponent ? exponent - 1 : 0);
}
