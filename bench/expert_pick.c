// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C to find the pairs (u32, f32) with the largest values: each thread keeps the best of its
// share in order; a block of values is compared with the worst of them at once, and hardly any has a better one.
// usage: expert_pick [--count N] [--records N], driven by bench/run.py
#include "bench/bench.h"

enum { BLOCK = 64, MOST = 1024 };

typedef struct pair { uint32_t key; float value; } pair;
typedef struct best { uint64_t count; pair of[MOST + 1]; } best;

typedef struct problem {
    uint64_t records, wanted;
    pair *pairs;
    best best[BENCH_MOST_THREADS], all;
} problem;

// Descending, the earlier of equal ones first.
static void insert(best *b, uint64_t wanted, pair p)
{
    uint64_t at = b->count;
    for (; at > 0 && b->of[at - 1].value < p.value; at--) b->of[at] = b->of[at - 1];
    b->of[at] = p;
    if (b->count < wanted) b->count++;
}

static void pick_share(unsigned thread, unsigned threads, uint64_t wanted, problem *p)
{
    best *b = &p->best[thread];
    b->count = 0;
    const uint64_t end = p->records * (thread + 1) / threads;
    for (uint64_t i = p->records * thread / threads; i < end; i += BLOCK) {
        const uint64_t count = end - i < BLOCK ? end - i : BLOCK;
        const pair *at = p->pairs + i;
        const float worst = b->count == wanted ? b->of[wanted - 1].value : -1e30f;
        int any = 0;
        if (count == BLOCK) for (int k = 0; k < BLOCK; k++) any |= at[k].value > worst;
        if (count == BLOCK && !any) continue;
        for (uint64_t k = 0; k < count; k++)
            if (b->count < wanted || at[k].value > b->of[wanted - 1].value) insert(b, wanted, at[k]);
    }
}

static void top_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    pick_share(thread, threads, p->wanted, p);
}

static void largest_share(unsigned thread, unsigned threads, void *state) { pick_share(thread, threads, 1, state); }

static void merge(problem *p, uint64_t wanted)
{
    p->all.count = 0;
    for (unsigned t = 0; t < bench_threads(); t++)
        for (uint64_t i = 0; i < p->best[t].count; i++) insert(&p->all, wanted, p->best[t].of[i]);
}

static void run_top(void *state)
{
    bench_parallel(top_share, state);
    merge(state, ((problem *)state)->wanted);
}

static void run_largest(void *state)
{
    bench_parallel(largest_share, state);
    merge(state, 1);
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    size_t n = 0;
    for (uint64_t i = 0; i < p->all.count && n + 2 <= limit && i < 8; i++) values[n++] = p->all.of[i].key, values[n++] = (double)p->all.of[i].value;
    return n;
}

static void make(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        p->pairs[i] = (pair){(uint32_t)i, bench_pair_value(i, 0, true)};
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 100000000);
    p->wanted = bench_option(argc, argv, "--count", 10);
    if (p->wanted < 1 || p->wanted > MOST) return 2;
    p->pairs = bench_allocate(p->records * sizeof *p->pairs);
    bench_parallel(make, p);
    const bench_case cases[] = {{"top", run_top, check, p}, {"largest", run_largest, check, p}};
    return bench_serve(cases, 2, p->records);
}
