//: KERNEL example
//: FINISH_ARGS __global long *device_table, __global const int *scales, __global long *overflow, __global uchar *out
//: GROUP_SIZE 256
//: FINISH_SETUP
//: FINISH
#pragma once
// When all records were seen: the accumulators as C structs.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_finish(FINISH_ARGS)
{
    FINISH_SETUP
    FINISH
}
