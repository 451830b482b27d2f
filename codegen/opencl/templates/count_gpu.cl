//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: COUNT_SETUP
//: COUNT_RECORD
//# LANES 256
#pragma once

// The first of three runs: how many records each tile of LANES input records emits.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void KERNEL_count(ARGS)
{
    __local ulong counts[LANES];
    const uint lane = get_local_id(0);
    COUNT_SETUP
    for (ulong base = get_group_id(0) * (ulong)LANES; base < count; base += get_global_size(0)) {
        ulong place = 0;
        COUNT_RECORD
        counts[lane] = place;
        for (uint reach = LANES / 2; reach > 0; reach /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < reach) counts[lane] += counts[lane + reach];
        }
        if (lane == 0) places[1 + base / LANES] = counts[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// The second: where the output of each tile begins, and how many records there are in all. One work-group; each lane has a run of tiles.
// (Blelloch, "Prefix sums and their applications", 1990: reduce, scan, then down again.)
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void KERNEL_scan(ARGS)
{
    __local ulong sums[LANES];
    const uint lane = get_local_id(0);
    const ulong tiles = (count + LANES - 1) / LANES, each = (tiles + LANES - 1) / LANES;
    const ulong first_tile = min(lane * each, tiles), end_tile = min(first_tile + each, tiles);
    ulong sum = 0;
    for (ulong tile = first_tile; tile < end_tile; tile++) sum += places[1 + tile];
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        ulong all = 0;
        for (uint other = 0; other < LANES; other++) {
            const ulong own = sums[other];
            sums[other] = all;
            all += own;
        }
        places[0] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong next = sums[lane];
    for (ulong tile = first_tile; tile < end_tile; tile++) {
        const ulong own = places[1 + tile];
        places[1 + tile] = next;
        next += own;
    }
}
