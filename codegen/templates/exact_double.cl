__attribute__((noinline)) void wide_add_double(volatile __global long *cell, double v)
{
    ulong bits = as_ulong(v), fraction = bits & 0xfffffffffffffUL;
    uint exponent = (uint)(bits >> 52) & 2047;
    if (exponent == 2047) wide_flag(cell, DOUBLE_LAST, fraction != 0, bits >> 63);
    else wide_add_bits(cell, DOUBLE_LAST, exponent ? fraction | 0x10000000000000UL : fraction, bits >> 63, exponent ? exponent - 1 : 0);
}
inline int double_scale(int s) { return clamp(s, -1000, 980); }
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

inline long likely_below_double(double v, double up, double down, double limit, bool *fits)
{
    *fits = fits_double(v, up, down) & (fabs(v * up) < limit);
    return (long)(*fits ? v * up : 0.0);
}
inline long likely_double(double v, double up, double down, bool *fits) { return likely_below_double(v, up, down, 0x1p40, fits); }
__attribute__((noinline)) long settle_float_as_double(volatile __global long *cell, float v, float up, float down)
{
    if (fits_float(v, up, down)) return (long)(v * up);
    wide_add_double(cell, v);
    return 0;
}
