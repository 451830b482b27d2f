//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, ulong room, __global ulong *places, __global long *device_table, __global uint *partitions, __global uint *tuples
//: GROUP_SIZE 256
//: PARTITION_MACROS
//: PARTITION_SETUP
//: PARTITION_COUNT
//: PARTITION_TUPLES for (uint r = 0; r < TILE_ROWS; r++) tuple_of[r] = (uint2)(NOBODY);
//# LANES 256
//# SPAN 512
//# TOGETHER() do {} while (0)
//# PARTITIONS_HIGH 64
//# PARTITIONS_LOW 32
//# KEY_BITS 10
//# LOW_BITS 5
//# TILE_ROWS 8
//# SLOTS 2
//# LEAST_HEAVY 4096
//# tuple_t uint2
#pragma once
#include "base/group_sums.cl"

// Many rows: tuples of a row and what is added to it are put in order of *partitions*, ranges of rows, once or twice, until
// a partition's table has room in local memory. One work-group adds up a partition there and writes it to the device table. (As
// in radix partitioning; Satish, Harris, Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009.)
// Each work-group has a chunk of the slice, a run of whole tiles. It counts the chunk's tuples by partition; a prefix sum
// over the counters, which lie [partition][chunk], gives each its places; then each puts its tuples there, a tile at a
// time, through local memory, so that they leave in runs. The last records of a slice, less than a tile, are
// KERNEL's.
PARTITION_MACROS
#define NOBODY 0xffffffffu
#define TILE (LANES * TILE_ROWS)
#define PARTITIONS_ALL ((ulong)PARTITIONS_HIGH * PARTITIONS_LOW)
#define PARTITION_HIGH(row) ((row) >> (KEY_BITS + LOW_BITS))
#define PARTITION_LOW(row) ((row) >> KEY_BITS & (PARTITIONS_LOW - 1))
// The memory `partitions`, in words, with `groups` work-groups.
enum { HEAVY_PARTITIONS, CHUNKS, HEAD = 8, MOST_HEAVY = 4096, CHUNK_WORDS = 6 };
#define GROUPS ((ulong)get_num_groups(0))
#define FIRST_HIGH (partitions + HEAD)
#define FIRST_LOW (FIRST_HIGH + PARTITIONS_HIGH + 1)
#define HEAVY (FIRST_LOW + PARTITIONS_ALL + 1)
#define SUMS (HEAVY + MOST_HEAVY)
#define CHUNK (SUMS + GROUPS)
#define COUNTERS (CHUNK + CHUNK_WORDS * (GROUPS + PARTITIONS_HIGH))
#define TUPLES_HIGH ((__global tuple_t *)tuples)
#define TUPLES_LOW (TUPLES_HIGH + (count / TILE) * TILE)

// An exclusive prefix sum over all counters, in two kernels: each work-group sums up its share, then it begins with the shares before it.
inline void sum_counters(__global uint *partitions, ulong counters, __local uint *sums, uint lane)
{
    const ulong group = get_group_id(0), end = counters * (group + 1) / GROUPS;
    uint own = 0;
    for (ulong i = counters * group / GROUPS + lane; i < end; i += LANES) own += COUNTERS[i];
    const uint all = sum_of_lanes(sums, lane, own);
    if (lane == 0) SUMS[group] = all;
}
inline void scan_counters(__global uint *partitions, ulong counters, __local uint *sums, uint lane)
{
    const ulong group = get_group_id(0), end = counters * (group + 1) / GROUPS;
    uint own = 0;
    for (ulong i = lane; i < group; i += LANES) own += SUMS[i];
    uint before = sum_of_lanes(sums, lane, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong base = counters * group / GROUPS; base < end; base += LANES) {
        const ulong i = base + lane;
        const uint one = i < end ? COUNTERS[i] : 0, place = sum_before_lane(sums, lane, one);
        if (i < end) COUNTERS[i] = before + place;
        before += sums[LANES - 1];
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_count_high(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint rows_of[PARTITIONS_HIGH];
    PARTITION_SETUP
    const ulong group = get_group_id(0), tiles = count / TILE, end = tiles * (group + 1) / GROUPS * TILE;
    for (uint j = lane; j < PARTITIONS_HIGH; j += LANES) rows_of[j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong base = tiles * group / GROUPS * TILE; base < end; base += SPAN) {
        TOGETHER();
        PARTITION_COUNT
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = lane; j < PARTITIONS_HIGH; j += LANES) COUNTERS[j * GROUPS + group] = rows_of[j];
}
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_sum_high(ARGS)
{
    __local uint sums[LANES];
    sum_counters(partitions, PARTITIONS_HIGH * GROUPS, sums, get_local_id(0));
}
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_scan_high(ARGS)
{
    __local uint sums[LANES];
    scan_counters(partitions, PARTITIONS_HIGH * GROUPS, sums, get_local_id(0));
}
// One work-group does it: where the partitions begin, and chunks of them for the second time, about as long as the first ones.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_chunks(ARGS)
{
    const uint lane = get_local_id(0), groups = get_num_groups(0);
    __local uint sums[LANES];
    if (get_group_id(0) != 0) return;
    uint own = 0;
    for (uint i = lane; i < groups; i += LANES) own += SUMS[i];
    const uint all = sum_of_lanes(sums, lane, own), each = (all / groups / TILE + 1) * TILE;
    const uint start = lane < PARTITIONS_HIGH ? COUNTERS[lane * GROUPS] : all, stop = lane + 1 < PARTITIONS_HIGH ? COUNTERS[(lane + 1) * GROUPS] : all;
    if (lane < PARTITIONS_HIGH) FIRST_HIGH[lane] = start;
    const uint chunks = lane < PARTITIONS_HIGH ? max((stop - start + each - 1) / each, 1u) : 0, before = sum_before_lane(sums, lane, chunks);
    for (uint c = 0; c < chunks; c++) {
        __global uint *chunk = CHUNK + CHUNK_WORDS * (ulong)(before + c);
        chunk[0] = start + c * each;
        chunk[1] = min(each, stop - start - c * each);
        chunk[2] = before * PARTITIONS_LOW + c;
        chunk[3] = chunks;
        chunk[4] = lane;
        chunk[5] = c;
    }
    if (lane == 0) {
        FIRST_HIGH[PARTITIONS_HIGH] = all;
        partitions[HEAVY_PARTITIONS] = 0;
    }
    if (lane == LANES - 1) partitions[CHUNKS] = before + chunks;
}
#define PARTITIONS PARTITIONS_HIGH
#define PARTITION PARTITION_HIGH
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL_place_high(ARGS)
{
    const uint lane = get_local_id(0);
    __local uint rows_of[PARTITIONS], start[PARTITIONS], to[PARTITIONS], next[PARTITIONS];
    __local tuple_t sorted[TILE];
    PARTITION_SETUP
    const ulong group = get_group_id(0), tiles = count / TILE, end = tiles * (group + 1) / GROUPS * TILE;
    __global tuple_t *out = TUPLES_HIGH;
    if (lane < PARTITIONS) {
        rows_of[lane] = 0;
        next[lane] = COUNTERS[lane * GROUPS + group];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong tile = tiles * group / GROUPS * TILE; tile < end; tile += TILE) {
        tuple_t tuple_of[TILE_ROWS];
        PARTITION_TUPLES
        #include "codegen/opencl/templates/partition_tile.cl"
    }
}
#undef PARTITIONS
#undef PARTITION
