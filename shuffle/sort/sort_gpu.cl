#pragma once
#include "shuffle/sort/sort_order.cl"
// A radix sort by 8 bits, least significant digit first, on a GPU. All digits of a key are counted in one pass over
// the keys, for no pass changes how many there are. A pass that moves reads and writes each key once: a work-group
// counts the digits of a tile, learns from the tiles before where its keys go, and moves them. In a tile each key
// learns its rank among those with its digit: a row of 32 lanes at a time, by a mask of the lanes that have the
// digit. Keys are put in order in local memory first, so that they leave in runs, beside those of neighbouring tiles.
// (Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016; Adinets, Merrill, "Onesweep",
// 2022.)
#define LANES 256u                  // one for each digit
#define WARPS (LANES / 32u)
#define ROWS (64u / (uint)sizeof(KEY))      // keys of a lane
#define TILE (LANES * ROWS)
#define BYTES ((uint)sizeof(KEY))
#if defined(__NV_CL_C_VERSION)
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define TOGETHER() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define OF_TILE 0x40000000u         // a state holds a tile's count
#define UP_TO_TILE 0x80000000u      // a state holds the place behind a tile's keys
#define STATE_VALUE 0x3fffffffu

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_count(ulong n, ulong shift, IN_PARAMS, __global uint *restrict counters, __global ulong *restrict masks)
{
    __local uint count[BYTES * 256];
    __local uint bits[4];           // low and high words of any, all
    const uint lane = get_local_id(0), group = get_group_id(0);
    const ulong step = (ulong)get_num_groups(0) * TILE;
    KEY any = 0, all = ~(KEY)0;
    for (uint d = lane; d < BYTES * 256; d += LANES) count[d] = 0;
    if (lane < 4) bits[lane] = lane < 2 ? 0 : ~0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong tile = (ulong)group * TILE; tile < n; tile += step) {
        const ulong first = tile + lane;
        KEY key[ROWS];
        for (uint r = 0; r < ROWS; r++)
            if (first + r * LANES < n) key[r] = KEY_AT(first + r * LANES);
        for (uint r = 0; r < ROWS; r++) {
            if (first + r * LANES >= n) continue;
            any |= key[r];
            all &= key[r];
            for (uint b = 0; b < BYTES; b++) atomic_inc((volatile __local uint *)(count + b * 256 + ((uint)(key[r] >> 8 * b) & 255u)));
        }
    }
    atomic_or((volatile __local uint *)bits, (uint)any);
    atomic_or((volatile __local uint *)bits + 1, (uint)((ulong)any >> 32));
    atomic_and((volatile __local uint *)bits + 2, (uint)all);
    atomic_and((volatile __local uint *)bits + 3, (uint)((ulong)all >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = lane; d < BYTES * 256; d += LANES)
        if (count[d]) atomic_add((volatile __global uint *)(counters + d), count[d]);
    if (lane < 2) masks[2 * group + lane] = bits[2 * lane] | (ulong)bits[2 * lane + 1] << 32;
}

// The rank of a key among those of its row so far with the same digit, which are counted in `count`, a word for each
// digit. `set` has another, all zero before and after. A row is 32 lanes, which go together; lanes that are not
// `there` have no key.
inline uint rank_of(__local uint *set, __local uint *count, uint digit, uint bit, bool there)
{
    if (there) atomic_or((volatile __local uint *)(set + digit), bit);
    TOGETHER();
    const uint same = there ? set[digit] : 0, before = there ? count[digit] : 0;
    TOGETHER();
    if ((same & (bit - 1)) == 0 && there) {
        set[digit] = 0;
        count[digit] = before + popcount(same);
    }
    TOGETHER();
    return before + popcount(same & (bit - 1));
}

