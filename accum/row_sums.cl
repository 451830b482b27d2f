#pragma once
#include "accum/first_level.cl"
// Sums over the rows of a block of records: for each element the addends factor * row[e], rounded to float, of all
// records, added up in double. That is exact, whatever the order, if all addends are multiples of one power of two,
// u, and their sizes add up to at most 2^53 u. A nonzero product of size s, rounded to 24 bits, is a multiple of
// 2^(floor(log2 s) - 23), of 2^-149 at least; so it is enough if no product is smaller than the sum of the sizes
// times 2^-29. Smaller ones, and what is not finite, are added one by one.
#define ROW_BLOCK 128       // records, at most, as HDST__ROW_SUMS_BLOCK
typedef float8 row_floats __attribute__((aligned(4)));
typedef uint16 row_bits __attribute__((aligned(4)));
typedef float16 row_vector __attribute__((aligned(4)));
typedef long8 row_words __attribute__((aligned(8)));
typedef long16 row_word_pairs __attribute__((aligned(8)));
#define ROW_RANGE(name, space) \
    inline uint row_range##name(space const uchar *row, uint elements, double *largest, double *least) \
    { \
        uint16 most = 0, few = UINT_MAX, filled = 0; \
        for (uint e = 0; e < elements; e += 16) { \
            const uint16 size = *(space const row_bits *)(row + (e + 16 <= elements ? e : elements - 16) * 4) & 0x7fffffff, less = size - 1; \
            most = size > most ? size : most; \
            few = less < few ? less : few; \
            filled -= as_uint16(size != 0); \
        } \
        const uint8 most8 = max(most.lo, most.hi), few8 = min(few.lo, few.hi); \
        const uint4 most4 = max(most8.lo, most8.hi), few4 = min(few8.lo, few8.hi); \
        const uint top = max(max(most4.x, most4.y), max(most4.z, most4.w)), low = min(min(few4.x, few4.y), min(few4.z, few4.w)); \
        *largest = (double)as_float(top); \
        *least = low == UINT_MAX ? (double)INFINITY : (double)as_float(low + 1); \
        const uint8 filled8 = filled.lo + filled.hi; \
        const uint4 filled4 = filled8.lo + filled8.hi; \
        return filled4.x + filled4.y + filled4.z + filled4.w; \
    }

