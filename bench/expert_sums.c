// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for sums over pairs of floats, one array per value (SoA): the sums of a line by least squares, and a chain of filter, two maps and
// sums in one hand-fused loop. Float sums over stretches that are added in double. And the memory's roof: triad (McCalpin, "STREAM").
// usage: expert_sums [--records N] [--digits 16|24], driven by bench/run.py
#include "bench/bench.h"

enum { STRETCH = 4096 };

typedef struct problem {
    uint64_t records;
    bool all_digits;
    float *x, *y;
    double part[64][8], sum[8];
    void (*stretch)(const float *x, const float *y, uint64_t n, double *sum);
    double *a, *b, *c;          // the triad's
} problem;

static void line(const float *restrict x, const float *restrict y, uint64_t n, double *sum)
{
    float sx = 0, sy = 0, sxx = 0, sxy = 0;
#pragma GCC ivdep
    for (uint64_t i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    sum[0] += (double)sx;
    sum[1] += (double)sy;
    sum[2] += (double)n;
    sum[3] += (double)sxx;
    sum[4] += (double)sxy;
}

static void chain(const float *restrict x, const float *restrict y, uint64_t n, double *sum)
{
    float sx = 0, sy = 0;
    int32_t kept = 0;
#pragma GCC ivdep
    for (uint64_t i = 0; i < n; i++) {
        float u = x[i], v = y[i];
        int inside = u * u + v * v < 1.0f;
        float s = u * 0.8f - v * 0.6f, t = u * 0.6f + v * 0.8f;
        float p = s / (1.0f + t * t), q = t * (1.0f - s * s);
        sx += inside ? p : 0;
        sy += inside ? q : 0;
        kept += inside;
    }
    sum[0] += (double)sx;
    sum[1] += (double)sy;
    sum[2] += (double)kept;
}

static void share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    double *sum = p->part[thread];
    memset(sum, 0, sizeof p->part[thread]);
    uint64_t stretches = (p->records + STRETCH - 1) / STRETCH, end = stretches * (thread + 1) / threads;
    for (uint64_t s = stretches * thread / threads; s < end; s++) {
        uint64_t first = s * STRETCH, n = p->records - first < STRETCH ? p->records - first : STRETCH;
        p->stretch(p->x + first, p->y + first, n, sum);
    }
}

static void run(problem *p)
{
    bench_parallel(share, p);
    memset(p->sum, 0, sizeof p->sum);
    for (unsigned t = 0; t < bench_threads(); t++)
        for (int i = 0; i < 8; i++) p->sum[i] += p->part[t][i];
}

static void run_line(void *state)
{
    ((problem *)state)->stretch = line;
    run(state);
}

static void run_chain(void *state)
{
    ((problem *)state)->stretch = chain;
    run(state);
}

static size_t check(void *state, double *values, size_t limit)
{
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = ((const problem *)state)->sum[i];
    return limit < 3 ? limit : 3;
}

// --- Triad ---

static void triad_share(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    double *restrict a = p->a, *restrict b = p->b, *restrict c = p->c;
    for (uint64_t i = p->records * thread / threads, end = p->records * (thread + 1) / threads; i < end; i++) a[i] = b[i] + 3 * c[i];
}

static void run_triad(void *state) { bench_parallel(triad_share, state); }

static size_t check_triad(void *state, double *values, size_t limit)
{
    for (size_t i = 0; i < limit && i < 3; i++) values[i] = ((const problem *)state)->a[i];
    return 3;
}

static void make(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) {
        p->x[i] = bench_pair_value(i, 0, p->all_digits);
        p->y[i] = bench_pair_value(i, 1, p->all_digits);
        p->a[i] = 0, p->b[i] = 1, p->c[i] = 2;
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->all_digits = bench_option(argc, argv, "--digits", 16) > 16;
    p->x = bench_allocate(p->records * sizeof(float));
    p->y = bench_allocate(p->records * sizeof(float));
    p->a = bench_allocate(p->records * sizeof(double));
    p->b = bench_allocate(p->records * sizeof(double));
    p->c = bench_allocate(p->records * sizeof(double));
    bench_parallel(make, p);
    const bench_case cases[] = {{"linreg", run_line, check, p}, {"chain", run_chain, check, p}, {"triad", run_triad, check_triad, p}};
    return bench_serve(cases, 3, p->records);
}
