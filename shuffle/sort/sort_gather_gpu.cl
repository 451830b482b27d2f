//# WORD uint | ulong
//# WORDS 3u
#pragma once
// Around the passes of a sort on a GPU: places from counts, and records in the order of an index.
#define SCAN_LANES 256u
#define SCAN_EACH 16u

// One work-group: SCAN_LANES * SCAN_EACH counters at a time.
__kernel __attribute__((reqd_work_group_size(SCAN_LANES, 1, 1)))
void sort_scan(ulong n, __global uint *restrict counters)
{
    __local uint sums[SCAN_LANES];
    const uint lane = get_local_id(0);
    uint before_all = 0;
    for (ulong base = 0; base < n; base += SCAN_LANES * SCAN_EACH) {
        const ulong first = base + lane * SCAN_EACH;
        uint value[SCAN_EACH], sum = 0;
        for (uint k = 0; k < SCAN_EACH; k++) {
            value[k] = first + k < n ? counters[first + k] : 0;
            sum += value[k];
        }
        sums[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = 1; s < SCAN_LANES; s *= 2) {
            const uint before = lane >= s ? sums[lane - s] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[lane] += before;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint place = before_all + sums[lane] - sum;
        before_all += sums[SCAN_LANES - 1];
        for (uint k = 0; k < SCAN_EACH; k++) {
            if (first + k < n) counters[first + k] = place;
            place += value[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Neighbours write neighbouring words.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_gather(ulong n, __global const WORD *restrict rows, __global const uint *restrict index, __global WORD *restrict out)
{
    const ulong words = n * WORDS, step = get_num_groups(0) * 256ul;
    for (ulong i = get_group_id(0) * 256ul + get_local_id(0); i < words; i += step) out[i] = rows[(ulong)index[i / WORDS] * WORDS + i % WORDS];
}
