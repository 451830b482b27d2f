// SPDX-License-Identifier: Apache-2.0
// The functions of bench_math.c in C, compiled with -ffast-math, so that the compiler calls the vector functions of
// the C library (libmvec, errors up to 4 units in the last place). Cases: exp log sin tanh erf pow price.
//   expert_math [--records N]
#include "bench/bench.h"

#include <math.h>

static uint64_t records;
static float *numbers, *results, *spot, *strike, *years, *call, *put;

#define APPLY(name, expression)                                                                             \
    static void work_##name(unsigned thread, unsigned threads, void *state)                                 \
    {                                                                                                       \
        (void)state;                                                                                        \
        const float *restrict in = numbers;                                                                 \
        float *restrict out = results;                                                                      \
        for (uint64_t i = records * thread / threads; i < records * (thread + 1) / threads; i++) {          \
            const float x = in[i];                                                                          \
            out[i] = expression;                                                                            \
        }                                                                                                   \
    }                                                                                                       \
    static void run_##name(void *state) { bench_parallel(work_##name, state); }
APPLY(exp, expf(x * 0.125f - 60.0f))
APPLY(log, logf(x + 0.001f))
APPLY(sin, sinf(x))
APPLY(tanh, tanhf(x * 0.01f - 5.0f))
APPLY(erf, erff(x * 0.01f - 5.0f))
APPLY(pow, powf(x + 0.001f, 2.7f))

static inline float below(float x)
{
    const float k = 1 / (1 + 0.2316419f * fabsf(x));
    const float sum = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143f * expf(-0.5f * x * x) * sum;
    return x > 0 ? 1 - tail : tail;
}

static void work_price(unsigned thread, unsigned threads, void *state)
{
    (void)state;
    const float *restrict s = spot, *restrict k = strike, *restrict t = years, rate = 0.02f, volatility = 0.30f;
    float *restrict c = call, *restrict p = put;
    for (uint64_t i = records * thread / threads; i < records * (thread + 1) / threads; i++) {
        const float root = sqrtf(t[i]);
        const float d1 = (logf(s[i] / k[i]) + (rate + 0.5f * volatility * volatility) * t[i]) / (volatility * root), d2 = d1 - volatility * root;
        const float n1 = below(d1), n2 = below(d2), worth = k[i] * expf(-rate * t[i]);
        c[i] = s[i] * n1 - worth * n2;
        p[i] = worth * (1 - n2) - s[i] * (1 - n1);
    }
}

static void run_price(void *state) { bench_parallel(work_price, state); }

static size_t check(void *state, double *values, size_t limit)
{
    const float *y = state;
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = (double)y[i * 1000];
    return limit < 3 ? limit : 3;
}

static size_t check_prices(void *state, double *values, size_t limit)
{
    (void)state;
    if (limit < 3) return 0;
    memset(values, 0, 3 * sizeof *values);
    for (uint64_t i = 0; i < records; i++) bench_add_prices(i, (double)call[i], (double)put[i], values);
    return 3;
}

static float *floats(void) { return bench_allocate(records * sizeof(float)); }

int main(int argc, char **argv)
{
    records = bench_option(argc, argv, "--records", 20000000);
    numbers = floats(), results = floats(), spot = floats(), strike = floats(), years = floats(), call = floats(), put = floats();
    for (uint64_t i = 0; i < records; i++) {
        float option[3];
        bench_option_at(i, option);
        numbers[i] = bench_coordinate(i, 0, 1), spot[i] = option[0], strike[i] = option[1], years[i] = option[2];
    }
    const bench_case cases[] = {{"exp", run_exp, check, results},        {"log", run_log, check, results}, {"sin", run_sin, check, results},
                                {"tanh", run_tanh, check, results},      {"erf", run_erf, check, results}, {"pow", run_pow, check, results},
                                {"price", run_price, check_prices, NULL}};
    return bench_serve(cases, sizeof cases / sizeof *cases, records);
}
