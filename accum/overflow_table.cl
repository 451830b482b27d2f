//# OVERFLOW_CELL_WORDS 10
#pragma once
#include "accum/fixed_point.cl"
// Overflow cells: superaccumulators for the elements of a table in fixed point (accum/tables.h) that got an addend which does not fit
// a word. A hash table by the word's place in the device table. overflow[0]: its size less one; [1]: two halves, the low one not 0 when a
// cell found no room, which makes the run void, the high one when some cell is in use; then for each cell the place that it stands for, and
// one more (0: nobody's); then the cells, OVERFLOW_CELL_WORDS each, and one for all that found no room.
enum { OVERFLOW_TRIES = 64 };
__attribute__((noinline)) volatile __global long *overflow_cell(volatile __global long *overflow, ulong place)
{
    ulong mask = (ulong)overflow[0], at = (place * 0x9e3779b97f4a7c15UL >> 32) & mask;
    volatile __global long *owner = overflow + 2, *cells = owner + mask + 1;
    for (uint tries = 0; tries < OVERFLOW_TRIES; tries++) {
        ulong old = atom_cmpxchg((volatile __global ulong *)(owner + at), 0UL, place + 1);
        if (old == 0) atomic_or((volatile __global uint *)(overflow + 1) + 1, 1u);
        if (old == 0 || old == place + 1) return cells + at * OVERFLOW_CELL_WORDS;
        at = (at + 1) & mask;
    }
    atomic_or((volatile __global uint *)(overflow + 1), 1u);
    return cells + (mask + 1) * OVERFLOW_CELL_WORDS;
}
// What was refused, as exception_float has it.
__attribute__((noinline)) long exception_word_float(volatile __global long *overflow, ulong place, float v, float up, float down, float limit)
{
    if (fits_float(v, up, down) & (fabs(v * up) < limit)) return (long)(v * up);
    superaccumulator_add_float(overflow_cell(overflow, place), v);
    return 0;
}
