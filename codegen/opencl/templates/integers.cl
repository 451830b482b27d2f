#pragma once
// Integers: they wrap, shift counts are masked, division by zero gives 0 (it was checked before). They are computed
// in an unsigned type, U, that is never narrower than int, so that the compiler may not assume anything about
// overflow.

#define INTEGER_OPERATIONS(T, U, BITS)                                                                     \
    inline T add_##T(T a, T b) { return (T)((U)a + (U)b); }                                                \
    inline T sub_##T(T a, T b) { return (T)((U)a - (U)b); }                                                \
    inline T mul_##T(T a, T b) { return (T)((U)a * (U)b); }                                                \
    inline T neg_##T(T a) { return (T)(0 - (U)a); }                                                        \
    inline T abs_##T(T a) { return a < 0 ? neg_##T(a) : a; }                                               \
    inline T shl_##T(T a, uint n) { return (T)((U)a << (n & (BITS - 1))); }                                \
    inline T shr_##T(T a, uint n) { return (T)(a >> (n & (BITS - 1))); }                                   \
    inline T min_##T(T a, T b) { return b < a ? b : a; }                                                   \
    inline T max_##T(T a, T b) { return b > a ? b : a; }
#define SIGNED_DIVISION(T)                                                                                 \
    inline T div_##T(T a, T b)                                                                             \
    {                                                                                                      \
        T q = a / (b == 0 || b == -1 ? (T)1 : b);                                                          \
        return b == 0 ? (T)0 : b == -1 ? neg_##T(a) : q;                                                   \
    }                                                                                                      \
    inline T rem_##T(T a, T b) { return a % (b == 0 || b == -1 ? (T)1 : b); }
#define UNSIGNED_DIVISION(T)                                                                               \
    inline T div_##T(T a, T b) { T q = a / (b == 0 ? (T)1 : b); return b == 0 ? (T)0 : q; }                \
    inline T rem_##T(T a, T b) { return a % (b == 0 ? (T)1 : b); }
INTEGER_OPERATIONS(char, uint, 8)
INTEGER_OPERATIONS(short, uint, 16)
INTEGER_OPERATIONS(int, uint, 32)
INTEGER_OPERATIONS(long, ulong, 64)
INTEGER_OPERATIONS(uchar, uint, 8)
INTEGER_OPERATIONS(ushort, uint, 16)
INTEGER_OPERATIONS(uint, uint, 32)
INTEGER_OPERATIONS(ulong, ulong, 64)
inline uint ctz_uint(uint a) { return popcount(~a & (a - 1)); }
inline ulong ctz_ulong(ulong a) { return popcount(~a & (a - 1)); }
SIGNED_DIVISION(char)
SIGNED_DIVISION(short)
SIGNED_DIVISION(int)
SIGNED_DIVISION(long)
UNSIGNED_DIVISION(uchar)
UNSIGNED_DIVISION(ushort)
UNSIGNED_DIVISION(uint)
UNSIGNED_DIVISION(ulong)
inline bool below_rows(uint index, ulong rows) { return (index < (uint)rows) | (rows >> 32 != 0); }
