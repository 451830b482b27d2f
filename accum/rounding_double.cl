#pragma once
#include "accum/fixed_point_double.cl"
#include "accum/rounding.cl"
// Rounding with doubles (accum/rounding.cl).
inline double round_double(long count, double unit) { return (double)count * unit; }
// high * 2^bits + low as a number of 64 bits at most, whose last bit says whether anything came behind it: enough to
// round to a float or a double, once. The exponent goes to *e.
inline ulong two_words_magnitude(long high, long low, uint bits, bool *negative, int *e)
{
    ulong rest = (ulong)high << bits;
    long top = high >> (64 - bits);
    rest += (ulong)low;
    top += (low < 0 ? -1 : 0) + (rest < (ulong)low ? 1 : 0);
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
// (high * 2^bits + low) * 2^-(s + bits). `narrow`: to a float's precision.
inline double round_two_words(long high, long low, int s, uint bits, bool narrow)
{
    bool negative;
    int e;
    const ulong magnitude = two_words_magnitude(high, low, bits, &negative, &e);
    const double rounded = narrow ? (double)(float)magnitude : (double)magnitude, sum = rounded * double_power(-s - (int)bits) * double_power(e);
    return negative ? -sum : sum;
}
inline float round_two_float(long high, long low, int s, uint bits) { return (float)round_two_words(high, low, s, bits, true); }
inline double round_two_double(long high, long low, int s, uint bits) { return round_two_words(high, low, s, bits, false); }
