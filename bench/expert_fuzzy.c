// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for one step of fuzzy c-means with the fuzzifier 2: float points of four columns, an
// array per column, the weighted sums and the weight of each cluster and the objective. Threads; vectors over the
// points; float sums flushed to double.
//
// Shape: with r[j] = 1 / d[j] a point belongs to cluster j by u[j] = r[j] / (sum of r), and what it adds to the
// objective is 1 / (sum of r). A group of four vectors of points keeps its weights u^2 in the first cache; then the
// five sums of a cluster stay in registers while the group goes by.
// usage: expert_fuzzy [--records N] [--clusters K], driven by bench/run.py
#include "bench/models.h"
#include "bench/simd.h"

enum { VECTORS = 4, GROUP = VECTORS * LANES, FLUSH = 4096, MOST_CLUSTERS = 64, SUMS = FUZZY_COLUMNS + 1 };
_Static_assert(FLUSH % GROUP == 0, "a flush follows whole groups");

typedef struct totals {
    double sum[MOST_CLUSTERS][SUMS], objective;     // the columns, then the weight
} totals;

typedef struct problem {
    uint64_t records;
    uint32_t clusters;
    float *x[FUZZY_COLUMNS];
    float center[MOST_CLUSTERS][FUZZY_COLUMNS];
    totals *part;
    totals sum;
} problem;

typedef struct lanes {
    vfloat sum[MOST_CLUSTERS][SUMS], objective;
} lanes;

BENCH_INLINE vfloat distance(const problem *p, uint64_t i, uint32_t j)
{
    vfloat d = v_all(0);
    for (int c = 0; c < FUZZY_COLUMNS; c++) {
        const vfloat e = v_sub(v_load(p->x[c] + i), v_all(p->center[j][c]));
        d = c ? v_fma(e, e, d) : v_mul(e, e);
    }
    return d;
}

// Vector v of a group of points: their weights go to w[j][v]. A point on a center has an infinite reciprocal, and so
// a weight that is no number: add_point takes those.
BENCH_INLINE vfloat weigh(const problem *p, uint64_t i, uint32_t clusters, vfloat (*w)[VECTORS], int v)
{
    vfloat all = v_all(0);
    const vfloat one = v_all(1);
    for (uint32_t j = 0; j < clusters; j++) {
        w[j][v] = v_div(one, distance(p, i, j));
        all = v_add(all, w[j][v]);
    }
    const vfloat part = v_div(one, all);
    for (uint32_t j = 0; j < clusters; j++) {
        const vfloat u = v_mul(w[j][v], part);
        w[j][v] = v_mul(u, u);
    }
    return part;
}

BENCH_INLINE void group(const problem *p, uint64_t i, uint32_t clusters, lanes *to, vfloat (*w)[VECTORS])
{
    for (uint32_t j = 0; j < clusters; j++) {
        vfloat sum[SUMS];
        for (int s = 0; s < SUMS; s++) sum[s] = to->sum[j][s];
        for (int v = 0; v < VECTORS; v++) {
            for (int c = 0; c < FUZZY_COLUMNS; c++) sum[c] = v_fma(w[j][v], v_load(p->x[c] + i + v * LANES), sum[c]);
            sum[FUZZY_COLUMNS] = v_add(sum[FUZZY_COLUMNS], w[j][v]);
        }
        for (int s = 0; s < SUMS; s++) to->sum[j][s] = sum[s];
    }
}

static void add_point(const problem *p, uint64_t i, totals *to)
{
    double d[MOST_CLUSTERS], all = 0;
    uint32_t on = UINT32_MAX;
    for (uint32_t j = 0; j < p->clusters; j++) {
        d[j] = 0;
        for (int c = 0; c < FUZZY_COLUMNS; c++) d[j] += ((double)p->x[c][i] - (double)p->center[j][c]) * ((double)p->x[c][i] - (double)p->center[j][c]);
        if (d[j] == 0 && on == UINT32_MAX) on = j;
        all += 1 / d[j];
    }
    for (uint32_t j = 0; j < p->clusters; j++) {
        const double u = on == UINT32_MAX ? 1 / d[j] / all : j == on, weight = u * u;
        for (int c = 0; c < FUZZY_COLUMNS; c++) to->sum[j][c] += weight * (double)p->x[c][i];
        to->sum[j][FUZZY_COLUMNS] += weight;
    }
    to->objective += on == UINT32_MAX ? 1 / all : 0;
}

