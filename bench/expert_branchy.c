// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for records of four kinds with their own arithmetic: all four for a vector of records, then a choice by masks. The bits of the
// results are added up.
// usage: expert_branchy [--records N], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

enum { GROUP = 2 * LANES };

typedef struct problem {
    uint64_t records;
    float *x, *y;
    uint32_t *kind;
    uint64_t part[64], bits;
} problem;

BENCH_INLINE vfloat result_of(vfloat x, vfloat y, vint kind)
{
    vfloat ratio = v_div(x, v_add(y, v_all(1)));
    vfloat length = v_sqrt(v_fma(x, x, v_mul(y, y)));
    vfloat t = v_sub(x, y);
    vfloat cubic = v_fma(v_fma(v_fma(t, v_all(0.25f), v_all(0.5f)), t, v_all(0.125f)), t, v_all(1));
    vfloat otherwise = v_fma(x, v_all(0.75f), v_sub(v_all(0), y));
    vfloat r = v_choose(v_less_equal_of(v_everyone(), y, x), otherwise, v_mul(y, v_all(1.5f)));
    r = v_choose(v_equal_int(kind, v_all_int(2)), cubic, r);
    r = v_choose(v_equal_int(kind, v_all_int(1)), length, r);
    return v_choose(v_equal_int(kind, v_all_int(0)), ratio, r);
}

static float result_of_one(float x, float y, uint32_t kind)
{
    float t = x - y;
    switch (kind) {
    case 0: return x / (y + 1);
    case 1: return sqrtf(fmaf(x, x, y * y));
    case 2: return fmaf(fmaf(fmaf(t, 0.25f, 0.5f), t, 0.125f), t, 1);
    default: return x < y ? y * 1.5f : fmaf(x, 0.75f, -y);
    }
}

// 64-bit sums of 32-bit numbers: compilers widen and add plain arrays well.
BENCH_INLINE void add_bits(uint64_t *sum, vint bits)
{
    uint32_t lane[LANES] __attribute__((aligned(64)));
    v_store_int((int32_t *)lane, bits);
    for (int k = 0; k < LANES; k++) sum[k] += lane[k];
}

static void work(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    const uint64_t groups = p->records / GROUP, first = groups * thread / threads, end = groups * (thread + 1) / threads;
    uint64_t a[LANES] = {0}, b[LANES] = {0}, bits = 0;
    for (uint64_t i = first * GROUP; i < end * GROUP; i += GROUP) {
        add_bits(a, v_bits(result_of(v_load(p->x + i), v_load(p->y + i), v_load_int(p->kind + i))));
        add_bits(b, v_bits(result_of(v_load(p->x + i + LANES), v_load(p->y + i + LANES), v_load_int(p->kind + i + LANES))));
    }
    for (int k = 0; k < LANES; k++) bits += a[k] + b[k];
    for (uint64_t i = groups * GROUP; i < p->records && thread + 1 == threads; i++) {
        float r = result_of_one(p->x[i], p->y[i], p->kind[i]);
        uint32_t of;
        memcpy(&of, &r, sizeof of);
        bits += of;
    }
    p->part[thread] = bits;
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    p->bits = 0;
    for (unsigned t = 0; t < bench_threads(); t++) p->bits += p->part[t];
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const double all[] = {(double)(p->bits >> 32), (double)(p->bits & 0xffffffff), (double)p->bits};
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = all[i];
    return limit < 3 ? limit : 3;
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->x = bench_allocate(p->records * sizeof(float));
    p->y = bench_allocate(p->records * sizeof(float));
    p->kind = bench_allocate(p->records * sizeof(uint32_t));
    for (uint64_t i = 0; i < p->records; i++) {
        p->x[i] = bench_coordinate(i, 0, 2);
        p->y[i] = bench_coordinate(i, 1, 2);
        p->kind[i] = bench_kind(i);
    }
    const bench_case cases[] = {{"step", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
