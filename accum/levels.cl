// Included by levels_of_floats.cl and levels_double.cl, which define what differs:
//: REAL float | double
//: REALS float16 | double8
//: INT int | long
//: INTS int16 | long8
//: BITS uint | ulong
//: BITSS uint16 | ulong8
//: LANES 16 | 8
//: MANTISSA 23 | 52
//: BIAS 127 | 1023
//: STEP 18 | 46
//: TOP 17 | 45
//: LOWEST -149 | -1074
//: GREATEST 103 | 970
//: OUTSIDE 0xff800000 | 0xfff0000000000000
//: MAGNITUDE 0x7fffffff | 0x7fffffffffffffff
//: DOUBLE_PATH_FORM 1 | 0
//: BIT_TEST_FORM 0 | 1
#include "base/join.cl"
#define OF(name) JOIN(name##_, REAL)
#define LEVELS JOIN(REAL, _levels)
#define RUN JOIN(REAL, _run)
#define LOADED JOIN(packed_, REALS)
#define AS_REAL JOIN(as_, REAL)
#define AS_INTS JOIN(as_, INTS)
#define AS_BITS JOIN(as_, BITS)
#define AS_BITSS JOIN(as_, BITSS)
// Exact sums of a dataset, a block of records at a time, in REAL arithmetic. A lane holds up to three running sums,
// each beside a number so great, 1.5 * 2^(unit + MANTISSA), that adding to it rounds to a multiple of the level's
// unit. What rounding left goes on to the next level, whose unit is 2^-STEP of the one before. Where the last level
// leaves nothing and no sum left its binade, nothing was lost, and the sums' bits count the units. (Ogita, Rump,
// Oishi, "Accurate sum and dot product", 2005; levels of running sums: Demmel, Nguyen, "Fast reproducible
// floating-point summation", 2013.) Otherwise the block is added again, with other levels or in part straight to the
// superaccumulator.
typedef struct LEVELS {
    REALS sum[3];
    INTS units[3];    // of each level and lane, without those that the sums hold
#if DOUBLE_PATH_FORM
    double8 in_double[2];           // sums in double, where `count` is DOUBLE_PATH
    long8 double_path_units[2];     // of each lane, in units of 2^(low - 23), without what the sums hold
    int low;                        // the exponent of the least addend that they take
    int exceptions;                 // grows with blocks that do not fit; above 64 no sum is on the double path
#endif
#if BIT_TEST_FORM
    uint exceptions, pause;        // blocks in a row that the bit-test path did not take, and for how many nobody tries it
#endif
    int unit;           // of the first level: multiples of 2^unit, addends up to 2^(unit + TOP)
    uint count;         // levels in use; 0: no addend was seen
    uint turns;         // additions to each lane since the sums were emptied
    uint emptied;       // how often they were since the units went to the cell
    REAL one;           // 1, which the compiler must not know: half of the subtractions are fused multiply-adds, so
                        // that they share out among the processor's ports
} LEVELS;
inline REAL OF(level_base)(int unit) { return AS_REAL((BITS)(BIAS + MANTISSA + unit) << MANTISSA | (BITS)1 << (MANTISSA - 1)); }
inline int OF(level_unit)(const LEVELS *s, uint level) { return s->unit - STEP * (int)level; }

// A loop over values that lie side by side: kernels have it printed (codegen/opencl/print_sum_loops.c), as those over other addends.
bool OF(levels_take)(LEVELS *s, const REAL *a, uint records);

