#pragma once
#include "accum/fixed_point.cl"
#include "accum/integer_words_local.cl"
// A sum in registers: what its word refused goes to the two words of the work-group's table, the second of which
// counts multiples of 2^-(s + 40), or to the cell.
__attribute__((noinline)) void exception_lane_float(volatile __local uint *words, volatile __global long *cell, float v, float up, float down)
{
    if (!fits_two_float(v, up, down)) {
        superaccumulator_add_float(cell, v);
        return;
    }
    local_add64(words, (long)(v * up));
    local_add64(words + 2 * COPIES, (long)rest_of_float(v * up));
}
