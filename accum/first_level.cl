#pragma once
#include "accum/fixed_point.cl"
// First-level accumulators of a device table (CPU devices): what strips add in fixed point. A cell is touched only for what does
// not fit there, and its pages (of HDST__PAGE_WORDS) are marked then.
inline volatile __global long *marked(volatile __global long *marks, __global const long *cells_at, volatile __global long *cell, uint words)
{
    const ulong first = (ulong)(cell - cells_at) / 512, last = (ulong)(cell + words - 1 - cells_at) / 512;
    atomic_or((volatile __global uint *)(marks + first), 1);
    if (last != first) atomic_or((volatile __global uint *)(marks + last), 1);
    return cell;
}
// True: the word went past 2^63 and stands for 2^64 less (v < 0: more) than the sum.
inline bool first_level_add(volatile __global long *word, long v)
{
    if (v == 0) return false;
    const long old = atom_add(word, v), now = (long)((ulong)old + (ulong)v);
    return ((old ^ now) & (v ^ now)) < 0;
}
// The same of a word to which nobody else adds meanwhile.
inline bool first_level_add_alone(__global long *word, long v)
{
    const long old = *word, now = (long)((ulong)old + (ulong)v);
    *word = now;
    return ((old ^ now) & (v ^ now)) < 0;
}
__attribute__((noinline)) void first_level_carry(volatile __global long *cell, uint last, int lowest, long v, int s)
{
    for (int n = 0; n < 4; n++) superaccumulator_add_fixed(cell, last, lowest, v < 0 ? -(1L << 62) : 1L << 62, s);
}
// Without atomic operations, for who is alone. False: some number is not below 2^62, and nothing was added.
inline bool first_level_add_all(__global long *restrict to, __global const long *restrict from, ulong count)
{
    ulong high = 0;
    for (ulong n = 0; n < count; n++) high |= ((ulong)to[n] ^ (ulong)to[n] << 1) | ((ulong)from[n] ^ (ulong)from[n] << 1);
    if (high >> 63) return false;
    for (ulong n = 0; n < count; n++) to[n] += from[n];
    return true;
}
// What a strip's word did not take. `low`: from a first-level accumulator to its low word.
__attribute__((noinline)) void first_level_exception_float(volatile __global long *marks, __global const long *cells_at, volatile __global long *cell,
                                                  volatile __global long *word, ulong low, float v, float up, float down, int s)
{
    if (!fits_two_float(v, up, down)) {
        superaccumulator_add_float(marked(marks, cells_at, cell, FLOAT_LAST + 2), v);
        return;
    }
    const long high = (long)(v * up), rest = (long)rest_of_float(v * up);
    if (first_level_add(word, high)) first_level_carry(marked(marks, cells_at, cell, FLOAT_LAST + 2), FLOAT_LAST, FLOAT_LOWEST, high, s);
    if (first_level_add(word + low, rest)) first_level_carry(marked(marks, cells_at, cell, FLOAT_LAST + 2), FLOAT_LAST, FLOAT_LOWEST, rest, s + 40);
}
