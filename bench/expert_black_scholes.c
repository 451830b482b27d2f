// SPDX-License-Identifier: Apache-2.0
// The Black-Scholes formula of math.hk in C, with the same polynomials for exp and log as codegen/math/ has, for what the formula needs: positive normal
// numbers and results. Case: price.
//   expert_black_scholes [--records N]
#include "bench/bench.h"

#include <math.h>

static uint64_t records;
static float *spot, *strike, *years, *call, *put;

static inline float of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// of -87 .. 88
static inline float own_exp(float x)
{
    const float inside = x < -87.f ? -87.f : x;
    const float moved = fmaf(inside, 1.442695f, 12582912.f), n = moved - 12582912.f;
    const float r = fmaf(-n, 1.4286068e-6f, fmaf(-n, 0.69314575f, inside));
    const float tail = fmaf(r, fmaf(r, fmaf(r, fmaf(r, fmaf(r, 0.00019790023f, 0.0013944862f), 0.008333499f), 0.04166629f), 0.16666666f), 0.5f);
    return (1.f + fmaf(r * r, tail, r)) * of_bits((bits_of(moved) - 0x4b400000u + 127u) << 23);
}

static inline float own_log(float x)
{
    const uint32_t bits = bits_of(x) - 0x3f3504f3u;
    const float n = (float)((int32_t)bits >> 23), f = of_bits((bits & 0x7fffff) + 0x3f3504f3u) - 1.f;
    const float tail = fmaf(
        f, fmaf(f, fmaf(f, fmaf(f, fmaf(f, fmaf(f, fmaf(f, -0.07634947f, 0.12761809f), -0.13160118f), 0.14201719f), -0.1662336f), 0.20001228f), -0.2500082f),
        0.3333333f);
    const float near = f * f * fmaf(f, tail, -0.5f);
    return fmaf(n, 0.69314575f, f + fmaf(n, 1.4286068e-6f, near));
}

static inline float below(float x)
{
    const float k = 1 / fmaf(0.2316419f, fabsf(x), 1);
    const float sum = k * fmaf(k, fmaf(k, fmaf(k, fmaf(k, 1.330274429f, -1.821255978f), 1.781477937f), -0.356563782f), 0.319381530f);
    const float tail = 0.39894228040143f * own_exp(-0.5f * x * x) * sum;
    return x > 0 ? 1 - tail : tail;
}

static void work(unsigned thread, unsigned threads, void *state)
{
    (void)state;
    const float *restrict s = spot, *restrict k = strike, *restrict t = years, rate = 0.02f, volatility = 0.30f;
    float *restrict c = call, *restrict p = put;
    for (uint64_t i = records * thread / threads; i < records * (thread + 1) / threads; i++) {
        const float root = sqrtf(t[i]), growth = rate + 0.5f * volatility * volatility;
        const float d1 = fmaf(growth, t[i], own_log(s[i] / k[i])) / (volatility * root), d2 = fmaf(-volatility, root, d1);
        const float n1 = below(d1), n2 = below(d2), worth = k[i] * own_exp(-rate * t[i]);
        c[i] = fmaf(s[i], n1, -(worth * n2));
        p[i] = fmaf(worth, 1 - n2, -(s[i] * (1 - n1)));
    }
}

static void run(void *state) { bench_parallel(work, state); }

static size_t check(void *state, double *values, size_t limit)
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
    spot = floats(), strike = floats(), years = floats(), call = floats(), put = floats();
    for (uint64_t i = 0; i < records; i++) {
        float option[3];
        bench_option_at(i, option);
        spot[i] = option[0], strike[i] = option[1], years[i] = option[2];
    }
    const bench_case cases[] = {{"price", run, check, NULL}};
    return bench_serve(cases, 1, records);
}
