//# LANES 256u
//# TILE_ROWS 8u
//# FEW_LANES 512u
//# MANY_LANES 1024u
//# MANY_ROWS 12u
//# EACH 1u
//# HEAVY_CELLS 1024u
//# UNITS 1u
//# AT_ONCE 4u
//# CELLS 2u
//# COUNTED_BITS 14u
//# SHARE_TILES 4u
#pragma once
#include "base/group_sums.cl"
#include "shuffle/aggregate/hash_example.cl"
// Reduction by key on a GPU, for keys of any range: tuples of a mixed key and what is added are put in order of
// *partitions*, by the upper bits of the key's hash, once or twice, until the keys of a partition have room in a hash table in
// local memory (hash_total.cl). Tuples are counted by partition; a prefix sum over the counters says where each
// partition begins. A work-group with a *tile* of tuples then takes as many places of each partition as it has tuples
// of it, by one atomic addition, so the order within a partition is anyone's: what is added up does not depend on it.
// (As in radix partitioning; Satish, Harris, Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009.)
// Keys that the sample met often are *heavy*: a work-group adds them up itself, in local memory, as it counts; so one key
// that half of all records have keeps nobody waiting, and where there are few keys no tuples are left.
// Of twice as many partitions a tile has more tuples, so that they leave in runs as long: its work-group has MANY_LANES, of others FEW_LANES. A lane has
// MANY_ROWS or TILE_ROWS of the tuples, in registers; as many as a small tile has are put in order in local memory at once. Large tiles are whole small ones.
#define PARTITIONS (EACH * FEW_LANES)
#define MOST_PARTITIONS (EACH * MANY_LANES)
#define TILE (FEW_LANES * TILE_ROWS)
#define TILE_OF_MANY (MANY_LANES * MANY_ROWS)
#define MOST_ROWS (TILE_ROWS > MANY_ROWS ? TILE_ROWS : MANY_ROWS)
#if defined(__NV_CL_C_VERSION)
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
// Whether any lane of the warp has something left to do; brings them together too.
inline uint any_of_warp(uint left)
{
    uint any;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(any) : "r"(left) : "memory");
    return any;
}
#define ANY_OF_WARP(left) any_of_warp(left)
#else
#define TOGETHER()
#define ANY_OF_WARP(left) (left)
#endif
#define PARTITION_OF(m, shift, mask) ((HASH_OF(m) >> (shift)) & (mask))
#define GROUP __attribute__((reqd_work_group_size(LANES, 1, 1)))

// --- Prefix sums over counters ---

// In two kernels: each work-group sums up its share, then it begins with the shares before it.
__kernel GROUP void hash_sum(ulong n, __global const uint *restrict counters, __global uint *restrict shares)
{
    __local uint sums[LANES];
    const uint lane = get_local_id(0);
    const ulong group = get_group_id(0), groups = get_num_groups(0), end = n * (group + 1) / groups;
    uint own = 0;
    for (ulong i = n * group / groups + lane; i < end; i += LANES) own += counters[i];
    const uint all = sum_of_lanes(sums, lane, own);
    if (lane == 0) shares[group] = all;
}
__kernel GROUP void hash_scan(ulong n, __global uint *restrict counters, __global const uint *restrict shares)
{
    __local uint sums[LANES];
    const uint lane = get_local_id(0);
    const ulong group = get_group_id(0), groups = get_num_groups(0), end = n * (group + 1) / groups;
    uint own = 0;
    for (ulong i = lane; i < group; i += LANES) own += shares[i];
    uint before = sum_of_lanes(sums, lane, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong base = n * group / groups; base < end; base += LANES) {
        const ulong i = base + lane;
        const uint one = i < end ? counters[i] : 0, place = sum_before_lane(sums, lane, one);
        if (i < end) counters[i] = before + place;
        before += sums[LANES - 1];
    }
}
// Where each partition begins, beside the places that are taken from there on.
__kernel GROUP void hash_starts(ulong count, __global const uint *restrict places, __global uint *restrict starts)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) starts[i] = places[i];
}
// The same for partitions of the first time, each of which is 2^bits of those that were counted.
__kernel GROUP void hash_starts_high(ulong count, ulong bits, __global const uint *restrict places, __global uint *restrict high_places,
                                     __global uint *restrict high_starts)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) high_places[i] = high_starts[i] = places[i << bits];
}

