//: KERNEL example
//: ARGS ulong first, ulong skip, ulong count, __global const long *run_starts, __global long *overflow
//: DIALECT
//: TITLE example
//: PRELUDE
//: FILE_SCOPE
//: SETUP
//: RECORD
//: WHOLE
//: ROW
//: GROUP_SIZE 256
//: TILE_SIZE 1024
//: WORDS_OF_ROW 1
#pragma once
DIALECT
// TITLE
// Form for GPUs of records that stand one behind the other by the row that they add to, where it is known where each row's records begin. A work-group
// takes a tile of records: their words go to local memory, where they become running totals; what the tile has of a row is the difference of two.
PRELUDE
#define LANES GROUP_SIZE
#define TILE TILE_SIZE
#define ROW_WORDS WORDS_OF_ROW
#define LANE_RECORDS (TILE / LANES)
#define AT(slot) ((slot) + (slot) / LANE_RECORDS)      // lanes that go through neighbours meet in no bank
#define TILE_ROOM (TILE + LANES)
#define TOTAL(w, slot) (tile_words[(w) * TILE_ROOM + AT(slot)] + ((slot) < LANE_RECORDS ? 0 : lane_sums[(w) * LANES + (slot) / LANE_RECORDS - 1]))
FILE_SCOPE

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void KERNEL(ARGS)
{
    __local long tile_words[ROW_WORDS * TILE_ROOM], lane_sums[ROW_WORDS * LANES];
    __local ulong tile_first, tile_last;        // rows of the first record and the last one
    __local uint tile_apart;                    // some addend went elsewhere
    const uint lane = get_local_id(0);
    SETUP
    for (ulong base = get_group_id(0) * (ulong)TILE; base < count; base += get_num_groups(0) * (ulong)TILE) {
        const ulong stop = min(count, base + TILE);
        if (lane == 0) tile_apart = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        bool again = stop - base < TILE;
        if (!again) {
            #pragma unroll
            for (uint k = 0; k < LANE_RECORDS; k++) {
                const uint slot = k * LANES + lane;
                const ulong i = base + slot;
                WHOLE
            }
        }
        for (uint k = 0; k < LANE_RECORDS && again; k++) {
            const uint slot = k * LANES + lane;
            const ulong i = base + slot;
            for (uint w = 0; w < ROW_WORDS; w++) tile_words[w * TILE_ROOM + AT(slot)] = 0;
            if (i < stop) {
                RECORD
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint w = 0; w < ROW_WORDS; w++) {
            long sum = 0;
            for (uint k = 0; k < LANE_RECORDS; k++) {
                const uint at = w * TILE_ROOM + AT(lane * LANE_RECORDS + k);
                sum += tile_words[at];
                tile_words[at] = sum;
            }
            lane_sums[w * LANES + lane] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < LANES; step *= 2) {
            long before[ROW_WORDS];
            for (uint w = 0; w < ROW_WORDS; w++) before[w] = lane >= step ? lane_sums[w * LANES + lane - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint w = 0; w < ROW_WORDS; w++) lane_sums[w * LANES + lane] += before[w];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const ulong tile_begin = first + base, tile_end = first + stop;
        for (ulong row = tile_first + lane; row <= tile_last; row += LANES) {
            const ulong begin = run_starts[row], end = run_starts[row + 1];
            const uint low = (uint)(max(begin, tile_begin) - tile_begin), high = (uint)(min(end, tile_end) - tile_begin);
            if (end <= tile_begin || high <= low) continue;
            ROW
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
