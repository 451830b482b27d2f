//: KERNEL example
//# LANES 256
#pragma once
#include "codegen/opencl/templates/combine_gpu.cl"

// Rows SKIP ... SKIP + COUNT of the table as records, so many as PLACES[0] says.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void KERNEL_gather(ulong skip, ulong count, __global ulong *to, __global ulong *places, __global const ulong *combined)
{
    __local uint taken, from;
    const uint lane = get_local_id(0);
    for (ulong base = get_group_id(0) * (ulong)LANES; base < count; base += get_global_size(0)) {
        __global const ulong *row = combined + (skip + base + lane) * COMBINED_ROW_WORDS;
        const bool has = base + lane < count && row[COMBINED_KEY] != 0;
        if (lane == 0) taken = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint place = has ? atomic_inc(&taken) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) from = atomic_add((volatile __global uint *)places, taken);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (has) {
            ulong own[COMBINED_RECORD_WORDS];
            for (uint w = 0; w < COMBINED_RECORD_WORDS; w++) own[w] = row[w];
            if ((uint)own[COMBINED_KEY] < 12) own[COMBINED_KEY + 1] ^= COMBINED_SPARE;
            COMBINED_TURN;
            __global ulong *at = to + (ulong)(from + place) * COMBINED_RECORD_WORDS;
            for (uint w = 0; w < COMBINED_RECORD_WORDS; w++) at[w] = own[w];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
