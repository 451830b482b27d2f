#pragma once
#define LEVELS_BLOCK 512
// A vector as it lies in memory, wherever it begins.
#define PACKED(type, lanes) typedef type##lanes packed_##type##lanes __attribute__((aligned(sizeof(type))));
PACKED(float, 16)
PACKED(char, 16)
PACKED(uchar, 16)
PACKED(short, 16)
PACKED(ushort, 16)
PACKED(int, 16)
PACKED(uint, 16)
PACKED(double, 16)
PACKED(double, 8)
PACKED(float, 8)
PACKED(char, 8)
PACKED(uchar, 8)
PACKED(short, 8)
PACKED(ushort, 8)
PACKED(int, 8)
PACKED(uint, 8)
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
