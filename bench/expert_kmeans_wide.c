// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for one KMeans step over wide points (hundreds of coordinates, row-major): threads; four
// points by two centers at a time, whose eight vectors of partial sums stay in registers; sums per center as float
// rows, flushed to double.
// usage: expert_kmeans_wide [--records N] [--clusters K] [--columns D], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

enum { POINTS = 4, CENTERS = 2, FLUSH = 1024 };

typedef struct totals {
    double *x, inertia;         // x: clusters * columns
    uint64_t *n;
    float *table;
} totals;

typedef struct problem {
    uint64_t records;
    uint32_t clusters, columns;
    float *points, *centers;
    totals *part;               // one per thread
    totals sum;
} problem;

// Squared distances of POINTS points to CENTERS centers.
BENCH_INLINE void distances(const float *point, const float *center, uint32_t columns, double d[POINTS][CENTERS])
{
    vfloat sum[POINTS][CENTERS];
    for (int p = 0; p < POINTS; p++)
        for (int j = 0; j < CENTERS; j++) sum[p][j] = v_all(0);
    uint32_t c = 0;
    for (; c + LANES <= columns; c += LANES) {
        vfloat at[CENTERS];
        for (uint32_t j = 0; j < CENTERS; j++) at[j] = v_load(center + j * columns + c);
        for (uint32_t p = 0; p < POINTS; p++) {
            const vfloat x = v_load(point + p * columns + c);
            for (int j = 0; j < CENTERS; j++) {
                const vfloat e = v_sub(x, at[j]);
                sum[p][j] = v_fma(e, e, sum[p][j]);
            }
        }
    }
    for (uint32_t p = 0; p < POINTS; p++)
        for (uint32_t j = 0; j < CENTERS; j++) {
            d[p][j] = v_sum(sum[p][j]);
            for (uint32_t rest = c; rest < columns; rest++) {
                const float e = point[p * columns + rest] - center[j * columns + rest];
                d[p][j] += (double)(e * e);
            }
        }
}

static void flush(const problem *p, totals *to)
{
    for (size_t i = 0; i < (size_t)p->clusters * p->columns; i++) {
        to->x[i] += (double)to->table[i];
        to->table[i] = 0;
    }
}

static void group(const problem *p, const float *point, totals *to)
{
    double best_d[POINTS];
    uint32_t best[POINTS];
    for (int r = 0; r < POINTS; r++) best_d[r] = INFINITY, best[r] = 0;
    for (uint32_t j = 0; j < p->clusters; j += CENTERS) {
        double d[POINTS][CENTERS];
        const uint32_t from = j + CENTERS <= p->clusters ? j : p->clusters - CENTERS;
        distances(point, p->centers + (size_t)from * p->columns, p->columns, d);
        for (int r = 0; r < POINTS; r++)
            for (uint32_t k = 0; k < CENTERS; k++)
                if (d[r][k] < best_d[r]) best_d[r] = d[r][k], best[r] = from + k;
    }
    for (uint32_t r = 0; r < POINTS; r++) {
        float *row = to->table + (size_t)best[r] * p->columns;
        const float *x = point + r * p->columns;
        for (uint32_t c = 0; c < p->columns; c++) row[c] += x[c];
        to->n[best[r]]++;
        to->inertia += best_d[r];
    }
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    totals *to = &p->part[thread];
    const size_t cells = (size_t)p->clusters * p->columns;
    memset(to->x, 0, cells * sizeof *to->x);
    memset(to->n, 0, p->clusters * sizeof *to->n);
    memset(to->table, 0, cells * sizeof *to->table);
    to->inertia = 0;
    const uint64_t groups = p->records / POINTS, first = groups * thread / threads, end = groups * (thread + 1) / threads;
    for (uint64_t g = first; g < end; g++) {
        group(p, p->points + g * POINTS * p->columns, to);
        if ((g - first) % (FLUSH / POINTS) == FLUSH / POINTS - 1) flush(p, to);
    }
    flush(p, to);
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    const size_t cells = (size_t)p->clusters * p->columns;
    memset(p->sum.x, 0, cells * sizeof *p->sum.x);
    memset(p->sum.n, 0, p->clusters * sizeof *p->sum.n);
    p->sum.inertia = 0;
    for (unsigned t = 0; t < bench_threads(); t++) {
        for (size_t i = 0; i < cells; i++) p->sum.x[i] += p->part[t].x[i];
        for (uint32_t j = 0; j < p->clusters; j++) p->sum.n[j] += p->part[t].n[j];
        p->sum.inertia += p->part[t].inertia;
    }
}

// Center 3: the first and the last coordinate's sum, the count; then the inertia.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const uint32_t j = p->clusters > 3 ? 3 : 0;
    const double all[] = {p->sum.x[(size_t)j * p->columns], p->sum.x[(size_t)(j + 1) * p->columns - 1], (double)p->sum.n[j], p->sum.inertia};
    for (size_t i = 0; i < 4 && i < limit; i++) values[i] = all[i];
    return limit < 4 ? limit : 4;
}

static void make_points(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        for (uint32_t c = 0; c < p->columns; c++) p->points[i * p->columns + c] = bench_coordinate(i, c, p->columns);
}

static totals make_totals(const problem *p)
{
    const size_t cells = (size_t)p->clusters * p->columns;
    return (totals){
        .x = bench_allocate(cells * sizeof(double)), .n = bench_allocate(p->clusters * sizeof(uint64_t)), .table = bench_allocate(cells * sizeof(float))};
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 60000), .clusters = (uint32_t)bench_option(argc, argv, "--clusters", 10),
                 .columns = (uint32_t)bench_option(argc, argv, "--columns", 784)};
    if (p.records % POINTS || !p.records || p.clusters < CENTERS || !p.columns) {
        fprintf(stderr, "expert_kmeans_wide: needs a multiple of %d records and at least %d clusters\n", POINTS, CENTERS);
        return 2;
    }
    p.points = bench_allocate(p.records * p.columns * sizeof(float));
    p.centers = bench_allocate((size_t)p.clusters * p.columns * sizeof(float));
    p.part = bench_allocate(bench_threads() * sizeof(totals));
    for (unsigned t = 0; t < bench_threads(); t++) p.part[t] = make_totals(&p);
    p.sum = make_totals(&p);
    bench_parallel(make_points, &p);
    for (uint32_t j = 0; j < p.clusters; j++)
        for (uint32_t c = 0; c < p.columns; c++) p.centers[(size_t)j * p.columns + c] = bench_center(j, c, p.columns);
    const bench_case cases[] = {{"step", run, check, &p}};
    return bench_serve(cases, 1, p.records);
}
