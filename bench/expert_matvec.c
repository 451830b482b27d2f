// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for y = A x with rows of float in memory: threads over the rows, four vectors of partial sums for each, so that the loop waits for
// memory and not for its additions.
// usage: expert_matvec [--records N] [--columns D], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

enum { CHAINS = 4 };

typedef struct problem {
    uint64_t records;
    uint32_t columns;
    float *a, *x, *y;
} problem;

static float product(const float *a, const float *x, uint32_t columns)
{
    vfloat sum[CHAINS];
    for (int v = 0; v < CHAINS; v++) sum[v] = v_all(0);
    uint32_t c = 0;
    for (; c + CHAINS * LANES <= columns; c += CHAINS * LANES)
        for (uint32_t v = 0; v < CHAINS; v++) sum[v] = v_fma(v_load(a + c + v * LANES), v_load(x + c + v * LANES), sum[v]);
    for (; c + LANES <= columns; c += LANES) sum[0] = v_fma(v_load(a + c), v_load(x + c), sum[0]);
    double total = v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
    for (; c < columns; c++) total += (double)(a[c] * x[c]);
    return (float)total;
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) p->y[i] = product(p->a + i * p->columns, p->x, p->columns);
}

static void run(void *state) { bench_parallel(work, state); }

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    values[0] = (double)p->y[0];
    values[1] = (double)p->y[p->records - 1];
    values[2] = 0;
    for (uint64_t i = 0; i < p->records; i++) values[2] += (double)p->y[i];
    return 3;
}

static void make_rows(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        for (uint32_t c = 0; c < p->columns; c++) p->a[i * p->columns + c] = bench_coordinate(i, c, p->columns);
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 20000), .columns = (uint32_t)bench_option(argc, argv, "--columns", 784)};
    if (!p.records || !p.columns) {
        fprintf(stderr, "expert_matvec: needs at least one record and one column\n");
        return 2;
    }
    p.a = bench_allocate(p.records * p.columns * sizeof(float));
    p.x = bench_allocate(p.columns * sizeof(float));
    p.y = bench_allocate(p.records * sizeof(float));
    bench_parallel(make_rows, &p);
    for (uint32_t c = 0; c < p.columns; c++) p.x[c] = bench_center(0, c, p.columns);
    const bench_case cases[] = {{"product", run, check, &p}};
    return bench_serve(cases, 1, p.records);
}
