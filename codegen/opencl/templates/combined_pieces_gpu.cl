//: KERNEL example
//: ARGS ulong skip, ulong count, ulong room, __global ulong *places, __global ulong *combined, ulong combined_tables, ulong combined_bits
//: COUNT_SETUP __local uint sums[LANES], starts[LANES + 1];
//: COMBINE_RECORD
//: PIECE_LENGTH
//# LANES 256
//# TOGETHER() (void)0
#pragma once
#include "codegen/opencl/templates/combine_gpu.cl"
#include "codegen/opencl/templates/pieces_gpu.cl"

#define NO_TILE 0xffffffffu

// As combined_gpu.cl, where lanes take pieces of texts. A work-group takes the next tile of records, whose number PLACES[2] says, when it has ended one:
// as many as come to a piece for each lane, by the lengths of some. Where a lane finds no room its group halts behind the tile, and each lane keeps
// the tile, its piece, and how far it came in it, for the next turn.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void KERNEL_combine(ARGS)
{
    __local ulong hot[COMBINED_HOT * COMBINED_RECORD_WORDS];
    __local uint made, next, halted;
    const uint lane = get_local_id(0);
    __global uint4 *kept = (__global uint4 *)(places + 4) + get_global_id(0);
    const uint4 before = combined_tables > 1 ? *kept : (uint4)(NO_TILE, 0, 0, 0);
    uint number = before.x, piece = before.y, mark = before.z, all = 0, length = 0;
    bool more = true;
    COUNT_SETUP
    if (lane == 0) made = halted = 0;
    hot_begin(hot, LANES);
    {
        const ulong i = count * lane / LANES;
        PIECE_LENGTH
    }
    before_lane(sums, lane, min(length, 1u << 23));
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint mean = sums[LANES - 1] / LANES + 1, tile = max(min(LANES * PIECE_BYTES / mean, (uint)LANES), 1u);
    while (more) {
        if (lane == 0 && number == NO_TILE) next = atomic_inc((volatile __global uint *)(places + 2));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (number == NO_TILE) number = next, piece = lane, mark = 0;
        const ulong base = (ulong)number * tile;
        length = 0;
        if (lane < tile) {
            const ulong i = base + lane;
            PIECE_LENGTH
        }
        const uint pieces = place_pieces(starts, sums, lane, length);
        TOGETHER();
        uint stopped = 0;
        while (piece < pieces && !stopped) {
            const uint record = record_of_piece(starts, piece), piece_from = (piece - starts[record]) * PIECE_BYTES;
            const ulong i = base + record;
            ulong own[COMBINED_RECORD_WORDS] = {0};
            uint emitted = 0;
            COMBINE_RECORD
            all += mark ? 0 : emitted;
            mark = stopped;
            if (!stopped) piece += LANES;
        }
        if (stopped) halted = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        more = base < count && !halted;
        if (!halted) number = NO_TILE;
    }
    *kept = (uint4)(number, piece, mark, 0);
    atomic_add(&made, all);
    hot_end(hot, combined, (uint)combined_bits, LANES);
    if (lane == 0) atomic_add((volatile __global uint *)(places + 1), made);
}
