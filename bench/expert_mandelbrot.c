// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C to count the turns of a Mandelbrot loop: four vectors of points side by side, so that their chains of dependences overlap, a mask
// for each that says who is still inside, until nobody is. Threads take stretches in turn, for the middle of the image is the most work.
// usage: expert_mandelbrot [--records N], driven by bench/run.py
#include "bench/bench.h"
#include "bench/simd.h"

#include <stdatomic.h>

enum { VECTORS = 4, GROUP = VECTORS * LANES, STRETCH = 64 * GROUP, MOST_TURNS = 256 };

typedef struct problem {
    uint64_t records;
    float *x, *y;
    atomic_uint_fast64_t next;      // stretch
    uint64_t part[64], turns;
} problem;

BENCH_INLINE void count_turns(const float *px, const float *py, vint *n)
{
    vfloat x[VECTORS], y[VECTORS], a[VECTORS], b[VECTORS], four = v_all(4);
    vmask inside[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        x[v] = y[v] = v_all(0);
        a[v] = v_load(px + v * LANES);
        b[v] = v_load(py + v * LANES);
        n[v] = v_all_int(0);
        inside[v] = v_everyone();
    }
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        vmask some = {0};
        for (int v = 0; v < VECTORS; v++) {
            vfloat y2 = v_mul(y[v], y[v]);
            inside[v] = v_less_equal_of(inside[v], v_fma(x[v], x[v], y2), four);
            n[v] = v_count(n[v], inside[v]);
            vfloat next = v_fma(x[v], x[v], v_sub(a[v], y2));
            y[v] = v_fma(v_add(x[v], x[v]), y[v], b[v]);
            x[v] = next;
            some = v_or(some, inside[v]);
        }
        if (!v_any(some)) break;
    }
}

static uint64_t tail(const problem *p, uint64_t first)
{
    uint64_t turns = 0;
    for (uint64_t i = first; i < p->records; i++) {
        float x = 0, y = 0;
        for (int turn = 0; turn < MOST_TURNS && fmaf(x, x, y * y) <= 4; turn++, turns++) {
            float next = fmaf(x, x, p->x[i] - y * y);
            y = fmaf(2 * x, y, p->y[i]);
            x = next;
        }
    }
    return turns;
}

static void work(unsigned thread, unsigned threads, void *state)
{
    (void)threads;
    problem *p = state;
    const uint64_t stretches = p->records / STRETCH;
    uint64_t turns = 0;
    for (uint64_t s; (s = atomic_fetch_add(&p->next, 1)) < stretches;) {
        for (uint64_t i = s * STRETCH; i < (s + 1) * STRETCH; i += GROUP) {
            int32_t lane[GROUP];
            vint n[VECTORS];
            count_turns(p->x + i, p->y + i, n);
            for (int v = 0; v < VECTORS; v++) v_store_int(lane + v * LANES, n[v]);
            for (int k = 0; k < GROUP; k++) turns += (uint64_t)lane[k];
        }
    }
    p->part[thread] = turns;
}

static void run(void *state)
{
    problem *p = state;
    atomic_store(&p->next, 0);
    bench_parallel(work, p);
    p->turns = tail(p, p->records / STRETCH * STRETCH);
    for (unsigned t = 0; t < bench_threads(); t++) p->turns += p->part[t];
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = (double)p->turns;
    return limit < 3 ? limit : 3;
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->x = bench_allocate(p->records * sizeof(float));
    p->y = bench_allocate(p->records * sizeof(float));
    for (uint64_t i = 0; i < p->records; i++) bench_pixel(i, p->records, &p->x[i], &p->y[i]);
    const bench_case cases[] = {{"step", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
