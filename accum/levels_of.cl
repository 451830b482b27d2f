// Included by levels_shapes.cl, for operands of one shape: parameters and arguments, the addends of a vector of
// records and of one record, the same for people.
//: SHAPE p
//: PARAMS const REAL *a
//: ARGS a
//: VECTOR *(const LOADED *)(a + r)
//: SCALAR a[r]
//: WHAT values
#if BROAD_FORM
bool OF_SHAPE(broad_try)(float_levels *s, PARAMS, uint records)
{
    const uint lowest = (uint)(127 + s->low) << 24;
    const double8 one = s->one;
    double8 sum0 = s->broad[0], sum1 = s->broad[1];
    uint16 most = 0;
    for (uint r = 0; r < records; r += 16) {
        const float16 v = VECTOR;
        most = max(most, (as_uint16(v) << 1) - lowest);     // zeros and what is smaller wrap round
        sum0 += convert_double8(v.lo);
        sum1 = PLUS_BROAD(sum1, convert_double8(v.hi));
    }
    if (any_bit_float(as_uint16(most >= (uint)BROAD_BINADES << 24))) return false;
    s->broad[0] = sum0;
    s->broad[1] = sum1;
    s->turns += records / 16;
    return true;
}
#endif
#if QUICK_FORM
// Two levels of doubles hold all that lies within 32 binades below their top, which one addition to the addends' bits
// tells: then the upper bits of the exponents are
// zeros. What does not (zeros, for one) is tested addition by addition, and while that goes on nobody looks here.
bool OF_SHAPE(quick_try)(double_levels *s, PARAMS, uint records)
{
    if (s->pause) {
        s->pause--;
        return false;
    }
    const long8 down = (long)((ulong)-(1023 + s->unit + TOP - 32) << 52);
    const double8 one = s->one;
    double8 sum0 = s->sum[0], sum1 = s->sum[1];
    long8 odd = 0;
    for (uint r = 0; r < records; r += 8) {
        const double8 v = VECTOR, now = sum0 + v;
        odd |= as_long8(v) + down;
        sum1 += LESS(v, now - sum0);
        sum0 = now;
    }
    if (any_bit_double(as_ulong8(odd) & 0x7e00000000000000UL)) {
        s->pause = s->odd;
        s->odd = min(2 * s->odd + 1, 63u);
        return false;
    }
    s->odd = 0;
    s->sum[0] = sum0;
    s->sum[1] = sum1;
    s->turns += records / 8;
    return true;
}
#endif
// `levels` is a constant where this is called.
inline __attribute__((always_inline)) bool OF_SHAPE(levels_try)(LEVELS *s, PARAMS, uint records, const uint levels)
{
    const REALS one = s->one;
    REALS sum0 = s->sum[0], sum1 = s->sum[1], sum2 = s->sum[2];
    BITSS moved = 0, lost = 0;
    for (uint r = 0; r < records; r += LANES) {
        const REALS v0 = VECTOR, now0 = sum0 + v0;
        moved |= AS_BITSS(now0) ^ AS_BITSS(sum0);
        if (levels == 1) {
            lost |= AS_BITSS(now0 - sum0) ^ AS_BITSS(v0);
        } else {
            const REALS v1 = LESS(v0, LESS(now0, sum0)), now1 = sum1 + v1;
            if (levels == 2) {
                lost |= AS_BITSS(now1 - sum1) ^ AS_BITSS(v1);
            } else {
                const REALS v2 = LESS(v1, LESS(now1, sum1)), now2 = sum2 + v2;
                lost |= AS_BITSS(now2 - sum2) ^ AS_BITSS(v2);
                sum2 = now2;
            }
            sum1 = now1;
        }
        sum0 = now0;
    }
    if (OF(any_bit)((moved & (BITS)OUTSIDE) | (lost & (BITS)MAGNITUDE))) return false;
    s->sum[0] = sum0;
    s->sum[1] = sum1;
    s->sum[2] = sum2;
    s->turns += records / LANES;
    return true;
}
bool OF_SHAPE(levels_take)(LEVELS *s, PARAMS, uint records)
{
#if QUICK_FORM
    if (s->count == 2 && OF_SHAPE(quick_try)(s, ARGS, records)) return true;
#endif
    switch (s->count) {
    case 1: return OF_SHAPE(levels_try)(s, ARGS, records, 1);
    case 2: return OF_SHAPE(levels_try)(s, ARGS, records, 2);
    case 3: return OF_SHAPE(levels_try)(s, ARGS, records, 3);
#if BROAD_FORM
    default: return s->count == BROAD && OF_SHAPE(broad_try)(s, ARGS, records);
#else
    default: return false;
#endif
    }
}
// Adds WHAT of the records of a block: at most LEVELS_BLOCK, a multiple of LANES.
__attribute__((noinline)) void OF_SHAPE(levels_add)(LEVELS *s, PARAMS, uint records, volatile __global long *cell, uint last, int lowest)
{
    if (s->turns + records / LANES > LEVELS_BLOCK / LANES) OF(levels_empty)(s);
    if (s->emptied >= 256) OF(levels_publish)(s, cell, last, lowest);      // >: settling empties them too
    if (OF_SHAPE(levels_take)(s, ARGS, records)) return;
    REAL values[LEVELS_BLOCK];
    for (uint r = 0; r < records; r++) values[r] = SCALAR;
    OF(levels_settle)(s, values, records, cell, last, lowest);
}
#undef SHAPE
#undef PARAMS
#undef ARGS
#undef VECTOR
#undef SCALAR
#undef WHAT
