#pragma once
#include "accum/superaccumulator.cl"
#include "accum/fixed_point.cl"
// Sums of rows whose records stand one behind the other: words of a block of at most 2048 records, of which an addend is below 2^52 in each. So no order
// of them overflows a word, and what a block comes to is added to 128 bits, the low half first.
inline void row_add(long *own, long v)
{
    const ulong low = (ulong)own[0] + (ulong)v;
    own[1] += (v >> 63) + (low < (ulong)v ? 1 : 0);
    own[0] = (long)low;
}
// own * 2^52 + below.
inline void row_join(long *own, const long *below)
{
    const ulong shifted = (ulong)own[0] << 52, low = shifted + (ulong)below[0];
    own[1] = (long)((ulong)own[1] << 52 | (ulong)own[0] >> 12) + below[1] + (low < shifted ? 1 : 0);
    own[0] = (long)low;
}
// Adds own * 2^-s.
inline void row_spill(volatile __global long *cell, uint last, int lowest, const long *own, int s)
{
    const bool negative = own[1] < 0;
    const ulong low = negative ? 0 - (ulong)own[0] : (ulong)own[0], high = negative ? ~(ulong)own[1] + (low == 0 ? 1 : 0) : (ulong)own[1];
    if (low != 0) superaccumulator_add_bits(cell, last, low, negative, (uint)(-s - lowest));
    if (high != 0) superaccumulator_add_bits(cell, last, high, negative, (uint)(64 - s - lowest));
}
inline bool fits_row_float(float v, float up, float down)
{
    float x = v * up;
    return (TRUNC_FLOAT(x) * down == v) & (fabs(x) < 0x1p52f);
}
inline long fixed_row_float(float v, float up, float down) { return (long)(fits_row_float(v, up, down) ? v * up : 0.0f); }
inline float rest_row_of_float(float x) { return TRUNC_FLOAT((x - TRUNC_FLOAT(x)) * 0x1p52f); }
inline bool fits_row_two_float(float v, float up, float down)
{
    float x = v * up;
    return (TRUNC_FLOAT(x) * down + rest_row_of_float(x) * (down * 0x1p-52f) == v) & (fabs(x) < 0x1p52f);
}
inline long fixed_row_two_float(float v, float up, float down) { return (long)(fits_row_two_float(v, up, down) ? v * up : 0.0f); }
inline long rest_row_two_float(float v, float up, float down) { return (long)(fits_row_two_float(v, up, down) ? rest_row_of_float(v * up) : 0.0f); }