// Where this tile's keys with a digit begin: behind those of all tiles before it. Tiles take their numbers as they
// begin, so every one that is waited for is under way. `state` has a word for each digit of each tile; `begin` is
// where the digit begins.
inline uint place_of(volatile __global uint *state, uint tile, uint digit, uint count, uint begin)
{
    uint before = 0;
    if (tile) state[tile * 256ul + digit] = OF_TILE | count;
    for (uint t = tile; t > 0;) {
        const uint found = state[(t - 1) * 256ul + digit];
        before += found & STATE_VALUE;
        if (found & UP_TO_TILE) break;
        if (found & OF_TILE) t--;
    }
    if (tile == 0) before = begin;
    state[tile * 256ul + digit] = UP_TO_TILE | (before + count);
    return before;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_move(ulong n, ulong shift, IN_PARAMS, __global const uint *restrict counters, __global uint *restrict state, OUT_PARAMS)
{
    __local uint set[WARPS * 256];
    __local uint count[WARPS * 256], sums[8], base[256], number;
    __local KEY moved[TILE];
    const uint lane = get_local_id(0), row = lane / 32 * 256, bit = 1u << lane % 32;
    if (lane == 0) number = atomic_inc((volatile __global uint *)state + get_num_groups(0) * 256ul);
    for (uint w = lane; w < WARPS * 256; w += LANES) set[w] = 0;
    for (uint w = lane; w < WARPS * 256; w += LANES) count[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = (ulong)number * TILE;
    const uint here = n - start < TILE ? (uint)(n - start) : TILE, mine = lane / 32 * (32 * ROWS) + lane % 32;
    KEY key[ROWS];
    uint rank[ROWS];
#if PAIRS
    uint index[ROWS];
#endif
    for (uint r = 0; r < ROWS; r++) key[r] = mine + r * 32 < here ? KEY_AT(start + mine + r * 32) : 0;
#if PAIRS
    for (uint r = 0; r < ROWS; r++) index[r] = mine + r * 32 < here ? INDEX_AT(start + mine + r * 32) : 0;
#endif
    for (uint r = 0; r < ROWS; r++) rank[r] = rank_of(set + row, count + row, DIGIT(key[r]), bit, mine + r * 32 < here);
    barrier(CLK_LOCAL_MEM_FENCE);
    // Counts to places in the tile: over the rows of a digit, then over the digits: 32 of them in each row of lanes, and the rows' sums.
    uint sum = 0;
    for (uint w = 0; w < WARPS; w++) {
        const uint of_row = count[w * 256 + lane];
        count[w * 256 + lane] = sum;
        sum += of_row;
    }
    base[lane] = sum;
    uint upto = sum;
    for (uint s = 1; s < 32; s *= 2) {
        TOGETHER();
        const uint before = lane % 32 >= s ? base[lane - s] : 0;
        TOGETHER();
        upto += before;
        base[lane] = upto;
    }
    if (lane % 32 == 31) sums[lane / 32] = upto;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint in_tile = upto - sum;
    for (uint k = 0; k < WARPS - 1; k++) in_tile += k < lane / 32 ? sums[k] : 0;
    for (uint w = 0; w < WARPS; w++) count[w * 256 + lane] += in_tile;
    const uint byte = (uint)shift / 8;
    base[lane] = place_of(state, number, lane, sum, counters[byte * 256 + lane] - byte * (uint)n) - in_tile;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++) {
        rank[r] += count[row + DIGIT(key[r])];
        if (mine + r * 32 < here) moved[rank[r]] = key[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if PAIRS
    uint to[ROWS];
#endif
    for (uint r = 0; r < ROWS; r++) {
        const uint j = r * LANES + lane;
        const KEY k = moved[j];
        const uint at = base[DIGIT(k)] + j;
#if PAIRS
        to[r] = at;
#endif
#ifdef OUT
        if (j < here) out[at] = OUT_OF(k);
#endif
    }
#if PAIRS
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++)
        if (mine + r * 32 < here) moved[rank[r]] = index[r];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++)
        if (r * LANES + lane < here) index_out[to[r]] = (uint)moved[r * LANES + lane];
#endif
}
