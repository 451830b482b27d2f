//: KERNEL example
//: FINISH_ARGS __global long *device_table, __global const int *scales, __global long *overflow, __global uchar *out
//: GROUP_SIZE 256
//: FINISH_SETUP
//: OVERFLOW
//# OVERFLOW_CELL_WORDS 10
#pragma once

// Behind KERNEL_finish: rows that have overflow cells, again. The word and the cell make up the sum; the cells are nobody's afterwards.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_overflow(FINISH_ARGS)
{
    FINISH_SETUP
    const ulong size = (ulong)overflow[0] + 1;
    for (ulong at = get_global_id(0); at < size; at += get_global_size(0)) {
        const ulong owner = (ulong)overflow[2 + at];
        if (owner == 0) continue;
        __global long *cell = overflow + 2 + size + at * OVERFLOW_CELL_WORDS;
        const ulong place = owner - 1;
        OVERFLOW
        for (uint w = 0; w < OVERFLOW_CELL_WORDS; w++) cell[w] = 0;
        overflow[2 + at] = 0;
    }
}
