//# STATE_WORDS 3u
#pragma once
#include "shuffle/aggregate/hash_gpu.cl"

// Rows that are not finished, of all partitions one behind the other: what the host takes for the states of keys (aggregate_state.h), and merges with
// another device's.
__kernel GROUP void hash_write_state(ulong partitions, __global const uint *restrict places, __global const uint *restrict staged,
    __global const uchar *restrict rows, ulong addend_bits, __global ulong *restrict out)
{
    const uint lane = get_local_id(0);
    for (ulong partition = get_group_id(0); partition < partitions; partition += get_num_groups(0)) {
        const ulong to = places[partition], count = places[partition + 1] - to, from = staged[partition];
        for (ulong i = lane; i < count; i += LANES) write_state(rows + (from + i) * ROW_BYTES, out + (to + i) * STATE_WORDS, (uint)addend_bits);
    }
}
