//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *parts, __global uint *pairs
//: GROUP_SIZE 256
//: PART_TOTAL_SETUP
//: PART_ROWS count
//: PART_WRITE
//: PART_WRITE_HOT
#pragma once
#include "codegen/opencl/templates/part_gpu.cl"
#if LOW_BITS
#define FIRST_PART FIRST_LOW
#define PAIRS PAIRS_LOW
#else
#define FIRST_PART FIRST_HIGH
#define PAIRS PAIRS_HIGH
#endif
#define KEYS (1u << KEY_BITS)
enum { AT_ONCE = 4 };
inline void part_add(volatile __local uint *low, long v)
{
    const uint part = (uint)v, old = atomic_add(low, part), high = (uint)(v >> 32) + ((uint)(old + part) < old);
    if (high) atomic_add(low + KEYS, high);
}
// A part with far more pairs than the others is everybody's, and so are all parts where they are few: one work-group takes only so many pairs.
inline uint most_of_part(__global const uint *parts, ulong used)
{
    const uint all = FIRST_HIGH[PARTS_HIGH];
    if (used < MOST_HOT && used * 4 < GROUPS) return LEAST_HOT;
    return max(max((uint)(all / used) * 4, all / MOST_HOT + 1), (uint)LEAST_HOT);
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_total(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint table[KEYS * SLOTS];
    PART_TOTAL_SETUP
    const ulong used = (PART_ROWS + KEYS - 1) / KEYS;
    const uint most = most_of_part(parts, used);
    __global const pair_t *in = PAIRS;
    for (ulong part = get_group_id(0); part < used; part += GROUPS) {
        const uint begin = FIRST_PART[part], all = FIRST_PART[part + 1] - begin, stop = begin + min(all, most);
        for (uint j = lane; j < KEYS * SLOTS; j += LANES) table[j] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        #include "codegen/opencl/templates/part_add.cl"
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0 && all > most) {
            const uint at = atomic_inc((volatile __global uint *)(parts + HOT_PARTS));
            if (at < MOST_HOT) HOT[at] = (uint)part;
        }
        for (uint key = lane; key < KEYS; key += LANES) {
            const ulong row = part * KEYS + key;
            if (row >= PART_ROWS) continue;
            PART_WRITE
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
// What was left of parts, in shares of about the same size; the next work-group in turn takes the next one.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_hot(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint table[KEYS * SLOTS];
    PART_TOTAL_SETUP
    const ulong used = (PART_ROWS + KEYS - 1) / KEYS;
    const uint most = most_of_part(parts, used), hot = min(parts[HOT_PARTS], (uint)MOST_HOT);
    const uint each = max((uint)(FIRST_HIGH[PARTS_HIGH] / GROUPS), (uint)LEAST_HOT / 4);
    __global const pair_t *in = PAIRS;
    uint turn = get_group_id(0);
    for (uint h = 0; h < hot; h++) {
        const ulong part = HOT[h];
        const uint first_of = FIRST_PART[part] + most, end = FIRST_PART[part + 1], shares = (end - first_of + each - 1) / each;
        for (; turn < shares; turn += get_num_groups(0)) {
            const uint begin = first_of + turn * each, stop = begin + min(end - begin, each);
            for (uint j = lane; j < KEYS * SLOTS; j += LANES) table[j] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            #include "codegen/opencl/templates/part_add.cl"
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint key = lane; key < KEYS; key += LANES) {
                const ulong row = part * KEYS + key;
                if (row >= PART_ROWS) continue;
                PART_WRITE_HOT
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        turn -= shares;
    }
}
