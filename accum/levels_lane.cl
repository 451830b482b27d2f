#pragma once
#include "accum/fixed_point.cl"
// Exact sums of a whole dataset in the registers of a lane, in float arithmetic: three running sums, each beside a
// number so great that adding to it rounds to a multiple of the level's unit; the next level, with a unit 2^-18 of
// this one's, takes what rounding left. (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005; levels: Demmel,
// Nguyen, "Fast reproducible floating-point summation", 2013.) `moved` gathers which bits of the first sum changed,
// which tells whether it left its binade; `lost` what the last level did not take. At scale 2^s the first unit is
// 2^(23 - s): addends up to 2^(40 - s), 32 of them before the sums go to the lane's word, which counts multiples of
// 2^-(s + 13).
inline float lane_base(int s, int level) { return as_float((uint)(127 + 23 + 23 - s - 18 * level) << 23 | 0x400000u); }
inline void lane_start(float *sum, int s)
{
    sum[0] = lane_base(s, 0);
    sum[1] = lane_base(s, 1);
    sum[2] = lane_base(s, 2);
}
inline void lane_add(float *sum, float v, uint *moved, uint *lost)
{
    const float now0 = sum[0] + v, v1 = v - (now0 - sum[0]), now1 = sum[1] + v1, v2 = v1 - (now1 - sum[1]), now2 = sum[2] + v2;
    *moved |= as_uint(now0) ^ as_uint(sum[0]);
    *lost |= as_uint(now2 - sum[2]) ^ as_uint(v2);
    sum[0] = now0;
    sum[1] = now1;
    sum[2] = now2;
}
inline bool lane_failed(uint moved, uint lost) { return ((moved & 0xff800000u) | (lost & 0x7fffffffu)) != 0; }
// The sums as a word, and empty sums.
inline long lane_take(float *sum, int s)
{
    const int high = as_int(sum[0]) - as_int(lane_base(s, 0)), middle = as_int(sum[1]) - as_int(lane_base(s, 1));
    const int low = as_int(sum[2]) - as_int(lane_base(s, 2));
    lane_start(sum, s);
    return ((long)high << 36) + ((long)middle << 18) + low;
}
// A word that is nearly full goes to the cell: few addends, each as great as a running sum takes, fill it sooner than their number says.
__attribute__((noinline)) void lane_empty(volatile __global long *cell, uint last, int lowest, long word, int s)
{
    superaccumulator_add_fixed(cell, last, lowest, word, s);
}
inline long lane_room(long word, volatile __global long *cell, uint last, int lowest, int s)
{
    if (word < 1L << 62 && word > -(1L << 62)) return word;
    lane_empty(cell, last, lowest, word, s);
    return 0;
}
