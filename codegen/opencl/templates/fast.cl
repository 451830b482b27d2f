#pragma once
// Sums of a dataset, rounded at each addition: see print_fast.c.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ADD_PRODUCT(a, b, sum) fma(a, b, sum)
#else
#define ADD_PRODUCT(a, b, sum) ((sum) + (a) * (b))
#endif
inline double fast_total(double8 v)
{
    const double4 a = v.lo + v.hi;
    const double2 b = a.lo + a.hi;
    return b.x + b.y;
}
