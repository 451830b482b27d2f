#pragma once
// Minimum and maximum: a monotone unsigned key whose largest value wins; 0 is the identity (an integer type's last value, an infinity), NaN wins over all.

#define INTEGER_KEYS(T, U)                                                                                 \
    inline ulong max_key_##T(T v) { return (U)((U)v ^ ((T)-1 < (T)1 ? (U)1 << (sizeof(T) * 8 - 1) : (U)0)); }        \
    inline ulong min_key_##T(T v) { return (U)~(U)max_key_##T(v); }
INTEGER_KEYS(char, uchar)
INTEGER_KEYS(short, ushort)
INTEGER_KEYS(int, uint)
INTEGER_KEYS(long, ulong)
INTEGER_KEYS(uchar, uchar)
INTEGER_KEYS(ushort, ushort)
INTEGER_KEYS(uint, uint)
INTEGER_KEYS(ulong, ulong)
inline ulong max_key_bool(bool v) { return v ? 1 : 0; }
inline ulong min_key_bool(bool v) { return v ? 0 : 1; }
// INF: the bits of infinity. Ranks run from -infinity, 0, to +infinity, 2 INF + 1, with -0 just below +0; the key after the last rank is NaN's.
#define FLOAT_KEYS(T, B, INF)                                                                              \
    inline ulong rank_of_##T(T v)                                                                          \
    {                                                                                                      \
        B magnitude = as_##B(v) & ((B)-1 >> 1);                                                            \
        return as_##B(v) >> (sizeof(B) * 8 - 1) ? INF - magnitude : INF + 1 + magnitude;                   \
    }                                                                                                      \
    inline ulong max_key_##T(T v) { return v != v ? 2 * (ulong)INF + 2 : rank_of_##T(v); }                 \
    inline ulong min_key_##T(T v) { return v != v ? 2 * (ulong)INF + 2 : 2 * (ulong)INF + 1 - rank_of_##T(v); }
FLOAT_KEYS(float, uint, 0x7f800000u)

