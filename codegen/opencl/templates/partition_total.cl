//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: GROUP_SIZE 256
//: PARTITION_TOTAL_SETUP
//: PARTITION_ROWS count
//: PARTITION_WRITE
//: PARTITION_WRITE_HEAVY
#pragma once
#include "codegen/opencl/templates/partition_gpu.cl"
#if LOW_BITS
#define FIRST_PARTITION FIRST_LOW
#define TUPLES TUPLES_LOW
#else
#define FIRST_PARTITION FIRST_HIGH
#define TUPLES TUPLES_HIGH
#endif
#define KEYS (1u << KEY_BITS)
enum { AT_ONCE = 4 };
inline void partition_add(volatile __local uint *low, long v)
{
    const uint partition = (uint)v, old = atomic_add(low, partition), high = (uint)(v >> 32) + ((uint)(old + partition) < old);
    if (high) atomic_add(low + KEYS, high);
}
// A partition with far more tuples than the others is everybody's, and so are all partitions where they are few: one work-group takes only so many tuples.
inline uint most_of_partition(__global const uint *partitions, ulong used)
{
    const uint all = FIRST_HIGH[PARTITIONS_HIGH];
    if (used < MOST_HEAVY && used * 4 < GROUPS) return LEAST_HEAVY;
    return max(max((uint)(all / used) * 4, all / MOST_HEAVY + 1), (uint)LEAST_HEAVY);
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_total(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint table[KEYS * SLOTS];
    PARTITION_TOTAL_SETUP
    const ulong used = (PARTITION_ROWS + KEYS - 1) / KEYS;
    const uint most = most_of_partition(partitions, used);
    __global const tuple_t *in = TUPLES;
    for (ulong partition = get_group_id(0); partition < used; partition += GROUPS) {
        const uint begin = FIRST_PARTITION[partition], all = FIRST_PARTITION[partition + 1] - begin, stop = begin + min(all, most);
        for (uint j = lane; j < KEYS * SLOTS; j += LANES) table[j] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        #include "codegen/opencl/templates/partition_add.cl"
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0 && all > most) {
            const uint at = atomic_inc((volatile __global uint *)(partitions + HEAVY_PARTITIONS));
            if (at < MOST_HEAVY) HEAVY[at] = (uint)partition;
        }
        for (uint key = lane; key < KEYS; key += LANES) {
            const ulong row = partition * KEYS + key;
            if (row >= PARTITION_ROWS) continue;
            PARTITION_WRITE
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
// What was left of partitions, in shares of about the same size; the next work-group in turn takes the next one.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_heavy(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint table[KEYS * SLOTS];
    PARTITION_TOTAL_SETUP
    const ulong used = (PARTITION_ROWS + KEYS - 1) / KEYS;
    const uint most = most_of_partition(partitions, used), heavy = min(partitions[HEAVY_PARTITIONS], (uint)MOST_HEAVY);
    const uint each = max((uint)(FIRST_HIGH[PARTITIONS_HIGH] / GROUPS), (uint)LEAST_HEAVY / 4);
    __global const tuple_t *in = TUPLES;
    uint turn = get_group_id(0);
    for (uint h = 0; h < heavy; h++) {
        const ulong partition = HEAVY[h];
        const uint first_of = FIRST_PARTITION[partition] + most, end = FIRST_PARTITION[partition + 1], shares = (end - first_of + each - 1) / each;
        for (; turn < shares; turn += get_num_groups(0)) {
            const uint begin = first_of + turn * each, stop = begin + min(end - begin, each);
            for (uint j = lane; j < KEYS * SLOTS; j += LANES) table[j] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            #include "codegen/opencl/templates/partition_add.cl"
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint key = lane; key < KEYS; key += LANES) {
                const ulong row = partition * KEYS + key;
                if (row >= PARTITION_ROWS) continue;
                PARTITION_WRITE_HEAVY
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        turn -= shares;
    }
}
