//# MIXED_BYTES 4
#pragma once
#include "shuffle/aggregate/hash_gpu.cl"
// Reduction by key on a GPU where keys, of at most 4 bytes, are below a number that is known before, as those that name rows are: `table` has the words of each
// of them, so nothing is looked for and no tuple is moved. `seen` has a bit for each key, `order` all keys there may be, mixed, in the order of the result: it
// is made once, and which of them were seen are the result's.

// Keys go by the upper bits of the mixed key: they are counted, then placed; `places` is then where those behind begin.
__kernel GROUP void rows_place(ulong placing, ulong keys, ulong shift, volatile __global uint *places, __global uint *restrict order)
{
    for (ulong i = get_global_id(0); i < keys; i += get_global_size(0)) {
        const uint m = mix32((uint)i), at = atomic_inc(places + (m >> (uint)shift));
        if (placing) order[at] = m;
    }
}
// The few that have these bits in common are put in order.
__kernel GROUP void rows_sort(ulong count, __global const uint *restrict places, __global uint *order)
{
    for (ulong p = get_global_id(0); p < count; p += get_global_size(0)) {
        const uint begin = p ? places[p - 1] : 0, end = places[p];
        for (uint i = begin + 1; i < end; i++) {
            const uint m = order[i];
            uint to = i;
            for (; to > begin && order[to - 1] > m; to--) order[to] = order[to - 1];
            order[to] = m;
        }
    }
}

__kernel GROUP void rows_add(ulong n, ulong keys, SRC, SCALES, volatile __global uint *seen, __global ulong *table, __global uint *restrict counters,
                             ulong stray)
{
    const scales_t scales = SCALES_OF;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const TUPLE tuple = tuple_at(SRC_ARGS, i);
        const uint key = unmix32((uint)mixed_of(tuple)), bit = 1u << (key & 31);
        if (key >= keys) {
            counters[stray] = 1;
            continue;
        }
        add_words((volatile __global ulong *)table + (ulong)key * UNITS, words_of(tuple, scales));
        if (!(LOOK(seen + key / 32) & bit)) atomic_or(seen + key / 32, bit);
    }
}

// --- Which were seen, tile by tile of `order` ---

#define ROW_TILE (8 * LANES)
inline uint seen_at(__global const uint *seen, uint m) { return seen[unmix32(m) / 32] >> (unmix32(m) & 31) & 1; }

__kernel GROUP void rows_count(ulong keys, __global const uint *restrict order, __global const uint *restrict seen, __global uint *restrict counters)
{
    __local uint sums[LANES];
    const uint lane = get_local_id(0);
    for (ulong tile = get_group_id(0); tile * ROW_TILE < keys; tile += get_num_groups(0)) {
        uint own = 0;
        for (ulong i = tile * ROW_TILE + lane; i < min(keys, (tile + 1) * ROW_TILE); i += LANES) own += seen_at(seen, order[i]);
        const uint all = sum_of_lanes(sums, lane, own);
        if (lane == 0) counters[tile] = all;
    }
}
// counters: rows before each tile's. The words of those that are written are clear again.
__kernel GROUP void rows_write(ulong keys, __global const uint *restrict order, __global const uint *restrict seen, __global const uint *restrict counters,
                               SCALES, __global ulong *restrict table, __global uchar *restrict out)
{
    __local uint sums[LANES];
    const uint lane = get_local_id(0);
    const scales_t scales = SCALES_OF;
    for (ulong tile = get_group_id(0); tile * ROW_TILE < keys; tile += get_num_groups(0)) {
        uint before = counters[tile];
        for (ulong base = tile * ROW_TILE; base < (tile + 1) * ROW_TILE && before < counters[tile + 1]; base += LANES) {
            const bool there = base + lane < keys;
            const uint m = there ? order[base + lane] : 0, own = there ? seen_at(seen, m) : 0, place = sum_before_lane(sums, lane, own);
            if (own) {
                __global ulong *words = table + (ulong)unmix32(m) * UNITS;
                write_row(out + (ulong)(before + place) * SIZE, m, words_at(words), scales);
                for (uint u = 0; u < UNITS; u++) words[u] = 0;
            }
            before += sums[LANES - 1];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