static void flush(uint32_t clusters, lanes *from, totals *to)
{
    for (uint32_t j = 0; j < clusters; j++)
        for (int s = 0; s < SUMS; s++) {
            to->sum[j][s] += v_sum(from->sum[j][s]);
            from->sum[j][s] = v_all(0);
        }
    to->objective += v_sum(from->objective);
    from->objective = v_all(0);
}

// FLUSH points.
BENCH_INLINE void stretch(const problem *p, uint64_t first, uint32_t clusters, lanes *part, totals *to)
{
    vfloat w[MOST_CLUSTERS][VECTORS];
    for (uint64_t i = first; i < first + FLUSH; i += GROUP) {
        vfloat objective = v_all(0);
        for (int v = 0; v < VECTORS; v++) objective = v_add(objective, weigh(p, i + v * LANES, clusters, w, v));
        const double sum = v_sum(objective);
        if (!(sum > 0 && sum < INFINITY)) {
            for (int r = 0; r < GROUP; r++) add_point(p, i + r, to);
            continue;
        }
        part->objective = v_add(part->objective, objective);
        group(p, i, clusters, part, w);
    }
    flush(clusters, part, to);
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    totals *to = &p->part[thread];
    memset(to, 0, sizeof *to);
    lanes part;
    memset(&part, 0, sizeof part);
    const uint64_t stretches = p->records / FLUSH, first = stretches * thread / threads, end = stretches * (thread + 1) / threads;
    for (uint64_t s = first; s < end; s++) {
        if (p->clusters == 8) stretch(p, s * FLUSH, 8, &part, to);      // hdst's kernel knows the number too
        else stretch(p, s * FLUSH, p->clusters, &part, to);
    }
    if (thread + 1 == threads)
        for (uint64_t i = stretches * FLUSH; i < p->records; i++) add_point(p, i, to);
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    memset(&p->sum, 0, sizeof p->sum);
    for (unsigned t = 0; t < bench_threads(); t++) {
        for (uint32_t j = 0; j < p->clusters; j++)
            for (int s = 0; s < SUMS; s++) p->sum.sum[j][s] += p->part[t].sum[j][s];
        p->sum.objective += p->part[t].objective;
    }
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const double all[] = {p->sum.objective, p->sum.sum[0][FUZZY_COLUMNS], p->sum.sum[0][0], p->sum.sum[p->clusters - 1][FUZZY_COLUMNS - 1]};
    for (size_t i = 0; i < 4 && i < limit; i++) values[i] = all[i];
    return limit < 4 ? limit : 4;
}

static void make_points(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        for (uint32_t c = 0; c < FUZZY_COLUMNS; c++) p->x[c][i] = bench_coordinate(i, c, FUZZY_COLUMNS);
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 4000000);
    p->clusters = (uint32_t)bench_option(argc, argv, "--clusters", 8);
    if (!p->records || !p->clusters || p->clusters > MOST_CLUSTERS) {
        fprintf(stderr, "expert_fuzzy: needs 1 to %d clusters and at least one record\n", MOST_CLUSTERS);
        return 2;
    }
    for (int c = 0; c < FUZZY_COLUMNS; c++) p->x[c] = bench_allocate(p->records * sizeof(float));
    p->part = bench_allocate(bench_threads() * sizeof(totals));
    bench_parallel(make_points, p);
    for (uint32_t j = 0; j < p->clusters; j++)
        for (uint32_t c = 0; c < FUZZY_COLUMNS; c++) p->center[j][c] = bench_center(j, c, FUZZY_COLUMNS);
    const bench_case cases[] = {{"step", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
