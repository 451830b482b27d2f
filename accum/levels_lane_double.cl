#pragma once
#include "accum/fixed_point_double.cl"
#include "accum/integer_words_local.cl"
// The same of doubles: two running sums, the units of which are those of a double's two words, 2^-s and 2^-(s +
// 40), so that their bits count what the words do. An addend of 2^(12 - s) up to 2^(40 - s) has all its 53 bits
// there, which its exponent tells; so five additions take it, without a look at what became of them, and others are
// added as zeros and settled later: by additions that are looked at, else elsewhere. A lane makes at most 2^10
// additions to a sum before the work-group merges, so neither sum leaves its binade.
inline double pair_base(int s, int level) { return as_double((ulong)(1023 + 52 - s - 40 * level) << 52 | 0x8000000000000UL); }
inline void pair_start(double *sum, int s)
{
    sum[0] = pair_base(s, 0);
    sum[1] = pair_base(s, 1);
}
inline bool pair_holds(double v, int s) { return ((uint)(as_ulong(v) >> 52) & 2047) - (uint)(1023 + 12 - s) < 28; }
// False: it is neither held nor zero.
inline bool pair_add(double *sum, double addend, int s)
{
    const bool holds = pair_holds(addend, s);
    const double v = holds ? addend : 0, now = sum[0] + v;
    sum[1] += v - (now - sum[0]);
    sum[0] = now;
    return holds | (addend == 0);
}
// What is not held may be kept all the same: it is smaller, but of so few bits that the second sum has room for its last
// one, as differences of floats mostly are. False: it is not, and the sums are as they were.
inline bool pair_keeps(double *sum, double v, int s)
{
    const double now = sum[0] + v, rest = v - (now - sum[0]), last = sum[1] + rest;
    const bool keeps = (fabs(v) < double_power(40 - s)) & (last - sum[1] == rest);
    sum[0] = keeps ? now : sum[0];
    sum[1] = keeps ? last : sum[1];
    return keeps;
}
// The sums go to the two words of the group's table, and are empty again.
inline void pair_take(double *sum, int s, volatile __local uint *words)
{
    const long high = as_long(sum[0]) - as_long(pair_base(s, 0)), low = as_long(sum[1]) - as_long(pair_base(s, 1));
    if (high) local_add64(words, high);         // lanes without a record have none
    if (low) local_add64(words + 2 * COPIES, low);
    pair_start(sum, s);
}
// Rare: an addend that the sums do not keep.
__attribute__((noinline)) void exception_pair(volatile __local uint *words, volatile __global long *cell, double v, double up)
{
    long high, low;
    if (!split_double(v, up, &high, &low)) {
        superaccumulator_add_double(cell, v);
        return;
    }
    local_add64(words, high);
    local_add64(words + 2 * COPIES, low);
}
