// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for y = A x with rows of float in memory: threads over the rows, four vectors of partial sums for each, so that the loop waits for
// memory and not for its additions. And iterated: x becomes A x / |A x| (the power method: Golub and Van Loan, "Matrix Computations", 4th ed., 7.3.1).
// usage: expert_matvec [--records N] [--columns D], driven by bench/run.py. Cases: product, iterate (of a square matrix).
#include "bench/bench.h"
#include "bench/simd.h"

enum { CHAINS = 4 };

typedef struct problem {
    uint64_t records;
    uint32_t columns;
    float *a, *x, *y;
    double squares[64], norm;       // of each thread's part of y; |y|
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

// --- Iterated ---

static void work_and_square(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    work(thread, threads, p);
    double squares = 0;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) squares += (double)p->y[i] * (double)p->y[i];
    p->squares[thread] = squares;
}

static void iterate(void *state)
{
    problem *p = state;
    bench_parallel(work_and_square, p);
    double squares = 0;
    for (unsigned t = 0; t < bench_threads(); t++) squares += p->squares[t];
    p->norm = sqrt(squares);
    for (uint32_t i = 0; i < p->columns; i++) p->x[i] = (float)((double)p->y[i] / p->norm);
}

// |A x| of the last step, the first and the last coordinate of x after it.
static size_t check_iterate(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    values[0] = p->norm;
    values[1] = (double)p->x[0];
    values[2] = (double)p->x[p->columns - 1];
    return 3;
}

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
    const bench_case cases[] = {{"product", run, check, &p}, {"iterate", iterate, check_iterate, &p}};
    return bench_serve(cases, p.records == p.columns ? 2 : 1, p.records);
}
