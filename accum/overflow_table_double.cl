#pragma once
#include "accum/overflow_table.cl"
#include "accum/fixed_point_double.cl"
__attribute__((noinline)) void exception_word_double(volatile __global long *overflow, ulong place, double v)
{
    superaccumulator_add_double(overflow_cell(overflow, place), v);
}
__attribute__((noinline)) long exception_word_float_as_double(volatile __global long *overflow, ulong place, float v, float up, float down, float limit)
{
    if (fits_float(v, up, down) & (fabs(v * up) < limit)) return (long)(v * up);
    superaccumulator_add_double(overflow_cell(overflow, place), v);
    return 0;
}
