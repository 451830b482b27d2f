//# SPARE_WORDS 10
#pragma once
#include "accum/fixed_point.cl"
// Spare cells: wide cells for the elements of a compact table (accum/tables.h) that got an addend which does not fit
// a word. A hash table by the word's place in the device table. spares[0]: its size less one; [1]: not 0 when a cell
// found no room, which makes the run void; then for each cell the place that it stands for, and one more (0:
// nobody's); then the cells, SPARE_WORDS each, and one for all that found no room.
enum { SPARE_TRIES = 64 };
__attribute__((noinline)) volatile __global long *spare_cell(volatile __global long *spares, ulong place)
{
    ulong mask = (ulong)spares[0], at = (place * 0x9e3779b97f4a7c15UL >> 32) & mask;
    volatile __global long *owner = spares + 2, *cells = owner + mask + 1;
    for (uint tries = 0; tries < SPARE_TRIES; tries++) {
        ulong old = atom_cmpxchg((volatile __global ulong *)(owner + at), 0UL, place + 1);
        if (old == 0 || old == place + 1) return cells + at * SPARE_WORDS;
        at = (at + 1) & mask;
    }
    atomic_or((volatile __global uint *)(spares + 1), 1u);
    return cells + (mask + 1) * SPARE_WORDS;
}
// What was refused, as settle_float has it.
__attribute__((noinline)) long settle_word_float(volatile __global long *spares, ulong place, float v, float up, float down, float limit)
{
    if (fits_float(v, up, down) & (fabs(v * up) < limit)) return (long)(v * up);
    wide_add_float(spare_cell(spares, place), v);
    return 0;
}
