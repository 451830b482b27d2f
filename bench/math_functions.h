// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of the kernel language, each with the C library's function that says what is right, and the error that it may have.
#ifndef HDST_BENCH_MATH_FUNCTIONS_H
#define HDST_BENCH_MATH_FUNCTIONS_H

#include <hdst/hdst.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Errors are in units in the last place: the distance from what is right, divided by the distance of neighbouring numbers there. What is right comes from the C
// library: the function of double for float, that of long double (64 bits, on x86) for double.
typedef struct math_function {
    const char *name;
    int args;
    double (*of_double[2])(double, double);             // by the number of arguments less one; the other is NULL
    long double (*of_long_double)(long double, long double);
    double limit_float, limit_double;                   // the largest error that the documentation promises. 0: the one right result
    bool any_zero;                                      // C leaves open which sign a zero has
} math_function;

extern const math_function math_functions[];
extern const size_t math_function_count;
const math_function *math_find(const char *name);       // NULL: none

typedef struct math_pair_float { float x, y; } math_pair_float;
typedef struct math_pair_double { double x, y; } math_pair_double;

double math_error_float(const math_function *f, float x, float y, float got);       // INFINITY where NaN, an infinity or the sign of zero is wrong
double math_error_double(const math_function *f, double x, double y, double got);

// Numbers to try: `first` counts on through a fixed, endless sequence. Special ones stand at its begin.
void math_points_float(const math_function *f, uint64_t first, size_t count, math_pair_float *points);
void math_points_double(const math_function *f, uint64_t first, size_t count, math_pair_double *points);

enum { MATH_TOGETHER = 8 };
// Up to MATH_TOGETHER functions over the points (pairs of is_double's type). out[i * count + k] is that of
// functions[k]. False, with words on stderr, after an error.
bool math_evaluate(hdst_context *context, const math_function *const *functions, size_t count, bool is_double, const void *points, size_t n, void *out);

#endif
