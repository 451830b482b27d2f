//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: GROUP_SIZE 256
#pragma once
#include "codegen/opencl/templates/partition_gpu.cl"
#define PARTITIONS PARTITIONS_LOW
#define PARTITION PARTITION_LOW
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_count_low(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint rows_of[PARTITIONS];
    for (uint c = get_group_id(0); c < partitions[CHUNKS]; c += get_num_groups(0)) {
        __global const uint *chunk = CHUNK + CHUNK_WORDS * (ulong)c;
        for (uint j = lane; j < PARTITIONS; j += LANES) rows_of[j] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        __global const tuple_t *in = TUPLES_HIGH + chunk[0];
        const uint rows = chunk[1];
        for (uint i = lane; i < rows; i += LANES) atomic_inc((volatile __local uint *)(rows_of + PARTITION(in[i].x)));
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = lane; j < PARTITIONS; j += LANES) COUNTERS[chunk[2] + j * chunk[3]] = rows_of[j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_sum_low(ARGS)
{
    __local uint sums[LANES];
    sum_counters(partitions, (ulong)PARTITIONS_LOW * partitions[CHUNKS], sums, get_local_id(0));
}
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_scan_low(ARGS)
{
    __local uint sums[LANES];
    scan_counters(partitions, (ulong)PARTITIONS_LOW * partitions[CHUNKS], sums, get_local_id(0));
}
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_place_low(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint rows_of[PARTITIONS], start[PARTITIONS], to[PARTITIONS], next[PARTITIONS];
    __local tuple_t sorted[TILE];
    __global tuple_t *out = TUPLES_LOW;
    if (lane < PARTITIONS) rows_of[lane] = 0;
    for (uint c = get_group_id(0); c < partitions[CHUNKS]; c += get_num_groups(0)) {
        __global const uint *chunk = CHUNK + CHUNK_WORDS * (ulong)c;
        __global const tuple_t *in = TUPLES_HIGH + chunk[0];
        const uint rows = chunk[1];
        if (lane < PARTITIONS) {
            next[lane] = COUNTERS[chunk[2] + lane * chunk[3]];
            if (chunk[5] == 0) FIRST_LOW[chunk[4] * PARTITIONS + lane] = next[lane];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint tile = 0; tile < rows; tile += TILE) {
            tuple_t tuple_of[TILE_ROWS];
            for (uint r = 0; r < TILE_ROWS; r++) {
                const uint i = tile + r * LANES + lane;
                if (i < rows) tuple_of[r] = in[i];
                else tuple_of[r].x = NOBODY;
            }
            #include "codegen/opencl/templates/partition_tile.cl"
        }
    }
    if (get_global_id(0) == 0) FIRST_LOW[PARTITIONS_ALL] = FIRST_HIGH[PARTITIONS_HIGH];
}
#undef PARTITIONS
#undef PARTITION
