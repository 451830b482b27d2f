// Exact sums of a dataset, a block of records at a time, in @real@ arithmetic. A lane holds up to three running sums, each beside a number so great, 1.5 * 2^(unit + @mantissa@), that
// adding to it rounds to a multiple of the level's unit. What rounding left goes on to the next level, whose unit is 2^-@step@ of the one before. Where the last level leaves
// nothing and no sum left its binade, nothing was lost, and the sums' bits count the units. (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005; levels of running
// sums: Demmel, Nguyen, "Fast reproducible floating-point summation", 2013.) Otherwise the block is added again, with other levels or in part straight to the wide cell.
typedef @reals@ @real@_vector __attribute__((aligned(sizeof(@real@))));      // as it lies in memory, wherever it begins
typedef struct @real@_levels {
    @reals@ sum[3];
    @ints@ units[3];    // of each level and lane, without those that the sums hold
    @own_state@
    int unit;           // of the first level: multiples of 2^unit, addends up to 2^(unit + @top@)
    uint count;         // levels in use; 0: no addend was seen
    uint turns;         // additions to each lane since the sums were emptied
    uint emptied;       // how often they were since the units went to the cell
    @real@ one;         // 1, which the compiler must not know: half of the subtractions are fused multiply-adds, so that they share out among the processor's ports
} @real@_levels;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LESS_@real@(a, b) fma(a, one, -(b))
#else
#define LESS_@real@(a, b) ((a) - (b))
#endif
inline @real@ level_base_@real@(int unit) { return as_@real@((@bits@)(@bias@ + @mantissa@ + unit) << @mantissa@ | (@bits@)1 << (@mantissa@ - 1)); }
@any_bit@
inline int level_unit_@real@(const @real@_levels *s, uint level) { return s->unit - @step@ * (int)level; }

bool levels_take_@real@_p(@real@_levels *s, const @real@ *a, uint records);

