//# PACKED uint | ulong
//# MIXED_BYTES 4 | 8
//# packed_of(row) (*(__global const PACKED *)(row))
//# SIZE 16ul
#pragma once
#include "shuffle/aggregate/hash_key.cl"
// Where the runs of equal keys begin, of records that are ordered by the hash of their key. A work-group takes tile after tile, a lane some neighbours of it:
// runs are counted, the host makes places of the counts, and starts are written there.
#define RUN_LANES 256u
#define RUN_EACH 16u
#define RUN_TILE (RUN_LANES * RUN_EACH)

// Bits of the lane's records with which runs begin.
inline uint beginnings(__global const uchar *restrict records, ulong count, ulong first, bool *same_hash)
{
    uint set = 0;
    PACKED before = first && first < count ? packed_of(records + (first - 1) * SIZE) : 0;
    for (uint e = 0; e < RUN_EACH && first + e < count; e++) {
        const PACKED key = packed_of(records + (first + e) * SIZE);
        const bool begins = first + e == 0 || key != before;
        set |= (uint)begins << e;
#if MIXED_BYTES == 8
        *same_hash |= begins && first + e && mix64(key) >> 32 == mix64(before) >> 32;
#endif
        before = key;
    }
    return set;
}

// *clash: two runs have one hash.
__kernel __attribute__((reqd_work_group_size(RUN_LANES, 1, 1)))
void count_runs(__global const uchar *restrict records, ulong count, __global uint *restrict counts, __global uint *restrict clash)
{
    __local uint sum;
    const uint lane = get_local_id(0);
    for (ulong tile = get_group_id(0); tile * RUN_TILE < count; tile += get_num_groups(0)) {
        bool same_hash = false;
        if (lane == 0) sum = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_add((volatile __local uint *)&sum, popcount(beginnings(records, count, tile * RUN_TILE + lane * RUN_EACH, &same_hash)));
        if (same_hash) *clash = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) counts[tile] = sum;
    }
}

// `places`: of each tile, how many runs begin before it.
__kernel __attribute__((reqd_work_group_size(RUN_LANES, 1, 1)))
void write_runs(__global const uchar *restrict records, ulong count, __global const uint *restrict places, __global uint *restrict starts)
{
    __local uint sums[RUN_LANES];
    const uint lane = get_local_id(0);
    for (ulong tile = get_group_id(0); tile * RUN_TILE < count; tile += get_num_groups(0)) {
        bool same_hash = false;
        const ulong first = tile * RUN_TILE + lane * RUN_EACH;
        const uint set = beginnings(records, count, first, &same_hash);
        sums[lane] = popcount(set);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = 1; s < RUN_LANES; s *= 2) {
            const uint before = lane >= s ? sums[lane - s] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[lane] += before;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint place = places[tile] + sums[lane] - popcount(set);
        for (uint e = 0; e < RUN_EACH; e++)
            if (set >> e & 1) starts[place++] = (uint)(first + e);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel void keys_of_runs(__global const uchar *restrict records, __global const uint *restrict starts, ulong runs, __global ulong *restrict keys)
{
    for (ulong i = get_global_id(0); i < runs; i += get_global_size(0)) keys[i] = packed_of(records + starts[i] * SIZE);
}