// --- The sample ---

// A record out of each `every`, at no regular distance, as a tuple.
__kernel GROUP void hash_sample(ulong count, ulong every, ulong to, SRC, __global TUPLE *restrict out)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) out[to + i] = tuple_at(SRC_ARGS, i * every + mix32((uint)i) % every);
}

// --- Hot keys: a table that is only read, where a key stands at its home or one of the two places behind ---

inline uint heavy_home(MIXED m, uint seed, uint heavy) { return mul_hi((uint)m * seed, heavy - 2); }
#define IS_HEAVY(table, at, m) ((table)[at] == (m) || (table)[(at) + 1] == (m) || (table)[(at) + 2] == (m))
#define HEAVY_AT(table, at, m) ((table)[at] == (m) ? (at) : (table)[(at) + 1] == (m) ? (at) + 1 : (at) + 2)

// --- The first time ---

// A work-group of those that count has `tiles_before` ... of its input's tiles, which are large ones.
#define TILES_OF(n) (((n) + TILE_OF_MANY - 1) / TILE_OF_MANY)
inline ulong tiles_before(ulong n, ulong group) { return TILES_OF(n) * group / get_num_groups(0); }
inline void count_records(bool any_heavy, ulong n, uint shift, uint mask, uint heavy, uint seed, uint copies, SRC, scales_t scales, __local uint *tuples_of,
                          __local uint *cells, __local MIXED *table)
{
    const uint lane = get_local_id(0), copy = lane & (copies - 1);
    const ulong group = get_group_id(0), end = min(n, tiles_before(n, group + 1) * TILE_OF_MANY);
    for (ulong base = tiles_before(n, group) * TILE_OF_MANY; base < end; base += LANES * AT_ONCE) {
        TOGETHER();
        TUPLE tuples[AT_ONCE];
        for (uint r = 0; r < AT_ONCE; r++)
            if (base + r * LANES + lane < end) tuples[r] = tuple_at(SRC_ARGS, base + r * LANES + lane);
        for (uint r = 0; r < AT_ONCE; r++) {
            bool there = base + r * LANES + lane < end;
            MIXED m = 0;
            if (there) m = mixed_of(tuples[r]);
            if (any_heavy && there) {
                const uint at = heavy_home(m, seed, heavy);
                if (IS_HEAVY(table, at, m)) {
                    const words_t words = words_of(tuples[r], scales);
                    there = words.exceptions != 0;
                    if (!there) add_cells(cells, HEAVY_AT(table, at, m) * copies + copy, HEAVY_CELLS, words);
                }
            }
            TOGETHER();
            if (there) atomic_inc((volatile __local uint *)(tuples_of + PARTITION_OF(m, shift, mask)));
        }
    }
}
inline void add_counts(uint mask, __local const uint *tuples_of, volatile __global uint *restrict counters)
{
    for (uint j = get_local_id(0); j <= mask; j += LANES)
        if (tuples_of[j]) atomic_add(counters + j, tuples_of[j]);
}
__kernel GROUP void hash_count(ulong n, ulong shift, ulong mask, SRC, __global uint *restrict counters)
{
    __local uint tuples_of[MOST_PARTITIONS];
    const uint lane = get_local_id(0);
    const scales_t scales = {0};
    for (uint j = lane; j < MOST_PARTITIONS; j += LANES) tuples_of[j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    count_records(false, n, (uint)shift, (uint)mask, 0, 0, 1, SRC_ARGS, scales, tuples_of, 0, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_counts((uint)mask, tuples_of, counters);
}
// By all bits that partitions will have when tuples have been put in order twice, which are more than there is room for words: two counters in each. A share of
// the tuples later those that are half full are emptied, so none overflows.
#define COUNTED_WORDS (1u << (COUNTED_BITS - 1))
#define COUNTED_AT_ONCE 32768u
__kernel GROUP void hash_count_all(ulong n, ulong shift, ulong mask, SRC, volatile __global uint *restrict counters)
{
    __local uint pairs[COUNTED_WORDS];
    const uint lane = get_local_id(0), words = (uint)mask / 2 + 1;
    const ulong group = get_group_id(0), end = min(n, tiles_before(n, group + 1) * TILE_OF_MANY);
    for (uint j = lane; j < words; j += LANES) pairs[j] = 0;
    for (ulong share = tiles_before(n, group) * TILE_OF_MANY; share < end; share += COUNTED_AT_ONCE) {
        const ulong share_end = min(end, share + COUNTED_AT_ONCE);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (ulong base = share; base < share_end; base += LANES * AT_ONCE) {
            uint partition[AT_ONCE];
            for (uint r = 0; r < AT_ONCE; r++)
                if (base + r * LANES + lane < share_end)
                    partition[r] = PARTITION_OF(mixed_of(tuple_at(SRC_ARGS, base + r * LANES + lane)), (uint)shift, (uint)mask);
            for (uint r = 0; r < AT_ONCE; r++)
                if (base + r * LANES + lane < share_end) atomic_add((volatile __local uint *)(pairs + partition[r] / 2), 1u << 16 * (partition[r] & 1));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = lane; j < words; j += LANES) {
            const uint pair = pairs[j], low = pair & 0xffffu, high = pair >> 16;
            const bool last = share_end == end, empties_low = last || low >= 0x8000u, empties_high = last || high >= 0x8000u;
            if (empties_low && low) atomic_add(counters + 2 * j, low);
            if (empties_high && high) atomic_add(counters + 2 * j + 1, high);
            if (empties_low || empties_high) pairs[j] = (empties_low ? 0 : low) | (empties_high ? 0 : high << 16);
        }
    }
}
// left: of each work-group, from `chunk` on, how many tuples are left for hash_place_heavy.
__kernel GROUP void hash_count_heavy(ulong n, ulong shift, ulong mask, SRC, __global uint *restrict counters, ulong chunk, __global uint *restrict left,
                                     ulong heavy, ulong seed, ulong copies, SCALES, __global const MIXED *restrict heavy_keys,
                                     __global ulong *restrict heavy_words)
{
    __local uint tuples_of[MOST_PARTITIONS], cells[HEAVY_CELLS * CELLS] __attribute__((aligned(8))), sums[LANES];
    __local MIXED table[HEAVY_CELLS];
    const uint lane = get_local_id(0);
    const scales_t scales = SCALES_OF;
    for (uint j = lane; j < MOST_PARTITIONS; j += LANES) tuples_of[j] = 0;
    for (uint j = lane; j < HEAVY_CELLS * CELLS; j += LANES) cells[j] = 0;
    for (uint j = lane; j < heavy; j += LANES) table[j] = heavy_keys[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    count_records(true, n, (uint)shift, (uint)mask, (uint)heavy, (uint)seed, (uint)copies, SRC_ARGS, scales, tuples_of, cells, table);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_counts((uint)mask, tuples_of, counters);
    uint own = 0;
    for (uint j = lane; j <= mask; j += LANES) own += tuples_of[j];
    const uint all = sum_of_lanes(sums, lane, own);
    if (lane == 0) left[chunk + get_group_id(0)] = all;
    for (uint j = lane; j < (uint)heavy * (uint)copies; j += LANES) add_words(heavy_words + j / (uint)copies * UNITS, cells_at(cells, j, HEAVY_CELLS));
}

// Puts the tuples of a tile where they belong: in local memory first, in order of partitions, so that they leave in runs; as many at a time as have room
// there. `tuples_of` is zero, and is then where each partition begins in the tile.
inline void place_tile(uint lanes, uint rows, const TUPLE *tuples, uint there, uint shift, uint mask, __local uint *tuples_of, __local uint *to,
                       __local uint *sums, __local TUPLE *sorted, volatile __global uint *restrict places, __global TUPLE *restrict out)
{
    const uint lane = get_local_id(0);
    uint rank[MOST_ROWS], mine[EACH], place[EACH], own = 0;
    for (uint r = 0; r < rows; r++)
        if (there >> r & 1) rank[r] = atomic_inc((volatile __local uint *)(tuples_of + PARTITION_OF(mixed_of(tuples[r]), shift, mask)));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < EACH; k++) {
        mine[k] = tuples_of[lane * EACH + k];
        place[k] = mine[k] ? atomic_add(places + lane * EACH + k, mine[k]) : 0;
        own += mine[k];
    }
    uint before = sum_before_lane_of(lanes, sums, lane, own);
    const uint all = sums[lanes - 1];
    for (uint k = 0; k < EACH; k++) {
        tuples_of[lane * EACH + k] = before;
        to[lane * EACH + k] = place[k] - before;
        before += mine[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < rows; r++)
        if (there >> r & 1) rank[r] += tuples_of[PARTITION_OF(mixed_of(tuples[r]), shift, mask)];
    for (uint first = 0; first < all; first += TILE) {
        const uint staged = min(all - first, TILE);
        if (first) barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < rows; r++)
            if (there >> r & 1 && rank[r] - first < TILE) sorted[rank[r] - first] = tuples[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = lane; j < staged; j += lanes) {
            const TUPLE tuple = sorted[j];
            out[to[PARTITION_OF(mixed_of(tuple), shift, mask)] + first + j] = tuple;
        }
    }
}
#define TILE_MEMORY(lanes) __local uint tuples_of[EACH * (lanes)], to[EACH * (lanes)], sums[lanes]; __local TUPLE sorted[TILE]

// A work-group's tile. The same records are left out as in hash_count_heavy.
inline void place_records(uint lanes, uint rows, bool any_heavy, ulong n, uint shift, uint mask, uint heavy, uint seed, SRC, scales_t scales,
                          __global const MIXED *restrict heavy_keys, volatile __global uint *restrict places, __global TUPLE *restrict out,
                          __local uint *tuples_of, __local uint *to, __local uint *sums, __local TUPLE *sorted)
{
    const uint lane = get_local_id(0);
    const ulong first = get_group_id(0) * (ulong)(lanes * rows) + lane;
    TUPLE tuples[MOST_ROWS];
    uint there = 0;
    for (uint j = lane; j < EACH * lanes; j += lanes) tuples_of[j] = 0;
    for (uint r = 0; r < rows; r++) {
        if (first + r * lanes >= n) continue;
        tuples[r] = tuple_at(SRC_ARGS, first + r * lanes);
        there |= 1u << r;
    }
    if (any_heavy)
        for (uint r = 0; r < rows; r++) {
            if (!(there >> r & 1)) continue;
            const MIXED m = mixed_of(tuples[r]);
            const uint at = heavy_home(m, seed, heavy);
            if (IS_HEAVY(heavy_keys, at, m) && !words_of(tuples[r], scales).exceptions) there &= ~(1u << r);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_tile(lanes, rows, tuples, there, shift, mask, tuples_of, to, sums, sorted, places, out);
}
// Whether the work-group that counted a tile, of `chunks` from `chunk` on, left no tuples, so that nobody need look.
inline bool none_left(uint tile_tuples, ulong n, ulong chunk, ulong chunks, __global const uint *restrict left)
{
    const ulong tile = get_group_id(0) * (ulong)tile_tuples / TILE_OF_MANY, counted_by = ((tile + 1) * chunks - 1) / TILES_OF(n);
    return left[chunk + counted_by] == 0;
}
#define RECORDS ulong n, ulong shift, ulong mask, SRC, __global uint *restrict places, __global TUPLE *restrict out
#define HEAVY ulong chunk, ulong chunks, __global const uint *restrict left, ulong heavy, ulong seed, SCALES, __global const MIXED *restrict heavy_keys
#define GROUP_OF_FEW __attribute__((reqd_work_group_size(FEW_LANES, 1, 1)))
__kernel GROUP_OF_FEW void hash_place(RECORDS)
{
    TILE_MEMORY(FEW_LANES);
    const scales_t scales = {0};
    place_records(FEW_LANES, TILE_ROWS, false, n, (uint)shift, (uint)mask, 0, 0, SRC_ARGS, scales, 0, places, out, tuples_of, to, sums, sorted);
}
__kernel GROUP_OF_FEW void hash_place_heavy(RECORDS, HEAVY)
{
    TILE_MEMORY(FEW_LANES);
    const scales_t scales = SCALES_OF;
    if (none_left(TILE, n, chunk, chunks, left)) return;
    place_records(FEW_LANES, TILE_ROWS, true, n, (uint)shift, (uint)mask, (uint)heavy, (uint)seed, SRC_ARGS, scales, heavy_keys, places, out,
                  tuples_of, to, sums, sorted);
}
#define GROUP_OF_MANY __attribute__((reqd_work_group_size(MANY_LANES, 1, 1)))
__kernel GROUP_OF_MANY void hash_place_many(RECORDS)
{
    TILE_MEMORY(MANY_LANES);
    const scales_t scales = {0};
    place_records(MANY_LANES, MANY_ROWS, false, n, (uint)shift, (uint)mask, 0, 0, SRC_ARGS, scales, 0, places, out, tuples_of, to, sums, sorted);
}
__kernel GROUP_OF_MANY void hash_place_many_heavy(RECORDS, HEAVY)
{
    TILE_MEMORY(MANY_LANES);
    const scales_t scales = SCALES_OF;
    if (none_left(TILE_OF_MANY, n, chunk, chunks, left)) return;
    place_records(MANY_LANES, MANY_ROWS, true, n, (uint)shift, (uint)mask, (uint)heavy, (uint)seed, SRC_ARGS, scales, heavy_keys, places, out,
                  tuples_of, to, sums, sorted);
}

// --- The second time, over tuples ---

// A work-group has a share of them, as they lie: what of it is in one partition of the first time after the other. A partition's counters are 2^bits.
// The partition in which a tuple lies; of those without tuples none.
inline uint partition_at(__global const uint *starts, uint partitions, uint tuple)
{
    uint low = 0, high = partitions;
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        if (starts[middle] <= tuple) low = middle;
        else high = middle;
    }
    return low;
}
#define SHARE (SHARE_TILES * TILE)
__kernel GROUP void hash_count_low(ulong partitions, ulong bits, ulong shift, __global const uint *restrict high_starts, __global const TUPLE *restrict in,
                                   __global uint *restrict counters)
{
    __local uint tuples_of[PARTITIONS];
    const uint lane = get_local_id(0), mask = (1u << (uint)bits) - 1, all = high_starts[partitions];
    for (uint begin = get_group_id(0) * SHARE, end = min(all, begin + SHARE); begin < end;) {
        const uint partition = partition_at(high_starts, (uint)partitions, begin), behind = min(end, high_starts[partition + 1]);
        for (uint j = lane; j < PARTITIONS; j += LANES) tuples_of[j] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = begin + lane; i < behind; i += LANES) atomic_inc((volatile __local uint *)(tuples_of + PARTITION_OF(mixed_of(in[i]), (uint)shift, mask)));
        barrier(CLK_LOCAL_MEM_FENCE);
        add_counts(mask, tuples_of, counters + (partition << (uint)bits));
        barrier(CLK_LOCAL_MEM_FENCE);
        begin = behind;
    }
}
__kernel GROUP_OF_FEW void hash_place_low(ulong partitions, ulong bits, ulong shift, __global const uint *restrict high_starts,
                                          __global const TUPLE *restrict in, __global uint *restrict places, __global TUPLE *restrict out)
{
    TILE_MEMORY(FEW_LANES);
    const uint lane = get_local_id(0), mask = (1u << (uint)bits) - 1, all = high_starts[partitions];
    for (uint begin = get_group_id(0) * SHARE, end = min(all, begin + SHARE); begin < end;) {
        const uint partition = partition_at(high_starts, (uint)partitions, begin), behind = min(min(end, begin + TILE), high_starts[partition + 1]);
        TUPLE tuples[TILE_ROWS];
        uint there = 0;
        for (uint j = lane; j < PARTITIONS; j += FEW_LANES) tuples_of[j] = 0;
        for (uint r = 0; r < TILE_ROWS; r++) {
            if (begin + r * FEW_LANES + lane >= behind) continue;
            tuples[r] = in[begin + r * FEW_LANES + lane];
            there |= 1u << r;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        place_tile(FEW_LANES, TILE_ROWS, tuples, there, (uint)shift, mask, tuples_of, to, sums, sorted, places + (partition << (uint)bits), out);
        barrier(CLK_LOCAL_MEM_FENCE);
        begin = behind;
    }
}

// How many keys there are: a bit for each hash of some partitions' tuples (linear counting).
__kernel GROUP void hash_distinct(ulong first, ulong end, ulong skip, ulong bits, __global const TUPLE *restrict in, volatile __global uint *restrict map)
{
    for (ulong i = first + get_global_id(0); i < end; i += get_global_size(0)) {
        const uint bit = HASH_OF(mixed_of(in[i])) << (uint)skip >> (32 - (uint)bits);
        if (!(map[bit / 32] >> bit % 32 & 1)) atomic_or(map + bit / 32, 1u << bit % 32);
    }
}