@broad@
inline void levels_empty_@real@(@real@_levels *s)
{
    if (is_broad_@real@(s)) broad_empty_@real@(s);
    for (uint l = 0; !is_broad_@real@(s) && l < s->count; l++) {
        const @reals@ base = level_base_@real@(level_unit_@real@(s, l));
        s->units[l] += as_@ints@(s->sum[l]) - as_@ints@(base);
        s->sum[l] = base;
    }
    s->turns = 0;
    s->emptied++;
}
inline void levels_start_@real@(@real@_levels *s, ulong flush)
{
    s->count = s->turns = s->emptied = 0;
    broad_start_@real@(s);
    s->one = 1 + (@real@)(flush >> 63);      // flush, an argument of the kernel, is small
}
__attribute__((noinline)) void levels_publish_@real@(@real@_levels *s, volatile __global long *cell, uint last, int lowest)
{
    levels_empty_@real@(s);
    if (is_broad_@real@(s)) broad_publish_@real@(s, cell, last, lowest);
    for (uint l = 0; !is_broad_@real@(s) && l < s->count; l++) {
        @int@ units[@lanes@];
        vstore@lanes@(s->units[l], 0, units);
        long total = 0;
        for (uint n = 0; n < @lanes@; n++) total += units[n];
        wide_add_fixed(cell, last, lowest, total, -level_unit_@real@(s, l));
        s->units[l] = 0;
    }
    s->emptied = 0;
}
// The exponents of the first and of the last set bit; false: zero, an infinity or NaN.
inline bool extent_of_@real@(@real@ v, int *first, int *last)
{
    const @bits@ magnitude = as_@bits@(v) & (@bits@)@magnitude@, fraction = magnitude & (((@bits@)1 << @mantissa@) - 1);
    const int exponent = (int)(magnitude >> @mantissa@);
    if (magnitude == 0 || exponent == @bias@ * 2 + 1) return false;
    const @bits@ digits = exponent ? fraction | (@bits@)1 << @mantissa@ : fraction;
    const int place = max(exponent, 1) - @bias@ - @mantissa@;
    *first = place + (int)(sizeof digits * 8 - 1) - (int)clz(digits);
    *last = place + (int)(sizeof digits * 8 - 1) - (int)clz(digits & (0 - digits));
    return true;
}
inline bool levels_hold_@real@(const @real@_levels *s, @real@ v)
{
    int first, last;
    if (s->count == 0 || v == 0) return s->count != 0;
    if (!extent_of_@real@(v, &first, &last)) return false;
    return is_broad_@real@(s) ? broad_holds_@real@(s, first) : first < s->unit + @top@ && last >= level_unit_@real@(s, s->count - 1);
}
// Levels for this block, and for those before if three can do that, or if most of this block's addends find room in the present ones.
inline void levels_fit_@real@(@real@_levels *s, const @real@ *values, uint records, volatile __global long *cell, uint last_digit, int lowest)
{
    int first = INT_MIN, least = INT_MAX, last = INT_MAX;
    uint outside = 0;
    bool zeros = false;
    for (uint r = 0; r < records; r++) {
        int high, low;
        zeros |= values[r] == 0;
        if (!extent_of_@real@(values[r], &high, &low)) continue;
        outside += !levels_hold_@real@(s, values[r]);
        first = max(first, high);
        least = min(least, high);
        last = min(last, low);
    }
    if (is_broad_@real@(s)) {
        levels_publish_@real@(s, cell, last_digit, lowest);
        s->count = 0;
    }
    if (first == INT_MIN) return;
    const int block_first = first, all_first = s->count ? max(first, s->unit + @top@ - 1) : first, all_last = s->count ? min(last, level_unit_@real@(s, s->count - 1)) : last;
    if (all_first - all_last < 2 * @step@ + @top@) {
        first = all_first;
        last = all_last;
    } else if (s->count && outside <= records / 8) {
        return;
    }
    if (s->count) levels_publish_@real@(s, cell, last_digit, lowest);
    if (first + 1 - last > @step@ + @top@ && !zeros && broad_choose_@real@(s, block_first, least)) return;
    const int bits = first + 1 - last, above = bits > @top@ && bits <= @top@ + @step@ - 6 ? 3 : 0;     // where two levels have room to spare: greater ones may come
    s->unit = clamp(first + 1 - @top@ + above, @lowest@ + 2 * @step@, @greatest@);
    s->count = (uint)clamp((s->unit - last + @step@ - 1) / @step@ + 1, 1, 3);
    for (uint l = 0; l < s->count; l++) {
        s->sum[l] = level_base_@real@(level_unit_@real@(s, l));
        s->units[l] = 0;
    }
}
void levels_to_cell_@real@(volatile __global long *cell, uint last, int lowest, @real@ v)
{
    const @bits@ magnitude = as_@bits@(v) & (@bits@)@magnitude@, fraction = magnitude & (((@bits@)1 << @mantissa@) - 1);
    const int exponent = (int)(magnitude >> @mantissa@);
    const bool negative = as_@bits@(v) != magnitude;
    if (exponent == @bias@ * 2 + 1) wide_flag(cell, last, fraction != 0, negative);
    else wide_add_bits(cell, last, exponent ? fraction | (@bits@)1 << @mantissa@ : fraction, negative, (uint)(max(exponent, 1) - 1 + @lowest@ - lowest));
}
// Rare: the levels do not hold all of the block. `values` is used up.
__attribute__((noinline)) void levels_settle_@real@(@real@_levels *s, @real@ *values, uint records, volatile __global long *cell, uint last, int lowest)
{
    levels_empty_@real@(s);
    if (broad_settle_@real@(s, values, records, cell, last, lowest)) return;
    levels_fit_@real@(s, values, records, cell, last, lowest);
    if (levels_take_@real@_p(s, values, records)) return;
    for (uint r = 0; r < records; r++) {
        if (values[r] == 0 || levels_hold_@real@(s, values[r])) continue;
        levels_to_cell_@real@(cell, last, lowest, values[r]);
        values[r] = 0;
    }
    if (levels_take_@real@_p(s, values, records)) return;
    for (uint r = 0; r < records; r++) levels_to_cell_@real@(cell, last, lowest, values[r]);
}
