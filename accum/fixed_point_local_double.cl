#pragma once
#include "accum/fixed_point_double.cl"
#include "accum/integer_words_local.cl"
// The same, for floats that are added to a double.
__attribute__((noinline)) void exception_lane_double(volatile __local uint *words, volatile __global long *cell, float v, float up, float down)
{
    if (!fits_two_float(v, up, down)) {
        superaccumulator_add_double(cell, v);
        return;
    }
    local_add64(words, (long)(v * up));
    local_add64(words + 2 * COPIES, (long)rest_of_float(v * up));
}
