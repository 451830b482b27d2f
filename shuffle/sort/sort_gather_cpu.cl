//# WORD uint | ulong
//# WORDS 3u
#pragma once
// Around the passes of a sort on a CPU device: places from counts, and records in the order of an index.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_scan(ulong n, __global uint *restrict counters)
{
    uint sum = 0;
    for (ulong i = 0; i < n; i++) {
        const uint count = counters[i];
        counters[i] = sum;
        sum += count;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_gather(ulong n, __global const WORD *restrict rows, __global const uint *restrict index, __global WORD *restrict out)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0), end = n / strips * (strip + 1) + n % strips * (strip + 1) / strips;
    for (ulong i = n / strips * strip + n % strips * strip / strips; i < end; i++) {
        const ulong from = (ulong)index[i] * WORDS, to = i * WORDS;
        for (uint w = 0; w < WORDS; w++) out[to + w] = rows[from + w];
    }
}
