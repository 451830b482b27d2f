// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for one KMeans step with the L1 distance (sum of absolute differences) in five dimensions: the twin of expert_kmeans.c,
// so that no kernel shape is made for one problem. SoA, any number of centers at run time, sums and counts per center, the inertia if wanted.
//
// Shape: as there, with fewer points in a group (five coordinates and the tables' rows fill the registers), and rows of eight floats {x0 .. x4, 1, 0, 0}.
// usage: expert_kmeans_l1 [--records N] [--clusters K], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

enum { D = 5, VECTORS = 4, GROUP = VECTORS * LANES, TABLES = 4, FLUSH = 4096, CLUSTERS = 1024 };
_Static_assert(FLUSH % GROUP == 0, "a flush follows whole groups");

typedef struct totals {
    double x[D][CLUSTERS], inertia;
    uint64_t n[CLUSTERS];
} totals;

typedef struct problem {
    uint64_t records;
    uint32_t clusters;
    bool with_inertia;
    float *x[D];
    float c[CLUSTERS][D];
    totals *part;       // one per thread
    totals sum;
} problem;

// Nearest center of GROUP points from point i on; the first of equals wins. Returns the sum of the distances by lane when wanted.
BENCH_INLINE vfloat assign(const problem *p, uint64_t i, int32_t *nearest, bool with_inertia)
{
    vfloat x[D][VECTORS], best[VECTORS];
    vint index[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        for (int d = 0; d < D; d++) x[d][v] = v_load(p->x[d] + i + v * LANES);
        best[v] = v_all(INFINITY);
        index[v] = v_all_int(0);
    }
    vint center = v_all_int(0), one = v_all_int(1);     // counted in a vector: bringing j over from an integer register costs more
    for (uint32_t j = 0; j < p->clusters; j++, center = v_add_int(center, one)) {
        const float *c = p->c[j];
        for (int v = 0; v < VECTORS; v++) {
            vfloat sum = v_abs(v_sub(x[0][v], v_all(c[0])));
            for (int d = 1; d < D; d++) sum = v_add(sum, v_abs(v_sub(x[d][v], v_all(c[d]))));
            v_take_less(&best[v], &index[v], sum, center);
        }
    }
    for (int v = 0; v < VECTORS; v++) v_store_int(nearest + v * LANES, index[v]);
    vfloat total = best[0];
    if (with_inertia)
        for (int v = 1; v < VECTORS; v++) total = v_add(total, best[v]);
    return total;
}

static void flush(const problem *p, row8 (*table)[TABLES], totals *to)
{
    for (uint32_t j = 0; j < p->clusters; j++) {
        for (int t = 0; t < TABLES; t++) {
            for (int d = 0; d < D; d++) to->x[d][j] += (double)table[j][t][d];
            to->n[j] += (uint64_t)table[j][t][D];
            table[j][t] = (row8){0};
        }
    }
}

// Points [first, end), whole groups, at most FLUSH * 16 of them: a count in float stays exact.
BENCH_INLINE void stretch(const problem *p, uint64_t first, uint64_t end, row8 (*table)[TABLES], totals *to, bool with_inertia)
{
    int32_t nearest[GROUP] __attribute__((aligned(64)));
    vfloat distance = v_all(0);
    for (uint64_t i = first; i < end; i += GROUP) {
        vfloat d = assign(p, i, nearest, with_inertia);
        if (with_inertia) distance = v_add(distance, d);
        for (int r = 0; r < GROUP; r += TABLES)
            for (int t = 0; t < TABLES; t++) {
                uint64_t k = i + r + t;
                table[nearest[r + t]][t] += (row8){p->x[0][k], p->x[1][k], p->x[2][k], p->x[3][k], p->x[4][k], 1, 0, 0};
            }
    }
    if (with_inertia) to->inertia += v_sum(distance);
}

static void tail(const problem *p, uint64_t first, totals *to)
{
    for (uint64_t i = first; i < p->records; i++) {
        float best = INFINITY;
        uint32_t nearest = 0;
        for (uint32_t j = 0; j < p->clusters; j++) {
            float sum = fabsf(p->x[0][i] - p->c[j][0]);
            for (int d = 1; d < D; d++) sum += fabsf(p->x[d][i] - p->c[j][d]);
            if (sum < best) {
                best = sum;
                nearest = j;
            }
        }
        for (int d = 0; d < D; d++) to->x[d][nearest] += (double)p->x[d][i];
        to->n[nearest] += 1;
        to->inertia += (double)best;
    }
}

BENCH_INLINE void share(const problem *p, unsigned thread, unsigned threads, bool with_inertia)
{
    totals *to = &p->part[thread];
    memset(to, 0, sizeof *to);
    row8 table[CLUSTERS][TABLES] __attribute__((aligned(64)));
    memset(table, 0, p->clusters * sizeof *table);
    uint64_t stretches = p->records / FLUSH, first = stretches * thread / threads, end = stretches * (thread + 1) / threads;
    for (uint64_t s = first; s < end; s++) {
        stretch(p, s * FLUSH, (s + 1) * FLUSH, table, to, with_inertia);
        if ((s - first) % 16 == 15) flush(p, table, to);
    }
    flush(p, table, to);
    if (thread + 1 == threads) tail(p, stretches * FLUSH, to);
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    if (p->with_inertia) share(p, thread, threads, true);
    else share(p, thread, threads, false);
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    memset(&p->sum, 0, sizeof p->sum);
    for (unsigned t = 0; t < bench_threads(); t++) {
        for (uint32_t j = 0; j < p->clusters; j++) {
            for (int d = 0; d < D; d++) p->sum.x[d][j] += p->part[t].x[d][j];
            p->sum.n[j] += p->part[t].n[j];
        }
        p->sum.inertia += p->part[t].inertia;
    }
}

static void run_without(void *state)
{
    ((problem *)state)->with_inertia = false;
    run(state);
}

static void run_with(void *state)
{
    ((problem *)state)->with_inertia = true;
    run(state);
}

// Center 3: sums of its first and last coordinate, and count; then the inertia where it was computed.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint32_t j = p->clusters > 3 ? 3 : 0;
    const double all[] = {p->sum.x[0][j], p->sum.x[D - 1][j], (double)p->sum.n[j], p->sum.inertia};
    size_t count = p->with_inertia ? 4 : 3;
    for (size_t i = 0; i < count && i < limit; i++) values[i] = all[i];
    return count < limit ? count : limit;
}

static void make_points(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        for (uint32_t d = 0; d < D; d++) p->x[d][i] = bench_coordinate(i, d, D);
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->clusters = (uint32_t)bench_option(argc, argv, "--clusters", 50);
    if (!p->records || !p->clusters || p->clusters > CLUSTERS) {
        fprintf(stderr, "expert_kmeans_l1: needs 1 to %d clusters and at least one record\n", CLUSTERS);
        return 2;
    }
    for (uint32_t d = 0; d < D; d++) p->x[d] = bench_allocate(p->records * sizeof(float));
    p->part = bench_allocate(bench_threads() * sizeof(totals));
    bench_parallel(make_points, p);
    for (uint32_t j = 0; j < p->clusters; j++)
        for (uint32_t d = 0; d < D; d++) p->c[j][d] = bench_center(j, d, D);
    const bench_case cases[] = {{"plain", run_without, check, p}, {"inertia", run_with, check, p}};
    return bench_serve(cases, 2, p->records);
}
