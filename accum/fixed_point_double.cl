#pragma once
#include "accum/fixed_point.cl"
#include "accum/superaccumulator_double.cl"
inline int double_scale(int s) { return clamp(s, -970, 980); }
inline double double_power(int e) { return as_double((ulong)(1023 + e) << 52); }
inline bool fits_double(double v, double up, double down)
{
    double x = v * up;
    return (TRUNC_DOUBLE(x) * down == v) & (fabs(x) < 0x1p40);
}
inline long fixed_double(double v, double up, double down) { return (long)(fits_double(v, up, down) ? v * up : 0.0); }
inline double rest_of_double(double x) { return TRUNC_DOUBLE((x - TRUNC_DOUBLE(x)) * 0x1p40); }
inline bool fits_two_double(double v, double up, double down)
{
    double x = v * up;
    return (TRUNC_DOUBLE(x) * down + rest_of_double(x) * (down * 0x1p-40) == v) & (fabs(x) < 0x1p40);
}
inline long fixed_two_double(double v, double up, double down) { return (long)(fits_two_double(v, up, down) ? v * up : 0.0); }
inline long rest_two_double(double v, double up, double down) { return (long)(fits_two_double(v, up, down) ? rest_of_double(v * up) : 0.0); }

// GPU form: the whole part of v * up in one word, what is left in units of 2^-40 in the other, found by rounding:
// beside 1.5 * 2^52 a number below 2^51 has its whole part in its last bits. Zeros where they do not hold v.
inline bool split_double(double v, double up, long *high, long *low)
{
    const double beside = 0x1.8p52, x = v * up, whole = x + beside, rest = (x - (whole - beside)) * 0x1p40, whole_rest = rest + beside;
    const bool fits = (fabs(x) < 0x1p40) & (whole_rest - beside == rest) & ((x != 0) | (v == 0));      // what v * up lost is a part of the rest, or all of it
    *high = fits ? (long)(as_ulong(whole) - as_ulong(beside)) : 0;
    *low = fits ? (long)(as_ulong(whole_rest) - as_ulong(beside)) : 0;
    return fits;
}
// GPU form: a sum of floats in two doubles for the at most 1024 records of a work-group. The first begins as 1.5 * 2^52 units of the word, beside which an
// addend below `most`, 2^40 of them, is rounded to whole units; the second takes what was cut off. Both are exact: at the end the one is a whole number
// below 2^50, and the other one of 2^-40 units, for an addend of `least`, 2^-17 units, has its last bit there. Smaller ones do not fit.
inline void twofold_add(double *high, double *low, float v, float most, float least, bool *fits)
{
    const float size = fabs(v);
    *fits = (size < most) & ((size >= least) | (v == 0));
    const double x = *fits ? v : 0.0f, sum = *high + x;
    *low += x - (sum - *high);
    *high = sum;
}
// Without a test: sizes of operands tell behind the records whether all addends fitted. Sizes are those of a float's bits without its sign: x is the
// largest, y the smallest but one below zero, which no zero is. Multiplying is monotonic, so the product of the largest sizes is no smaller than any
// addend, and that of the smallest ones no larger than any but zero. NaN and infinities are the largest.
#define NO_SIZES ((uint2)(0, 0xffffffff))
#define SIZES_OF_ONE ((uint2)(0x7f000000, 0x7effffff))
inline uint2 size_seen(uint2 sizes, float v)
{
    const uint size = as_uint(v) << 1;
    return (uint2)(max(sizes.x, size), min(sizes.y, size - 1));
}
inline bool twofold_fits(uint2 a, uint2 b, float most, float least)
{
    const bool zeros = a.y == 0xffffffff || b.y == 0xffffffff;
    return as_float(a.x >> 1) * as_float(b.x >> 1) < most && (zeros || as_float((a.y + 1) >> 1) * as_float((b.y + 1) >> 1) >= least);
}
// A sum of floats that is a double, of at most 512 records: exact where all are whole numbers of 2^-4 units of the word and below 2^40 units, as it stays below
// 2^49 of them then. `beside` is 1.5 * 2^48 units, beside which what is below 2^-4 is rounded away.
inline void tile_add(__local double *sum, float v, double beside, bool *exact, uint *largest)
{
    const double x = v, kept = (x + beside) - beside;
    *exact &= kept == x;
    *largest = max(*largest, as_uint(v) << 1);
    *sum += x;
}
inline void twofold_put(double *high, double *low, float v)
{
    const double x = v, sum = *high + x;
    *low += x - (sum - *high);
    *high = sum;
}
__attribute__((noinline)) void exception_twofold(volatile __global long *cell, float v) { superaccumulator_add_float(cell, v); }
inline long likely_below_double(double v, double up, double down, double limit, bool *fits)
{
    *fits = fits_double(v, up, down) & (fabs(v * up) < limit);
    return (long)(*fits ? v * up : 0.0);
}
inline long likely_double(double v, double up, double down, bool *fits) { return likely_below_double(v, up, down, 0x1p40, fits); }
__attribute__((noinline)) long exception_float_as_double(volatile __global long *cell, float v, float up, float down)
{
    if (fits_float(v, up, down)) return (long)(v * up);
    superaccumulator_add_double(cell, v);
    return 0;
}
// Addends of fewer bits, as word_of_float has them.
inline long word_of_double(double v, double up, double down, double limit, uint bit, uint *exceptions)
{
    bool fits;
    const long word = likely_below_double(v, up, down, limit, &fits);
    if (!fits) *exceptions |= bit;
    return word;
}
// The whole part nearest to v * up, and what is left in units of 1 / limit of it. A product that lost bits, far below 1, leaves a rest that is no whole
// number.
inline long two_words_of(double v, double up, double limit, uint bit, uint *exceptions, long *low)
{
    const double x = v * up, whole = rint(x), rest = (x - whole) * limit, whole_rest = rint(rest);
    const bool fits = (fabs(x) < limit) & (whole_rest == rest) & ((x != 0) | (v == 0));
    *low = fits ? (long)whole_rest : 0;
    if (!fits) *exceptions |= bit;
    return fits ? (long)whole : 0;
}
