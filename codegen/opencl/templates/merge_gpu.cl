//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: GROUP_SIZE 256
//: MERGE_SETUP
//: MERGE
#pragma once

// Behind the records: what the tables of the work-groups hold goes to the device's table, and they are empty again.
// Several lanes may have parts of a cell's tables.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_merge(ARGS)
{
    MERGE_SETUP
    MERGE
}