#if DOUBLE_PATH_FORM
#include "accum/levels_double_path.cl"
#else
#include "accum/levels_narrow.cl"
#endif
inline void OF(levels_empty)(LEVELS *s)
{
    if (OF(on_double_path)(s)) OF(double_path_empty)(s);
    for (uint l = 0; !OF(on_double_path)(s) && l < s->count; l++) {
        const REALS base = OF(level_base)(OF(level_unit)(s, l));
        s->units[l] += AS_INTS(s->sum[l]) - AS_INTS(base);
        s->sum[l] = base;
    }
    s->turns = 0;
    s->emptied++;
}
inline void OF(levels_start)(LEVELS *s, ulong flush)
{
    s->count = s->turns = s->emptied = 0;
    OF(double_path_start)(s);
    s->one = 1 + (REAL)(flush >> 63);      // flush, an argument of the kernel, is small
}
__attribute__((noinline)) void OF(levels_publish)(LEVELS *s, volatile __global long *cell, uint last, int lowest)
{
    OF(levels_empty)(s);
    if (OF(on_double_path)(s)) OF(double_path_publish)(s, cell, last, lowest);
    for (uint l = 0; !OF(on_double_path)(s) && l < s->count; l++) {
        INT units[LANES];
        JOIN(vstore, LANES)(s->units[l], 0, units);
        long total = 0;
        for (uint n = 0; n < LANES; n++) total += units[n];
        superaccumulator_add_fixed(cell, last, lowest, total, -OF(level_unit)(s, l));
        s->units[l] = 0;
    }
    s->emptied = 0;
}
// Room for the records of a block.
inline void OF(levels_ready)(LEVELS *s, uint records, volatile __global long *cell, uint last, int lowest)
{
    if (s->turns + records / LANES > LEVELS_BLOCK / LANES) OF(levels_empty)(s);
    if (s->emptied >= 256) OF(levels_publish)(s, cell, last, lowest);      // >: settling empties them too
}
// The exponents of the first and of the last set bit; false: zero, an infinity or NaN.
inline bool OF(extent_of)(REAL v, int *first, int *last)
{
    const BITS magnitude = AS_BITS(v) & (BITS)MAGNITUDE, fraction = magnitude & (((BITS)1 << MANTISSA) - 1);
    const int exponent = (int)(magnitude >> MANTISSA);
    if (magnitude == 0 || exponent == BIAS * 2 + 1) return false;
    const BITS digits = exponent ? fraction | (BITS)1 << MANTISSA : fraction;
    const int place = max(exponent, 1) - BIAS - MANTISSA;
    *first = place + (int)(sizeof digits * 8 - 1) - (int)clz(digits);
    *last = place + (int)(sizeof digits * 8 - 1) - (int)clz(digits & (0 - digits));
    return true;
}
inline bool OF(levels_hold)(const LEVELS *s, REAL v)
{
    int first, last;
    if (s->count == 0 || v == 0) return s->count != 0;
    if (!OF(extent_of)(v, &first, &last)) return false;
    return OF(on_double_path)(s) ? OF(double_path_holds)(s, first) : first < s->unit + TOP && last >= OF(level_unit)(s, s->count - 1);
}
// Levels for this block, and for those before if three can do that, or if most of this block's addends find room in the
// present ones.
inline void OF(levels_fit)(LEVELS *s, const REAL *values, uint records, volatile __global long *cell, uint last_digit, int lowest)
{
    int first = INT_MIN, least = INT_MAX, last = INT_MAX;
    uint outside = 0;
    bool zeros = false;
    for (uint r = 0; r < records; r++) {
        int high, low;
        zeros |= values[r] == 0;
        if (!OF(extent_of)(values[r], &high, &low)) continue;
        outside += !OF(levels_hold)(s, values[r]);
        first = max(first, high);
        least = min(least, high);
        last = min(last, low);
    }
    if (OF(on_double_path)(s)) {
        OF(levels_publish)(s, cell, last_digit, lowest);
        s->count = 0;
    }
    if (first == INT_MIN) return;
    const int block_first = first, all_first = s->count ? max(first, s->unit + TOP - 1) : first;
    const int all_last = s->count ? min(last, OF(level_unit)(s, s->count - 1)) : last;
    if (all_first - all_last < 2 * STEP + TOP) {
        first = all_first;
        last = all_last;
    } else if (s->count && outside <= records / 8) {
        return;
    }
    if (s->count) OF(levels_publish)(s, cell, last_digit, lowest);
    if (first + 1 - last > STEP + TOP && !zeros && OF(double_path_choose)(s, block_first, least)) return;
    // Where two levels have room to spare: greater ones may come.
    const int bits = first + 1 - last, above = bits > TOP && bits <= TOP + STEP - 6 ? 3 : 0;
    s->unit = clamp(first + 1 - TOP + above, LOWEST + 2 * STEP, GREATEST);
    s->count = (uint)clamp((s->unit - last + STEP - 1) / STEP + 1, 1, 3);
    for (uint l = 0; l < s->count; l++) {
        s->sum[l] = OF(level_base)(OF(level_unit)(s, l));
        s->units[l] = 0;
    }
}
void OF(levels_to_cell)(volatile __global long *cell, uint last, int lowest, REAL v)
{
    const BITS magnitude = AS_BITS(v) & (BITS)MAGNITUDE, fraction = magnitude & (((BITS)1 << MANTISSA) - 1);
    const int exponent = (int)(magnitude >> MANTISSA);
    const bool negative = AS_BITS(v) != magnitude;
    if (exponent == BIAS * 2 + 1) superaccumulator_flag(cell, last, fraction != 0, negative);
    else superaccumulator_add_bits(cell, last, exponent ? fraction | (BITS)1 << MANTISSA : fraction, negative, (uint)(max(exponent, 1) - 1 + LOWEST - lowest));
}
// Rare: the levels do not hold all of the block. `values` is used up.
__attribute__((noinline)) void OF(levels_exceptions)(LEVELS *s, REAL *values, uint records, volatile __global long *cell, uint last, int lowest)
{
    BITS any = 0;
    for (uint r = 0; r < records; r++) any |= AS_BITS(values[r]) & (BITS)MAGNITUDE;
    if (!any) return;           // before the first addend there are no levels, and zeros need none
    OF(levels_empty)(s);
    if (OF(double_path_exceptions)(s, values, records, cell, last, lowest)) return;
    OF(levels_fit)(s, values, records, cell, last, lowest);
    if (OF(levels_take)(s, values, records)) return;
    for (uint r = 0; r < records; r++) {
        if (values[r] == 0 || OF(levels_hold)(s, values[r])) continue;
        OF(levels_to_cell)(cell, last, lowest, values[r]);
        values[r] = 0;
    }
    if (OF(levels_take)(s, values, records)) return;
    for (uint r = 0; r < records; r++) OF(levels_to_cell)(cell, last, lowest, values[r]);
}
