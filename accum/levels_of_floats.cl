// Included by levels_float.cl and levels_float_plain.cl. With STEP and TOP a block of 512 records keeps each level
// within its binade: the lanes make 32 additions, and 2^5 * 2^TOP = 2^(MANTISSA - 1), 2^5 * 2^-1 =
// 2^(MANTISSA - 1 - STEP).
// What these define:
//: DOUBLE_PATH_FORM 0 | 1
#pragma once
#include "accum/fixed_point.cl"
#include "accum/levels_common.cl"
#define REAL float
#define REALS float16
#define INT int
#define INTS int16
#define BITS uint
#define BITSS uint16
#define LANES 16
#define MANTISSA 23
#define BIAS 127
#define STEP 18
#define TOP 17
#define LOWEST -149
#define GREATEST 103
#define OUTSIDE 0xff800000
#define MAGNITUDE 0x7fffffff
#define BIT_TEST_FORM 0
#include "accum/levels.cl"
#include "accum/levels_run.cl"
