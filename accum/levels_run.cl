// Included behind levels.cl: how a loop over the records of a block keeps a sum in registers. There are several ways,
// each {begin, step, end}: a step takes a vector of addends, the end tells whether nothing was lost, and only then has
// the state changed. The loops themselves depend on what is added, so they are printed (codegen/opencl/print_sum_loops.c).
//: REAL float | double
//: DOUBLE_PATH_FORM 1 | 0
//: BIT_TEST_FORM 0 | 1

// In one level, two or three.
typedef struct RUN {
    REALS one, sum0, sum1, sum2;
    BITSS moved, lost;
} RUN;
inline __attribute__((always_inline)) void OF(levels_begin)(RUN *run, const LEVELS *s)
{
    run->one = s->one;
    run->sum0 = s->sum[0];
    run->sum1 = s->sum[1];
    run->sum2 = s->sum[2];
    run->moved = run->lost = 0;
}
// `levels` is a constant where this is called.
inline __attribute__((always_inline)) void OF(levels_step)(RUN *run, const REALS v0, const uint levels)
{
    const REALS one = run->one, sum0 = run->sum0, sum1 = run->sum1, sum2 = run->sum2, now0 = sum0 + v0;
    run->sum0 = now0;
    run->moved |= AS_BITSS(now0) ^ AS_BITSS(sum0);
    if (levels == 1) {
        run->lost |= AS_BITSS(now0 - sum0) ^ AS_BITSS(v0);
        return;
    }
    const REALS v1 = LESS(v0, LESS(now0, sum0)), now1 = sum1 + v1;
    run->sum1 = now1;
    if (levels == 2) {
        run->lost |= AS_BITSS(now1 - sum1) ^ AS_BITSS(v1);
        return;
    }
    const REALS v2 = LESS(v1, LESS(now1, sum1)), now2 = sum2 + v2;
    run->lost |= AS_BITSS(now2 - sum2) ^ AS_BITSS(v2);
    run->sum2 = now2;
}
inline __attribute__((always_inline)) bool OF(levels_end)(LEVELS *s, const RUN *run, uint records)
{
    if (OF(any_bit)((run->moved & (BITS)OUTSIDE) | (run->lost & (BITS)MAGNITUDE))) return false;
    s->sum[0] = run->sum0;
    s->sum[1] = run->sum1;
    s->sum[2] = run->sum2;
    // The bit test trusts that sums are no further from their middle than its own addends bring them. These may be greater: it begins with empty sums.
    s->turns = BIT_TEST_FORM && s->count == 2 ? LEVELS_BLOCK / LANES : s->turns + records / LANES;
    return true;
}
#if DOUBLE_PATH_FORM
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define PLUS_IN_DOUBLE(a, b) fma(b, one, a)
#else
#define PLUS_IN_DOUBLE(a, b) ((a) + (b))
#endif
// In doubles.
typedef struct double_path_run {
    double8 one, sum0, sum1;
    uint16 most;
    uint lowest;
} double_path_run;
inline __attribute__((always_inline)) void double_path_begin_float(double_path_run *run, const float_levels *s)
{
    run->one = s->one;
    run->sum0 = s->in_double[0];
    run->sum1 = s->in_double[1];
    run->most = 0;
    run->lowest = (uint)(127 + s->low) << 24;
}
inline __attribute__((always_inline)) void double_path_step_float(double_path_run *run, const float16 v)
{
    const double8 one = run->one;
    run->most = max(run->most, (as_uint16(v) << 1) - run->lowest);      // zeros and what is smaller wrap round
    run->sum0 += convert_double8(v.lo);
    run->sum1 = PLUS_IN_DOUBLE(run->sum1, convert_double8(v.hi));
}
inline __attribute__((always_inline)) bool double_path_end_float(float_levels *s, const double_path_run *run, uint records)
{
    if (any_bit_float(as_uint16(run->most >= (uint)DOUBLE_PATH_BINADES << 24))) return false;
    s->in_double[0] = run->sum0;
    s->in_double[1] = run->sum1;
    s->turns += records / 16;
    return true;
}
#endif
#if BIT_TEST_FORM
// Two levels of doubles hold all that lies within 32 binades below their top, which one addition to the addends' bits
// tells: then the upper bits of the exponents are zeros. What does not (zeros, for one) is tested addition by addition,
// and while that goes on nobody looks here.
typedef struct bit_test_run {
    double8 one, sum0, sum1;
    long8 exceptions;
    long down;
} bit_test_run;
inline bool bit_test_may_double(double_levels *s)
{
    if (s->count != 2) return false;
    if (!s->pause) return true;
    s->pause--;
    return false;
}
inline __attribute__((always_inline)) void bit_test_begin_double(bit_test_run *run, const double_levels *s)
{
    run->one = s->one;
    run->sum0 = s->sum[0];
    run->sum1 = s->sum[1];
    run->exceptions = 0;
    run->down = (long)((ulong)-(1023 + s->unit + TOP - 32) << 52);
}
inline __attribute__((always_inline)) void bit_test_step_double(bit_test_run *run, const double8 v)
{
    const double8 one = run->one, now = run->sum0 + v;
    run->exceptions |= as_long8(v) + run->down;
    run->sum1 += LESS(v, now - run->sum0);
    run->sum0 = now;
}
inline __attribute__((always_inline)) bool bit_test_end_double(double_levels *s, const bit_test_run *run, uint records)
{
    if (any_bit_double(as_ulong8(run->exceptions) & 0x7e00000000000000UL)) {
        s->pause = s->exceptions;
        s->exceptions = min(2 * s->exceptions + 1, 63u);
        return false;
    }
    s->exceptions = 0;
    s->sum[0] = run->sum0;
    s->sum[1] = run->sum1;
    s->turns += records / 8;
    return true;
}
#endif
