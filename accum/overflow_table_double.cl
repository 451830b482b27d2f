#pragma once
#include "accum/overflow_table.cl"
#include "accum/fixed_point_double.cl"
__attribute__((noinline)) void settle_word_double(volatile __global long *spares, ulong place, double v) { wide_add_double(spare_cell(spares, place), v); }
__attribute__((noinline)) long settle_word_float_as_double(volatile __global long *spares, ulong place, float v, float up, float down, float limit)
{
    if (fits_float(v, up, down) & (fabs(v * up) < limit)) return (long)(v * up);
    wide_add_double(spare_cell(spares, place), v);
    return 0;
}
