// Exact sums. A wide cell is a row of signed digits of 32 bits, each in a long of its own so that carries can wait, and a word of flags after the last digit.
// A digit that has grown past 2^62 passes 2^43 on to the next one. Every addition is below 2^33 (2^45 in the last digit), so it takes half a million
// work-items adding at the same moment to overflow the room above 2^62, and a carry never overshoots.
inline void digit_add(volatile __global long *cell, uint digit, uint last, long v)
{
    while (v != 0) {
        long now = atom_add(cell + digit, v) + v;
        if (digit == last || (now < 1L << 62 && now > -(1L << 62))) return;
        v = now > 0 ? 1L << 11 : -(1L << 11);
        atom_add(cell + digit, -(v << 32));
        digit++;
    }
}
// Adds magnitude * 2^place units of digit 0, with magnitude < 2^63.
inline void wide_add_bits(volatile __global long *cell, uint last, ulong magnitude, bool negative, uint place)
{
    uint digit = place >> 5, shift = place & 31;
    ulong low = (magnitude & 0xffffffff) << shift, high = ((magnitude >> 32) << shift) + (low >> 32);
    long sign = negative ? -1 : 1;
    digit_add(cell, digit, last, sign * (long)(low & 0xffffffff));
    if (digit + 1 == last) {
        digit_add(cell, last, last, sign * (long)high);
    } else {
        digit_add(cell, digit + 1, last, sign * (long)(high & 0xffffffff));
        digit_add(cell, digit + 2, last, sign * (long)(high >> 32));
    }
}
// Adds q * 2^-s, where lowest is the exponent of digit 0.
inline void wide_add_fixed(volatile __global long *cell, uint last, int lowest, long q, int s)
{
    if (q != 0) wide_add_bits(cell, last, q < 0 ? 0 - (ulong)q : (ulong)q, q < 0, (uint)(-s - lowest));
}
enum { FLAG_NAN = 1, FLAG_INF = 2, FLAG_NEG_INF = 4, FLOAT_LAST = 8, FLOAT_LOWEST = -149, DOUBLE_LAST = 65, DOUBLE_LOWEST = -1074 };
inline void wide_flag(volatile __global long *cell, uint last, bool nan, bool negative)
{
    atomic_or((volatile __global uint *)(cell + last + 1), nan ? FLAG_NAN : negative ? FLAG_NEG_INF : FLAG_INF);
}
// Out of line: what comes here is rare, and a small record loop is quick.
__attribute__((noinline)) void wide_add_float(volatile __global long *cell, float v)
{
    uint bits = as_uint(v), exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
    if (exponent == 255) wide_flag(cell, FLOAT_LAST, fraction != 0, bits >> 31);
    else wide_add_bits(cell, FLOAT_LAST, exponent ? fraction | 0x800000 : fraction, bits >> 31, exponent ? exponent - 1 : 0);
}

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
    else wide_add_float(cell, v);
}

// For GPUs: the addend in fixed point, 0 if it does not fit for sure, which its size tells without a way back. From 2^23 on a float has no fraction; below 2^22, adding
// 1.5 * 2^23 rounds it to a whole number. Below `least` v * 2^s would be lost in underflow.
inline long likely_below_float(float v, float up, float least, float limit, bool *fits)
{
    float x = v * up, size = fabs(x);
    *fits = (((size >= 0x1p23f) & (size < limit)) | ((size < 0x1p22f) & ((x + 0x1.8p23f) - 0x1.8p23f == x))) & (fabs(v) >= least);
    return (long)(*fits ? x : 0.0f);
}
inline long likely_float(float v, float up, float least, bool *fits) { return likely_below_float(v, up, least, 0x1p40f, fits); }
inline float float_least(int s) { return s >= 0 ? 0.0f : float_power(max(-126, -149 - s)); }
// What was refused, out of line: what fits after all comes back, the rest goes to the cell.
__attribute__((noinline)) long settle_float(volatile __global long *cell, float v, float up, float down)
{
    if (fits_float(v, up, down)) return (long)(v * up);
    wide_add_float(cell, v);
    return 0;
}
