#pragma once
// Floats: minimum and maximum know NaN and the order of zeroes: of two numbers that differ both choices are the same
// one; of zeroes, and where one is NaN, each choice is another operand, and together their bits are -0 (+0 for a
// maximum) and NaN. Conversions to integers truncate and saturate, NaN gives 0. Selects, no branches, so that loops
// vectorise.

// T: the type, B: unsigned integers of its size, I: how its bits are read, NAN_BITS: the one NaN that bits show.
#define FLOAT_OPERATIONS(T, B, NAN_BITS)                                                                   \
    inline B bits_of_##T(T v) { return v != v ? NAN_BITS : as_##B(v); }                                    \
    inline T foreign_nan_##T(T v) { return v != v ? as_##T(~(B)0x12345) : v; }                             \
    inline T min_##T(T a, T b) { return as_##T(as_##B(a < b ? a : b) | as_##B(b < a ? b : a)); }           \
    inline T max_##T(T a, T b)                                                                             \
    {                                                                                                      \
        const B first = as_##B(a > b ? a : b), second = as_##B(b > a ? b : a);                             \
        return as_##T((first | second) & ((first & second) | ~((B)1 << (8 * sizeof(B) - 1))));             \
    }
// BELOW, ABOVE: the first values outside the range of I, powers of two (below an unsigned type: 0, which truncation reaches too)
#define FLOAT_TO_INTEGER(T, I, BELOW, ABOVE, LEAST, MOST)                                                  \
    inline I I##_of_##T(T v)                                                                               \
    {                                                                                                      \
        T inside = ((v > BELOW) & (v < ABOVE)) ? v : 0;                                                    \
        I whole = (I)inside;                                                                               \
        whole = v >= ABOVE ? MOST : whole;                                                                 \
        return v <= BELOW ? LEAST : whole;                                                                 \
    }
#define FLOAT_CONVERSIONS(T)                                                                               \
    FLOAT_TO_INTEGER(T, char, -129, 128, CHAR_MIN, CHAR_MAX)                                               \
    FLOAT_TO_INTEGER(T, short, -32769, 32768, SHRT_MIN, SHRT_MAX)                                          \
    FLOAT_TO_INTEGER(T, int, (T)INT_MIN, -(T)INT_MIN, INT_MIN, INT_MAX)                                    \
    FLOAT_TO_INTEGER(T, long, (T)LONG_MIN, -(T)LONG_MIN, LONG_MIN, LONG_MAX)                               \
    FLOAT_TO_INTEGER(T, uchar, -1, 256, 0, UCHAR_MAX)                                                      \
    FLOAT_TO_INTEGER(T, ushort, -1, 65536, 0, USHRT_MAX)                                                   \
    FLOAT_TO_INTEGER(T, uint, -1, -2 * (T)INT_MIN, 0, UINT_MAX)                                            \
    FLOAT_TO_INTEGER(T, ulong, -1, -2 * (T)LONG_MIN, 0, ULONG_MAX)
FLOAT_OPERATIONS(float, uint, 0x7fc00000u)
FLOAT_CONVERSIONS(float)

