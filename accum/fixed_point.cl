#pragma once
#include "accum/superaccumulator.cl"
// Fixed point at the scale 2^s that was guessed from the data: `up` is 2^s, `down` 2^-s. An addend fits if |v * 2^s| < 2^40 and nothing is lost, which
// comparing the way back shows for every v: NaN, infinities and whatever over- or underflows are unequal. What does not fit is 0 in fixed point.
inline int float_scale(int s) { return clamp(s, -100, 86); }
inline float float_power(int e) { return as_float((uint)(127 + e) << 23); }
inline bool fits_float(float v, float up, float down)
{
    float x = v * up;
    return (TRUNC_FLOAT(x) * down == v) & (fabs(x) < 0x1p40f);
}
inline long fixed_float(float v, float up, float down) { return (long)(fits_float(v, up, down) ? v * up : 0.0f); }
// Two words: the second one holds what is left, in multiples of 2^-(s + 40).
inline float rest_of_float(float x) { return TRUNC_FLOAT((x - TRUNC_FLOAT(x)) * 0x1p40f); }
inline bool fits_two_float(float v, float up, float down)
{
    float x = v * up;
    return (TRUNC_FLOAT(x) * down + rest_of_float(x) * (down * 0x1p-40f) == v) & (fabs(x) < 0x1p40f);
}
inline long fixed_two_float(float v, float up, float down) { return (long)(fits_two_float(v, up, down) ? v * up : 0.0f); }
inline long rest_two_float(float v, float up, float down) { return (long)(fits_two_float(v, up, down) ? rest_of_float(v * up) : 0.0f); }
// What no block of a strip took: to the strip's word, or to the cell. Out of line, so that tens of sums are little code.
__attribute__((noinline)) void add_singly_float(__global long *word, volatile __global long *cell, float v, float up, float down)
{
    if (fits_float(v, up, down)) *word += (long)(v * up);
    else superaccumulator_add_float(cell, v);
}

// For GPUs: the addend in fixed point, 0 if it does not fit for sure, which its size tells without a way back. From
// 2^23 on a float has no fraction; below 2^22, adding 1.5 * 2^23 rounds it to a whole number. Below `least` v * 2^s
// would be lost in underflow.
inline long likely_below_float(float v, float up, float least, float limit, bool *fits)
{
    float x = v * up, size = fabs(x);
    *fits = (((size >= 0x1p23f) & (size < limit)) | ((size < 0x1p22f) & ((x + 0x1.8p23f) - 0x1.8p23f == x))) & (fabs(v) >= least);
    return (long)(*fits ? x : 0.0f);
}
inline long likely_float(float v, float up, float least, bool *fits) { return likely_below_float(v, up, least, 0x1p40f, fits); }
// Of a sum of so many addends, which may be rounded: whole units where there are many of them, or nothing is lost.
inline long rounded_float(float v, float up, float addends, bool *fits)
{
    const float x = v * up, size = fabs(x), whole = rint(x);
    *fits = ((size >= 0x1p18f) & (size < addends * 0x1p40f)) | (v == 0);
    return (long)(*fits ? whole : 0.0f);
}
inline float float_least(int s) { return s >= 0 ? 0.0f : float_power(max(-126, -149 - s)); }
// An addend of fewer bits: `limit` is 2^bits, so that no number of addends overflows a word. 0, and its bit in `exceptions`, where it does not fit.
inline long word_of_float(float v, float up, float down, float limit, uint bit, uint *exceptions)
{
    const bool fits = fits_float(v, up, down) & (fabs(v * up) < limit);
    *exceptions |= fits ? 0 : bit;
    return (long)(fits ? v * up : 0.0f);
}
// What was refused, out of line: what fits after all comes back, the rest goes to the cell.
__attribute__((noinline)) long exception_float(volatile __global long *cell, float v, float up, float down)
{
    if (fits_float(v, up, down)) return (long)(v * up);
    superaccumulator_add_float(cell, v);
    return 0;
}
