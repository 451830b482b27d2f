//# DOUBLES 0 | 1
#pragma once
#include "accum/fixed_point.cl"
#include "accum/fixed_point_double.cl"

// Words that sums are held in: integers, or floats in fixed point (accum/fixed_point.h). `limit` is 2^bits, so that no number of addends overflows a word.
inline void add64(volatile __local uint *low, uint stride, long v)
{
    const uint part = (uint)v, old = atomic_add(low, part), high = (uint)(v >> 32) + ((uint)(old + part) < old);
    if (high) atomic_add(low + stride, high);
}
inline void max32(volatile __local uint *word, uint key)
{
    if (key > *word) atomic_max(word, key);
}
// 0, and its bit in `misfits`, where the addend does not fit.
inline long word_of_float(float v, float up, float down, float limit, uint bit, uint *misfits)
{
    const bool fits = fits_float(v, up, down) & (fabs(v * up) < limit);
    *misfits |= fits ? 0 : bit;
    return (long)(fits ? v * up : 0.0f);
}
#if DOUBLES
inline long word_of_double(double v, double up, double down, double limit, uint bit, uint *misfits)
{
    bool fits;
    const long word = likely_below_double(v, up, down, limit, &fits);
    if (!fits) *misfits |= bit;
    return word;
}
// The whole part nearest to v * up, and what is left in units of 1 / limit of it. A product that lost bits, far below 1, leaves a rest that is no whole number.
inline long two_words_of(double v, double up, double limit, uint bit, uint *misfits, long *low)
{
    const double x = v * up, whole = rint(x), rest = (x - whole) * limit, whole_rest = rint(rest);
    const bool fits = (fabs(x) < limit) & (whole_rest == rest) & ((x != 0) | (v == 0));
    *low = fits ? (long)whole_rest : 0;
    if (!fits) *misfits |= bit;
    return fits ? (long)whole : 0;
}
// high * 2^bits + low as a number of 64 bits at most, whose last bit says whether anything came behind it: enough to
// round to a float or a double, once. The exponent goes to *e.
inline ulong magnitude_of(long high, long low, uint bits, bool *negative, int *e)
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
inline double sum_of_two(long high, long low, int s, uint bits, bool narrow)
{
    bool negative;
    int e;
    const ulong magnitude = magnitude_of(high, low, bits, &negative, &e);
    const double rounded = narrow ? (double)(float)magnitude : (double)magnitude, sum = rounded * double_power(-s - (int)bits) * double_power(e);
    return negative ? -sum : sum;
}
#endif
