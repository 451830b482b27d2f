//: KERNEL example
//: FINISH_ARGS __global long *device_table, __global const int *scales, __global long *spares, __global uchar *out
//: GROUP_SIZE 256
//: FINISH_SETUP
//: SPARE
//# SPARE_WORDS 10
#pragma once

// Behind KERNEL_finish: rows that have spare cells, again. The word and the cell make up the sum; the cells are nobody's afterwards.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_spare(FINISH_ARGS)
{
    FINISH_SETUP
    const ulong size = (ulong)spares[0] + 1;
    for (ulong at = get_global_id(0); at < size; at += get_global_size(0)) {
        const ulong owner = (ulong)spares[2 + at];
        if (owner == 0) continue;
        __global long *cell = spares + 2 + size + at * SPARE_WORDS;
        const ulong place = owner - 1;
        SPARE
        for (uint w = 0; w < SPARE_WORDS; w++) cell[w] = 0;
        spares[2 + at] = 0;
    }
}
