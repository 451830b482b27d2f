#pragma once
#include "accum/superaccumulator.cl"
__attribute__((noinline)) void superaccumulator_add_double(volatile __global long *cell, double v)
{
    ulong bits = as_ulong(v), fraction = bits & 0xfffffffffffffUL;
    uint exponent = (uint)(bits >> 52) & 2047;
    if (exponent == 2047) superaccumulator_flag(cell, DOUBLE_LAST, fraction != 0, bits >> 63);
    else superaccumulator_add_bits(cell, DOUBLE_LAST, exponent ? fraction | 0x10000000000000UL : fraction, bits >> 63, exponent ? exponent - 1 : 0);
}
