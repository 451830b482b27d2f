//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: COUNT_BLOCK_DEFINE
//: COUNT_SETUP
//: COUNT_CHUNK
//: COUNT_BLOCK_LOOP
//: COUNT_RECORD_LOOP
#pragma once
#include "codegen/opencl/templates/kernel_cpu.cl"

// The first of two runs: how many records each strip emits.
COUNT_BLOCK_DEFINE
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void KERNEL_count(ARGS)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong end = strip_start(skip, count, strip + 1, strips);
    COUNT_SETUP
    ulong i = strip_start(skip, count, strip, strips), place = 0;
    while (i < end) {
        COUNT_CHUNK
        COUNT_BLOCK_LOOP
        COUNT_RECORD_LOOP
    }
    places[3 + strip] = place;
    if (strip == 0) places[2] = places[1];
}
