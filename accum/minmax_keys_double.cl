#pragma once
#include "accum/minmax_keys.cl"
FLOAT_KEYS(double, ulong, 0x7ff0000000000000UL)

