#pragma once
__attribute__((noinline)) void fast_empty(float16 *sum, double8 *total, uint count)
{
    for (uint e = 0; e < count; e++) {
        total[e] += convert_double8(sum[e].lo) + convert_double8(sum[e].hi);
        sum[e] = 0;
    }
}
