#pragma once
#include "accum/row_words.cl"
#include "accum/rounding_double.cl"
// The same of doubles, and how a row's words become a number.
inline bool fits_row_double(double v, double up, double down)
{
    double x = v * up;
    return (TRUNC_DOUBLE(x) * down == v) & (fabs(x) < 0x1p52);
}
inline long fixed_row_double(double v, double up, double down) { return (long)(fits_row_double(v, up, down) ? v * up : 0.0); }
inline double rest_row_of_double(double x) { return TRUNC_DOUBLE((x - TRUNC_DOUBLE(x)) * 0x1p52); }
inline bool fits_row_two_double(double v, double up, double down)
{
    double x = v * up;
    return (TRUNC_DOUBLE(x) * down + rest_row_of_double(x) * (down * 0x1p-52) == v) & (fabs(x) < 0x1p52);
}
inline long fixed_row_two_double(double v, double up, double down) { return (long)(fits_row_two_double(v, up, down) ? v * up : 0.0); }
inline long rest_row_two_double(double v, double up, double down) { return (long)(fits_row_two_double(v, up, down) ? rest_row_of_double(v * up) : 0.0); }
inline double row_value(const long *own, int s, bool narrow) { return round_magnitude(own[1], (ulong)own[0], -s, narrow); }
inline float row_round_float(const long *own, int s) { return (float)row_value(own, s, true); }
inline double row_round_double(const long *own, int s) { return row_value(own, s, false); }
// The same of words of 64 bits: high * 2^52 + low. Where the upper one fits a double, so does what is left of the other below 2^52, and one fma rounds.
inline double row_whole_wide(long high, long low, int s, bool narrow)
{
    long own[4] = {high, high >> 63, low, low >> 63};
    row_join(own, own + 2);
    return row_value(own, s + 52, narrow);
}
inline float row_whole_float(long high, long low, int s) { return (float)row_whole_wide(high, low, s, true); }
inline double row_whole_double(long high, long low, int s)
{
    const long top = high + (low >> 52), rest = low & ((1L << 52) - 1);
    if (top >= 1L << 53 || top <= -(1L << 53)) return row_whole_wide(high, low, s, false);
    return fma((double)top, 0x1p52, (double)rest) * double_power(-s - 52);
}
