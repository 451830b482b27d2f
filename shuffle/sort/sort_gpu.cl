//# LANES 384u
//# ROWS 21u
#pragma once
#include "shuffle/sort/sort_order.cl"
// A radix sort by 8 bits, least significant digit first, on a GPU. All digits of a key are counted in one pass over
// the keys, for no pass changes how many there are. A pass that moves reads and writes each key once: a work-group
// counts the digits of a tile, learns from the tiles before where its keys go, and moves them. In a tile each key
// learns its rank among those with its digit: a row of 32 lanes at a time, by a mask of the lanes that have the
// digit. Keys are put in order in local memory first, so that they leave in runs, beside those of neighbouring tiles.
// (Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016; Adinets, Merrill, "Onesweep",
// 2022.)
#define DIGITS 256u
#define WARPS (LANES / 32u)                 // LANES: of a work-group that moves, at least one for each digit
#define TILE (LANES * ROWS)                 // ROWS: keys of a lane
#define COUNT_LANES 256u
#define COUNT_ROWS (64u / (uint)sizeof(KEY))
#define BYTES ((uint)sizeof(KEY))
#if defined(__NV_CL_C_VERSION)
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define TOGETHER() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define OF_TILE 0x40000000u         // a state holds a tile's count
#define UP_TO_TILE 0x80000000u      // a state holds the place behind a tile's keys
#define STATE_VALUE 0x3fffffffu
#define LOOKS 4u                    // states that are asked for at once

