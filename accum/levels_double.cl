// Pre-rounded sums of doubles.
// With STEP and TOP a block of 512 records keeps each level within its binade: the lanes make 64 additions, and 2^5 *
// 2^TOP = 2^(MANTISSA - 1), 2^5 * 2^-1 = 2^(MANTISSA - 1 - STEP).
#pragma once
#include "accum/fixed_point.cl"
#include "accum/levels_common.cl"
#define REAL double
#define REALS double8
#define INT long
#define INTS long8
#define BITS ulong
#define BITSS ulong8
#define LANES 8
#define MANTISSA 52
#define BIAS 1023
#define STEP 46
#define TOP 45
#define LOWEST -1074
#define GREATEST 970
#define OUTSIDE 0xfff0000000000000
#define MAGNITUDE 0x7fffffffffffffff
#define DOUBLE_PATH_FORM 0
#define BIT_TEST_FORM 1
#include "accum/levels.cl"
#include "accum/levels_run.cl"
