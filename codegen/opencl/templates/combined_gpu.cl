//: KERNEL example
//: ARGS ulong skip, ulong count, ulong room, __global ulong *places, __global ulong *combined, ulong combined_tables, ulong combined_bits
//: COUNT_SETUP
//: COMBINE_RECORD
//# LANES 256
//# TOGETHER() (void)0
#pragma once
#include "codegen/opencl/templates/combine_gpu.cl"

// In place of all three: what the function makes of a record goes to the table at once, and what has no place there to the output, in any order. PLACES[0]: how
// many those are; where they are more than ROOM, MARKS say of each record how far it came, and a second turn goes on from there. PLACES[1]: how many were made.
// Few records are dealt out to all work-groups, and in each of them to lanes that go separate ways: they are long ones, texts of which some are far longer.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void KERNEL_combine(ARGS)
{
    __local ulong hot[COMBINED_HOT * COMBINED_RECORD_WORDS];
    __local uint made;
    const uint lane = get_local_id(0);
    const bool again = combined_tables > 1;
    const ulong fair = (count + get_num_groups(0) - 1) / get_num_groups(0), tile = max(min(fair, (ulong)LANES), 1UL);
    const uint place = tile < LANES ? lane % 32 * (LANES / 32) + lane / 32 : lane;
    __global uint *marks = (__global uint *)(places + 2);
    uint all = 0;
    COUNT_SETUP
    if (lane == 0) made = 0;
    hot_begin(hot, LANES);
    for (ulong base = get_group_id(0) * tile; base < count; base += get_num_groups(0) * tile) {
        TOGETHER();
        const ulong i = base + place;
        const bool has = place < tile && i < count;
        const uint mark = again && has ? marks[i] : 0;
        if (has && (!again || mark)) {
            ulong own[COMBINED_RECORD_WORDS] = {0};
            uint emitted = 0, stopped = 0;
            COMBINE_RECORD
            marks[i] = stopped;
            all += emitted;
        }
    }
    atomic_add(&made, all);
    hot_end(hot, combined, (uint)combined_bits, LANES);
    if (lane == 0 && !again) atomic_add((volatile __global uint *)(places + 1), made);
}
