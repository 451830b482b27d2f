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
// A strip adds its whole table a page at a time, without atomic operations while it has the page's lock, the upper half of a mark. Who has a lock waits
// for no other.
inline volatile __global uint *first_level_lock(volatile __global long *marks, __global const long *words, volatile __global const long *word)
{
    volatile __global uint *lock = (volatile __global uint *)(marks + (ulong)(word - words) / 512 % (ulong)(words - marks)) + 1;
    while (atomic_cmpxchg(lock, 0, 1)) {}
    return lock;
}
inline void first_level_unlock(volatile __global uint *lock) { atomic_xchg(lock, 0); }
inline ulong first_level_page_rest(__global const long *words, __global const long *word) { return 512 - (ulong)(word - words) % 512; }
__attribute__((noinline)) void first_level_carry(volatile __global long *cell, uint last, int lowest, long v, int s)
{
    for (int n = 0; n < 4; n++) superaccumulator_add_fixed(cell, last, lowest, v < 0 ? -(1L << 62) : 1L << 62, s);
}
// Without atomic operations, for who is alone or has the page's lock. False: some number is not below 2^62, and nothing was added.
inline bool first_level_add_all(__global long *restrict to, __global const long *restrict from, ulong count)
{
    ulong high = 0;
    for (ulong n = 0; n < count; n++) high |= ((ulong)to[n] ^ (ulong)to[n] << 1) | ((ulong)from[n] ^ (ulong)from[n] << 1);
    if (high >> 63) return false;
    for (ulong n = 0; n < count; n++) to[n] += from[n];
    return true;
}
// Of a batch, which clears what it needs. Out of line: compilers would make vectors of each place that does so.
__attribute__((noinline)) void first_level_zero(__global long *at, ulong count)
{
    for (ulong n = 0; n < count; n++) at[n] = 0;
}
// An addend in two parts, to a word and its low word, whose page a strip may be at. Tables of few words are added up without locks, so the word itself takes
// an atomic operation all the same.
inline void first_level_add_both(volatile __global long *marks, __global const long *cells_at, volatile __global long *cell, __global long *word, ulong low,
                                 long high, long rest, int s)
{
    volatile __global uint *lock = first_level_lock(marks, cells_at - 2 * low, word);
    const bool overflows = first_level_add(word, high), low_overflows = first_level_add_alone(word + low, rest);
    first_level_unlock(lock);
    if (overflows) first_level_carry(marked(marks, cells_at, cell, FLOAT_LAST + 2), FLOAT_LAST, FLOAT_LOWEST, high, s);
    if (low_overflows) first_level_carry(marked(marks, cells_at, cell, FLOAT_LAST + 2), FLOAT_LAST, FLOAT_LOWEST, rest, s + 40);
}
// What a strip's word did not take. `low`: from a first-level accumulator to its low word.
__attribute__((noinline)) void first_level_exception_float(volatile __global long *marks, __global const long *cells_at, volatile __global long *cell,
                                                  __global long *word, ulong low, float v, float up, float down, int s)
{
    if (!fits_two_float(v, up, down)) {
        superaccumulator_add_float(marked(marks, cells_at, cell, FLOAT_LAST + 2), v);
        return;
    }
    first_level_add_both(marks, cells_at, cell, word, low, (long)(v * up), (long)rest_of_float(v * up), s);
}
