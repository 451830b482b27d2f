#pragma once
#include "accum/fixed_point_double.cl"
#include "accum/rounding.cl"
// Rounding with doubles (accum/rounding.cl).
inline double round_double(long count, double unit) { return (double)count * unit; }
// A number of 128 bits as one of 64 at most, whose last bit says whether anything came behind it: enough to round to a
// float or a double, once. The exponent goes to *e.
inline ulong wide_magnitude(long top, ulong rest, bool *negative, int *e)
{
    *negative = top < 0;
    if (top < 0) {
        rest = 0 - rest;
        top = ~top + (rest == 0);
    }
    *e = 0;
    if (top == 0) return rest;
    const uint z = (uint)clz((ulong)top);
    *e = 64 - (int)z;
    return (z ? (ulong)top << z | rest >> (64 - z) : (ulong)top) | (ulong)((rest << z) != 0);
}
// That number times 2^unit. `narrow`: to a float's precision.
inline double round_magnitude(long top, ulong rest, int unit, bool narrow)
{
    bool negative;
    int e;
    const ulong magnitude = wide_magnitude(top, rest, &negative, &e);
    const double rounded = narrow ? (double)(float)magnitude : (double)magnitude, sum = rounded * double_power(unit) * double_power(e);
    return negative ? -sum : sum;
}
// (high * 2^bits + low) * 2^-(s + bits).
inline double round_two_words(long high, long low, int s, uint bits, bool narrow)
{
    ulong rest = (ulong)high << bits;
    long top = high >> (64 - bits);
    rest += (ulong)low;
    top += (low < 0 ? -1 : 0) + (rest < (ulong)low ? 1 : 0);
    return round_magnitude(top, rest, -s - (int)bits, narrow);
}
inline float round_two_float(long high, long low, int s, uint bits) { return (float)round_two_words(high, low, s, bits, true); }
inline double round_two_double(long high, long low, int s, uint bits) { return round_two_words(high, low, s, bits, false); }