__kernel __attribute__((reqd_work_group_size(COUNT_LANES, 1, 1)))
void sort_count(ulong n, ulong shift, IN_PARAMS, __global uint *restrict counters, __global ulong *restrict masks)
{
    __local uint count[BYTES * 256];
    __local uint bits[4];           // low and high words of any, all
    const uint lane = get_local_id(0), group = get_group_id(0);
    const ulong step = (ulong)get_num_groups(0) * (COUNT_LANES * COUNT_ROWS);
    KEY any = 0, all = ~(KEY)0;
    for (uint d = lane; d < BYTES * 256; d += COUNT_LANES) count[d] = 0;
    if (lane < 4) bits[lane] = lane < 2 ? 0 : ~0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong tile = (ulong)group * (COUNT_LANES * COUNT_ROWS); tile < n; tile += step) {
        const ulong first = tile + lane;
        KEY key[COUNT_ROWS];
        for (uint r = 0; r < COUNT_ROWS; r++)
            if (first + r * COUNT_LANES < n) key[r] = KEY_AT(first + r * COUNT_LANES);
        for (uint r = 0; r < COUNT_ROWS; r++) {
            if (first + r * COUNT_LANES >= n) continue;
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
    for (uint d = lane; d < BYTES * 256; d += COUNT_LANES)
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
// begin, so every one that is waited for is under way. `state` has a word for each digit of each tile, of which
// several are asked for at once. (Loops that end early would not be unrolled.)
inline uint place_of(volatile __global uint *state, uint tile, uint digit)
{
    uint before = 0;
    bool known = false;
    for (uint t = tile; !known;) {
        uint found[LOOKS];
        bool there = true;
        for (uint k = 0; k < LOOKS; k++) found[k] = t > k ? state[(t - 1 - k) * (ulong)DIGITS + digit] : 0;
        for (uint k = 0; k < LOOKS; k++) {
            there = there && !known && found[k] != 0;
            before += there ? found[k] & STATE_VALUE : 0;
            known = known || (there && (found[k] & UP_TO_TILE) != 0);
            t -= there;
        }
    }
    return before;
}

// Counts of a digit to places in the tile, over the rows and then over the digits before: 32 of these in each row of
// lanes, and the rows' sums. Returns the first place. *sum: keys with the digit.
inline uint places_in_tile(__local uint *count, __local uint *base, __local uint *sums, uint *sum)
{
    const uint lane = get_local_id(0);
    uint own = 0;
    for (uint w = 0; w < WARPS && lane < DIGITS; w++) {
        const uint of_row = count[w * DIGITS + lane];
        count[w * DIGITS + lane] = own;
        own += of_row;
    }
    if (lane < DIGITS) base[lane] = own;
    uint upto = own;
    for (uint s = 1; s < 32; s *= 2) {
        TOGETHER();
        const uint before = lane < DIGITS && lane % 32 >= s ? base[lane - s] : 0;
        TOGETHER();
        upto += before;
        if (lane < DIGITS) base[lane] = upto;
    }
    if (lane < DIGITS && lane % 32 == 31) sums[lane / 32] = upto;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint in_tile = upto - own;
    for (uint k = 0; k < DIGITS / 32 - 1; k++) in_tile += k < lane / 32 ? sums[k] : 0;
    for (uint w = 0; w < WARPS && lane < DIGITS; w++) count[w * DIGITS + lane] += in_tile;
    *sum = own;
    return in_tile;
}

// Counts take the memory in which keys are then put in order.
#define WORDS_OF_COUNTS (2 * WARPS * DIGITS)
#define KEYS_OF_COUNTS (WORDS_OF_COUNTS * (uint)sizeof(uint) / (uint)sizeof(KEY))

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void sort_move(ulong n, ulong first_bit, IN_PARAMS, __global const uint *restrict counters, volatile __global uint *restrict state, OUT_PARAMS)
{
    __local KEY moved[TILE > KEYS_OF_COUNTS ? TILE : KEYS_OF_COUNTS];
    __local uint sums[DIGITS / 32], base[DIGITS], number;
    __local uint *count = (__local uint *)moved, *set = count + WARPS * DIGITS;
    const uint lane = get_local_id(0), row = lane / 32 * DIGITS, bit = 1u << lane % 32, shift = (uint)first_bit;
    if (lane == 0) number = atomic_inc(state + get_num_groups(0) * (ulong)DIGITS);
    for (uint w = lane; w < WORDS_OF_COUNTS; w += LANES) count[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = (ulong)number * TILE;
    const uint here = n - start < TILE ? (uint)(n - start) : TILE, mine = lane / 32 * (32 * ROWS) + lane % 32;
    KEY key[ROWS];
    ushort rank[ROWS];
#if PAIRS
    uint index[ROWS];
#endif
    if (here == TILE) {
        for (uint r = 0; r < ROWS; r++) key[r] = KEY_AT(start + mine + r * 32);
#if PAIRS
        for (uint r = 0; r < ROWS; r++) index[r] = INDEX_AT(start + mine + r * 32);
#endif
        for (uint r = 0; r < ROWS; r++) rank[r] = (ushort)rank_of(set + row, count + row, DIGIT(key[r]), bit, true);
    } else {
        for (uint r = 0; r < ROWS; r++) key[r] = mine + r * 32 < here ? KEY_AT(start + mine + r * 32) : 0;
#if PAIRS
        for (uint r = 0; r < ROWS; r++) index[r] = mine + r * 32 < here ? INDEX_AT(start + mine + r * 32) : 0;
#endif
        for (uint r = 0; r < ROWS; r++) rank[r] = (ushort)rank_of(set + row, count + row, DIGIT(key[r]), bit, mine + r * 32 < here);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum;
    const uint in_tile = places_in_tile(count, base, sums, &sum), byte = shift / 8;
    if (lane < DIGITS) {        // as early as can be, for the tiles behind
        const uint begin = counters[byte * DIGITS + lane] - byte * (uint)n;
        state[number * (ulong)DIGITS + lane] = number ? OF_TILE | sum : UP_TO_TILE | (begin + sum);
        if (number == 0) base[lane] = begin - in_tile;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++) rank[r] += (ushort)count[row + DIGIT(key[r])];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here == TILE)
        for (uint r = 0; r < ROWS; r++) moved[rank[r]] = key[r];
    else
        for (uint r = 0; r < ROWS; r++)
            if (mine + r * 32 < here) moved[rank[r]] = key[r];
    if (lane < DIGITS && number) {
        const uint before = place_of(state, number, lane);
        state[number * (ulong)DIGITS + lane] = UP_TO_TILE | (before + sum);
        base[lane] = before - in_tile;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if PAIRS
    uint to[ROWS];
    for (uint r = 0; r < ROWS; r++) to[r] = base[DIGIT(moved[r * LANES + lane])] + r * LANES + lane;
#define TO(r) to[r]
#else
#define TO(r) (base[DIGIT(moved[(r) * LANES + lane])] + (r) * LANES + lane)
#endif
#ifdef OUT
    if (here == TILE)
        for (uint r = 0; r < ROWS; r++) out[TO(r)] = OUT_OF(moved[r * LANES + lane]);
    else
        for (uint r = 0; r < ROWS; r++)
            if (r * LANES + lane < here) out[TO(r)] = OUT_OF(moved[r * LANES + lane]);
#endif
#if PAIRS
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++)
        if (mine + r * 32 < here) moved[rank[r]] = index[r];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < ROWS; r++)
        if (r * LANES + lane < here) index_out[to[r]] = (uint)moved[r * LANES + lane];
#endif
}