// The largest size of a row's numbers, and the least but zero (none: infinity). Sizes of floats are in the order of
// their bits, NaN above all; zero less one is the largest number. The last vector may overlap the one before. What comes back says how many are no
// zeros, some of them twice.
ROW_RANGE(, __global)
// The same of a row in private memory.
ROW_RANGE(_own, __private)
// Sixteen lanes brought together: l and l + 8, l and l + 4, l and l + 2, l and l + 1.
inline float row_lanes(float16 v)
{
    const float8 eight = v.lo + v.hi;
    const float4 four = eight.lo + eight.hi;
    return (four.x + four.z) + (four.y + four.w);
}
// Of four vectors at once, each in the same order.
inline float4 row_lanes_of_four(float16 a, float16 b, float16 c, float16 d)
{
    const float8 a8 = a.lo + a.hi, b8 = b.lo + b.hi, c8 = c.lo + c.hi, d8 = d.lo + d.hi;
    const float4 a4 = a8.lo + a8.hi, b4 = b8.lo + b8.hi, c4 = c8.lo + c8.hi, d4 = d8.lo + d8.hi;
    return ((float4)(a4.x, b4.x, c4.x, d4.x) + (float4)(a4.z, b4.z, c4.z, d4.z)) + ((float4)(a4.y, b4.y, c4.y, d4.y) + (float4)(a4.w, b4.w, c4.w, d4.w));
}
inline double8 row_factors(const float *factor, uint r) { return __builtin_convertvector(as_float8(*(const uint8 *)(factor + r) & 0x7fffffff), double8); }
// Factors and ranges have room for a multiple of eight records, and zeroes there. A product of 2^127 is left to others.
inline double row_limit(const float *factor, const double *largest, uint records)
{
    double8 all = 0;
    for (uint r = 0; r < records; r += 8) {
        const double8 size = row_factors(factor, r) * *(const double8 *)(largest + r);
        all += size < 0x1p127 ? size : (double8)0;
    }
    const double4 some = all.lo + all.hi;
    return (some.x + some.y + (some.z + some.w)) * 0x1.1p-29;
}
inline bool row_any(long8 v)
{
    const long4 some = v.lo | v.hi;
    return (some.x | some.y | some.z | some.w) != 0;
}
inline bool row_takes_all(const float *factor, const double *largest, const double *least, uint records, double limit)
{
    long8 exceptions = 0;
    for (uint r = 0; r < records; r += 8) {
        const double8 size = row_factors(factor, r), small = size * *(const double8 *)(least + r);
        exceptions |= (size != 0) & ~((size * *(const double8 *)(largest + r) < 0x1p127) & ((small < 0x1p-126 ? (double8)0x1p-126 : small) >= limit));
    }
    return !row_any(exceptions);
}
// Of `units` arrays of ROW_BLOCK factors: whether doubles hold all of their sums.
__attribute__((noinline)) bool row_takes_whole(const float *factors, uint units, const double *largest, const double *least, uint records)
{
    bool all = true;
    for (uint u = 0; all && u < units; u++)
        all = row_takes_all(factors + u * ROW_BLOCK, largest, least, records, row_limit(factors + u * ROW_BLOCK, largest, records));
    return all;
}
inline bool row_takes(float factor, double largest, double least, double limit)
{
    const double size = fabs((double)factor), small = size * least;
    return size == 0 || (size * largest < 0x1p127 && (small < 0x1p-126 ? 0x1p-126 : small) >= limit);
}
// --- Rows that are mostly zeros ---
// Measured with 30 units: with zeros left out a record takes a third of the time where a fifth of its numbers are no zeros, 0.65 where half are.
inline bool row_is_sparse(ulong filled, ulong all) { return filled * 8 < all * 5; }
// Bit r % 32 of nonzero[r / 32 * 16 + e]: element e of record r is no zero.
inline void row_find_nonzero(__global const uchar *at, ulong row_bytes, uint records, uint *nonzero)
{
    for (uint first = 0; first < records; first += 32) {
        uint16 found = 0;
        for (uint r = first; r < records && r < first + 32; r++)
            found |= as_uint16(*(__global const row_vector *)(at + r * row_bytes) != (float16)0) & (uint16)(1u << (r & 31));
        *(uint16 *)(nonzero + first / 2) = found;
    }
}
// Of the 64 records from `first` on.
inline ulong row_nonzero_of(const uint *nonzero, uint first, uint records, uint e)
{
    const uint *at = nonzero + first / 2 + e;
    return first + 32 < records ? at[0] | (ulong)at[16] << 32 : at[0];
}
// Factors, `units` arrays of ROW_BLOCK, a row for each record; zeros fill the last vector.
inline void row_turn_factors(const float *factor, uint units, uint records, float (*turned)[32])
{
    for (uint r = 0; r < records; r++) {
        for (uint u = 0; u < units; u++) turned[r][u] = factor[u * ROW_BLOCK + r];
        for (uint u = units; u % 8 != 0; u++) turned[r][u] = 0;
    }
}
// Of sixteen elements' sums, `vectors` of eight units each: all[2 * unit + n] has those of eight elements, n of 0 and 1.
inline void row_turn_sums(const double8 (*sums)[4], uint vectors, double8 *all)
{
    for (uint n = 0; n < 2 * vectors; n++) {
        const double8 (*from)[4] = sums + n % 2 * 8;
        double8 pairs[8], fours[8];
        for (uint k = 0; k < 8; k += 2) {
            const double8 a = from[k][n / 2], b = from[k + 1][n / 2];
            pairs[k] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
            pairs[k + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
        }
        for (uint k = 0; k < 8; k++) {
            const uint at = k / 4 * 4 + k % 2;
            fours[k] = k % 4 < 2 ? __builtin_shufflevector(pairs[at], pairs[at + 2], 0, 1, 8, 9, 4, 5, 12, 13)
                                 : __builtin_shufflevector(pairs[at], pairs[at + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        for (uint u = 0; u < 4; u++) {
            all[2 * (n / 2 * 8 + u) + n % 2] = __builtin_shufflevector(fours[u], fours[u + 4], 0, 1, 2, 3, 8, 9, 10, 11);
            all[2 * (n / 2 * 8 + u + 4) + n % 2] = __builtin_shufflevector(fours[u], fours[u + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        }
    }
}
// --- Into words ---
// To eight neighbouring words. The lanes that do not fit come back, with what their words did not take. Sums of n
// addends fit below n * 2^40, as their addends would.
inline long8 row_add_one(__global long *own, double8 sum, double up, double down, double8 *rest, double most)
{
    const double8 scaled = sum * up;
    const long8 word = __builtin_convertvector(fabs(scaled) < most ? scaled : (double8)0, long8);
    *(__global row_words *)own += word;
    *rest = sum - __builtin_convertvector(word, double8) * down;
    return *rest != 0;
}
inline long8 row_add_two(__global long *own, double8 sum, double up, double down, double8 *rest, double most)
{
    const double8 scaled = sum * up, inside = fabs(scaled) < most ? scaled : (double8)0;
    const long8 word = __builtin_convertvector(inside, long8);
    const double8 high = __builtin_convertvector(word, double8);
    const long8 low = __builtin_convertvector((inside - high) * 0x1p40, long8);
    *(__global row_word_pairs *)own += (long16)(word.s0, low.s0, word.s1, low.s1, word.s2, low.s2, word.s3, low.s3,
                                                word.s4, low.s4, word.s5, low.s5, word.s6, low.s6, word.s7, low.s7);
    *rest = (sum - high * down) - __builtin_convertvector(low, double8) * (down * 0x1p-40);
    return *rest != 0;
}
// The same of sums that were rounded: what is below a word's unit is dropped.
inline long8 row_add_fast_one(__global long *own, double8 sum, double up, double most)
{
    const double8 scaled = sum * up;
    const long8 fits = fabs(scaled) < most;
    *(__global row_words *)own += __builtin_convertvector(fits ? scaled : (double8)0, long8);
    return ~fits;
}
inline long8 row_add_fast_two(__global long *own, double8 sum, double up, double most)
{
    const double8 scaled = sum * up;
    const long8 fits = fabs(scaled) < most, w = __builtin_convertvector(fits ? scaled : (double8)0, long8);
    *(__global row_word_pairs *)own += (long16)(w.s0, 0, w.s1, 0, w.s2, 0, w.s3, 0, w.s4, 0, w.s5, 0, w.s6, 0, w.s7, 0);
    return ~fits;
}
// A tile's sums as the values of a result, `eights` times eight neighbours for each unit: rounded once. Out of line: there are several tiles.
#define ROW_ROUND(name, lanes, value) \
    __attribute__((noinline)) void row_round_##name(__global float *to, const lanes *all, uint units, uint eights, ulong elements) \
    { \
        for (uint u = 0; u < units; u++) \
            for (uint n = 0; n < eights; n++) *(__global row_floats *)(to + u * elements + n * 8) = value; \
    }
inline float8 row_one_nan(float8 v) { return v == v ? v : as_float8((uint8)0x7fc00000); }
ROW_ROUND(exact, double8, __builtin_convertvector(all[u * eights + n], float8))
// What was rounded before may be NaN, of which there is one.
ROW_ROUND(fast, float16, row_one_nan(n % 2 ? all[(u * eights + n) / 2].hi : all[(u * eights + n) / 2].lo))
// A sum of floats: a multiple of 2^-149 below 2^135, or not finite.
inline void row_add_superaccumulator(volatile __global long *cell, double v)
{
    const ulong bits = as_ulong(v);
    const int exponent = (int)(bits >> 52 & 2047), place = exponent - 926;
    const ulong fraction = (bits & 0xfffffffffffffUL) | 1UL << 52;
    if (exponent == 2047) superaccumulator_flag(cell, FLOAT_LAST, v != v, bits >> 63);
    else if (place >= 0) superaccumulator_add_bits(cell, FLOAT_LAST, fraction, bits >> 63, (uint)place);
    else if (place > -64) superaccumulator_add_bits(cell, FLOAT_LAST, fraction >> -place, bits >> 63, 0);
}
__attribute__((noinline)) void row_exceptions(__global long *cell, uint words, double8 sum, long8 exceptions)
{
    for (int lane = 0; lane < 8; lane++)
        if (exceptions[lane]) row_add_superaccumulator(cell + lane * words, sum[lane]);
}
// To low words, in units of up * 2^40, while the page is locked. The lanes that did not fit come back.
inline long8 row_add_low(__global long *at, double8 sum, long8 exceptions, double up, double down)
{
    const double8 scaled = sum * up * 0x1p40;
    const long8 old = *(__global row_words *)at, v = __builtin_convertvector(fabs(scaled) < 0x1p52 ? scaled : (double8)0, long8), now = old + v;
    const long8 added = (__builtin_convertvector(v, double8) * (down * 0x1p-40) == sum) & (((old ^ now) & (v ^ now)) >= 0);
    *(__global row_words *)at = old + (v & added);
    return exceptions & ~added;
}
// With first-level accumulators; `low`: from a first-level accumulator to its low word, 0 where it has none.
__attribute__((noinline)) void row_exceptions_first_level(volatile __global long *marks, __global const long *cells_at, __global long *cell, uint words,
                                                __global long *word, ulong low, double8 sum, long8 exceptions, double up, double down, int s)
{
    __global const long *level = cells_at - 2 * low;
    if (low != 0 && first_level_page_rest(level, word) >= 8) {
        volatile __global uint *lock = first_level_lock(marks, level, word);
        exceptions = row_add_low(word + low, sum, exceptions, up, down);
        first_level_unlock(lock);
        if (!row_any(exceptions)) return;
    }
    for (int lane = 0; lane < 8; lane++) {
        if (!exceptions[lane]) continue;
        const double scaled = sum[lane] * up, inside = fabs(scaled) < 0x1p52 ? scaled : 0;
        const long high = (long)inside, rest = (long)((inside - (double)high) * 0x1p40);
        volatile __global long *to = cell + lane * words;
        if (low == 0 || ((double)high + (double)rest * 0x1p-40) * down != sum[lane]) {
            row_add_superaccumulator(marked(marks, cells_at, to, FLOAT_LAST + 2), sum[lane]);
            continue;
        }
        first_level_add_both(marks, cells_at, to, word + lane, low, high, rest, s);
    }
}
