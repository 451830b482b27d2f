#pragma once
#define LEVELS_BLOCK 512
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LESS(a, b) fma(a, one, -(b))
#else
#define LESS(a, b) ((a) - (b))
#endif
inline bool any_bit_float(uint16 v)
{
    const uint8 a = v.lo | v.hi;
    const uint4 b = a.lo | a.hi;
    const uint2 c = b.lo | b.hi;
    return (c.x | c.y) != 0;
}
inline bool any_bit_double(ulong8 v)
{
    const ulong4 a = v.lo | v.hi;
    const ulong2 b = a.lo | a.hi;
    return (b.x | b.y) != 0;
}
