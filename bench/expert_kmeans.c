// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for one KMeans step: float points in two dimensions, one array per coordinate (SoA), any number of centers at run time,
// squared distances, sums and counts per center, and the inertia if wanted. Threads; vectors over the points; float sums flushed to double.
//
// Shape: a group of points stays in registers while the loop over the centers goes by; then each point is added to its center's row {x, y, 1, 0}
// with one 16-byte addition, into one of four tables in turn, so that points of one cluster in a row do not wait for each other.
// usage: expert_kmeans [--records N] [--clusters K], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

enum { VECTORS = 4, GROUP = VECTORS * LANES, TABLES = 4, FLUSH = 4096, CLUSTERS = 1024 };
_Static_assert(FLUSH % GROUP == 0, "a flush follows whole groups");

typedef struct totals {
    double x[CLUSTERS], y[CLUSTERS], inertia;
    uint64_t n[CLUSTERS];
} totals;

typedef struct problem {
    uint64_t records;
    uint32_t clusters;
    bool with_inertia;
    float *x, *y;
    float cx[CLUSTERS], cy[CLUSTERS];
    totals *part;       // one per thread
    totals sum;
} problem;

// Nearest center of GROUP points; the first of equals wins. Returns the sum of the squared distances by lane when wanted.
BENCH_INLINE vfloat assign(const problem *p, const float *x, const float *y, int32_t *nearest, bool with_inertia)
{
    vfloat px[VECTORS], py[VECTORS], best[VECTORS];
    vint index[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        px[v] = v_load(x + v * LANES);
        py[v] = v_load(y + v * LANES);
        best[v] = v_all(INFINITY);
        index[v] = v_all_int(0);
    }
    vint center = v_all_int(0), one = v_all_int(1);     // counted in a vector: bringing j over from an integer register costs more
    for (uint32_t j = 0; j < p->clusters; j++, center = v_add_int(center, one)) {
        vfloat cx = v_all(p->cx[j]), cy = v_all(p->cy[j]);
        for (int v = 0; v < VECTORS; v++) {
            vfloat dx = v_sub(px[v], cx), dy = v_sub(py[v], cy);
            v_take_less(&best[v], &index[v], v_fma(dx, dx, v_mul(dy, dy)), center);
        }
    }
    for (int v = 0; v < VECTORS; v++) v_store_int(nearest + v * LANES, index[v]);
    if (!with_inertia) return best[0];
    return v_add(v_add(best[0], best[1]), v_add(best[2], best[3]));
}

static void flush(const problem *p, row4 (*table)[TABLES], totals *to)
{
    for (uint32_t j = 0; j < p->clusters; j++) {
        for (int t = 0; t < TABLES; t++) {
            to->x[j] += (double)table[j][t][0];
            to->y[j] += (double)table[j][t][1];
            to->n[j] += (uint64_t)table[j][t][2];
            table[j][t] = (row4){0, 0, 0, 0};
        }
    }
}

// Points [first, end), whole groups, at most FLUSH * 16 of them: a count in float stays exact.
BENCH_INLINE void stretch(const problem *p, uint64_t first, uint64_t end, row4 (*table)[TABLES], totals *to, bool with_inertia)
{
    int32_t nearest[GROUP] __attribute__((aligned(64)));
    vfloat distance = v_all(0);
    for (uint64_t i = first; i < end; i += GROUP) {
        const float *x = p->x + i, *y = p->y + i;
        vfloat d = assign(p, x, y, nearest, with_inertia);
        if (with_inertia) distance = v_add(distance, d);
        for (int r = 0; r < GROUP; r += TABLES)
            for (int t = 0; t < TABLES; t++) table[nearest[r + t]][t] += (row4){x[r + t], y[r + t], 1, 0};
    }
    if (with_inertia) to->inertia += v_sum(distance);
}

static void tail(const problem *p, uint64_t first, totals *to)
{
    for (uint64_t i = first; i < p->records; i++) {
        float best = INFINITY;
        uint32_t nearest = 0;
        for (uint32_t j = 0; j < p->clusters; j++) {
            float dx = p->x[i] - p->cx[j], dy = p->y[i] - p->cy[j], d = fmaf(dx, dx, dy * dy);
            if (d < best) {
                best = d;
                nearest = j;
            }
        }
        to->x[nearest] += (double)p->x[i];
        to->y[nearest] += (double)p->y[i];
        to->n[nearest] += 1;
        to->inertia += (double)best;
    }
}

BENCH_INLINE void share(const problem *p, unsigned thread, unsigned threads, bool with_inertia)
{
    totals *to = &p->part[thread];
    memset(to, 0, sizeof *to);
    row4 table[CLUSTERS][TABLES] __attribute__((aligned(64)));
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
            p->sum.x[j] += p->part[t].x[j];
            p->sum.y[j] += p->part[t].y[j];
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

// Center 3: sums and count; then the inertia where it was computed.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint32_t j = p->clusters > 3 ? 3 : 0;
    const double all[] = {p->sum.x[j], p->sum.y[j], (double)p->sum.n[j], p->sum.inertia};
    size_t count = p->with_inertia ? 4 : 3;
    for (size_t i = 0; i < count && i < limit; i++) values[i] = all[i];
    return count < limit ? count : limit;
}

static void make_points(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) {
        p->x[i] = bench_coordinate(i, 0, 2);
        p->y[i] = bench_coordinate(i, 1, 2);
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->clusters = (uint32_t)bench_option(argc, argv, "--clusters", 50);
    if (!p->records || !p->clusters || p->clusters > CLUSTERS) {
        fprintf(stderr, "expert_kmeans: needs 1 to %d clusters and at least one record\n", CLUSTERS);
        return 2;
    }
    p->x = bench_allocate(p->records * sizeof(float));
    p->y = bench_allocate(p->records * sizeof(float));
    p->part = bench_allocate(bench_threads() * sizeof(totals));
    bench_parallel(make_points, p);
    for (uint32_t j = 0; j < p->clusters; j++) {
        p->cx[j] = bench_center(j, 0, 2);
        p->cy[j] = bench_center(j, 1, 2);
    }
    const bench_case cases[] = {{"plain", run_without, check, p}, {"inertia", run_with, check, p}};
    return bench_serve(cases, 2, p->records);
}
