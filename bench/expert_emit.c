// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much, by an expert: columns in, C structs out, in input order. Every thread
// counts its part, then writes it where the counts say; the place moves on by the condition, without a branch.
//   expert_emit [--records N]      cases: half, tenth (filters), both (an edge and its reverse, unless it is a loop), steps (none to three records of each)
#include "bench/bench.h"

typedef struct pair { uint32_t a, b; } pair;

typedef struct problem {
    uint64_t records;
    const float *x, *y;
    const uint32_t *from, *to;
    float limit;
    pair *output;
    uint64_t count[64], total;
    pthread_barrier_t counted;
} problem;

static void part(const problem *p, unsigned thread, unsigned threads, uint64_t *first, uint64_t *end)
{
    *first = p->records / threads * thread;
    *end = thread + 1 == threads ? p->records : p->records / threads * (thread + 1);
}

// Where the thread's output begins, once all have counted.
static uint64_t meet(problem *p, unsigned thread, unsigned threads, uint64_t own)
{
    p->count[thread] = own;
    pthread_barrier_wait(&p->counted);
    uint64_t place = 0, all = 0;
    for (unsigned t = 0; t < threads; t++) {
        if (t < thread) place += p->count[t];
        all += p->count[t];
    }
    if (thread == 0) p->total = all;
    return place;
}

static void filter(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t first, end, own = 0;
    part(p, thread, threads, &first, &end);
    const float limit = p->limit;
    for (uint64_t i = first; i < end; i++) own += p->x[i] < limit;
    uint64_t c = meet(p, thread, threads, own), stop = c + own;
    // The last record that comes out is followed by none that is only stored: the next thread writes there.
    for (uint64_t i = first; i < end && c < stop; i++) {
        memcpy(&p->output[c].a, &p->x[i], 4);
        memcpy(&p->output[c].b, &p->y[i], 4);
        c += p->x[i] < limit;
    }
}

static void both(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t first, end, own = 0;
    part(p, thread, threads, &first, &end);
    for (uint64_t i = first; i < end; i++) own += p->from[i] != p->to[i] ? 2 : 0;
    uint64_t c = meet(p, thread, threads, own), stop = c + own;
    for (uint64_t i = first; i < end && c < stop; i++) {
        p->output[c] = (pair){p->from[i], p->to[i]};
        p->output[c + 1] = (pair){p->to[i], p->from[i]};
        c += p->from[i] != p->to[i] ? 2 : 0;
    }
}

static void steps(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t first, end, own = 0;
    part(p, thread, threads, &first, &end);
    for (uint64_t i = first; i < end; i++) own += p->to[i] % 4;
    uint64_t c = meet(p, thread, threads, own);
    for (uint64_t i = first; i < end; i++)
        for (uint32_t k = 0; k < p->to[i] % 4; k++) p->output[c++] = (pair){p->from[i], k};
}

static void run_half(void *state) { ((problem *)state)->limit = 500; bench_parallel(filter, state); }
static void run_tenth(void *state) { ((problem *)state)->limit = 100; bench_parallel(filter, state); }
static void run_both(void *state) { bench_parallel(both, state); }
static void run_steps(void *state) { bench_parallel(steps, state); }

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < p->total; i++) sum += (p->output[i].a ^ p->output[i].b) * (i % 1000 + 1);
    values[0] = (double)p->total;
    values[1] = (double)(sum >> 11);
    values[2] = p->total ? (double)p->output[p->total - 1].a : 0;
    return 3;
}

int main(int argc, char **argv)
{
    static problem p;
    p.records = bench_option(argc, argv, "--records", 20000000);
    float *x = bench_allocate(p.records * 4), *y = bench_allocate(p.records * 4);
    uint32_t *from = bench_allocate(p.records * 4), *to = bench_allocate(p.records * 4);
    for (uint64_t i = 0; i < p.records; i++) {
        x[i] = bench_coordinate(i, 0, 2);
        y[i] = bench_coordinate(i, 1, 2);
        from[i] = (uint32_t)(bench_random(i) & 255);
        to[i] = (uint32_t)(bench_random(i) >> 32 & 255);
    }
    p.x = x, p.y = y, p.from = from, p.to = to;
    p.output = bench_allocate((p.records * 3 + 8) * sizeof(pair));
    pthread_barrier_init(&p.counted, NULL, bench_threads());
    const bench_case cases[] = {{"half", run_half, check, &p}, {"tenth", run_tenth, check, &p}, {"both", run_both, check, &p}, {"steps", run_steps, check, &p}};
    return bench_serve(cases, 4, p.records);
}
