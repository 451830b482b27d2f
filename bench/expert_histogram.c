// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for a histogram of each of the three bytes of pixels: tables of 32-bit counts for each
// thread, two of them in turn, so that a common value waits less for its own last addition.
// usage: expert_histogram [--records N], driven by bench/run.py
#include "bench/histogram.h"

enum { TABLES = 2, PIXELS = 4 };

typedef struct problem {
    uint64_t records;
    bool skewed;
    uint8_t *bytes;
    uint64_t counts[3][256];
    uint32_t (*own)[TABLES][3][256];    // of each thread
} problem;

static inline void add(uint32_t table[3][256], const uint8_t *pixel)
{
    table[0][pixel[0]]++;
    table[1][pixel[1]]++;
    table[2][pixel[2]]++;
}

static void count_share(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    uint32_t (*own)[3][256] = p->own[thread];
    memset(own, 0, TABLES * sizeof *own);
    uint64_t i = p->records / threads * thread;
    const uint64_t end = thread + 1 == threads ? p->records : p->records / threads * (thread + 1);
    for (; i + PIXELS <= end; i += PIXELS)
        for (int k = 0; k < PIXELS; k++) add(own[k % TABLES], p->bytes + 3 * (i + (unsigned)k));
    for (; i < end; i++) add(own[0], p->bytes + 3 * i);
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(count_share, p);
    memset(p->counts, 0, sizeof p->counts);
    for (unsigned t = 0; t < bench_threads(); t++)
        for (int table = 0; table < TABLES; table++)
            for (int c = 0; c < 3; c++)
                for (int v = 0; v < 256; v++) p->counts[c][v] += p->own[t][table][c][v];
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    return histogram_check(&p->counts[0][0], values, limit);
}

static void make(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++)
        for (unsigned c = 0; c < 3; c++) p->bytes[3 * i + c] = histogram_byte(i, c, p->skewed);
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 33000000), .skewed = bench_option(argc, argv, "--skewed", 0)};
    p.bytes = bench_allocate(3 * p.records);
    p.own = bench_allocate(BENCH_MOST_THREADS * sizeof *p.own);
    bench_parallel(make, &p);
    const bench_case cases[] = {{"count", run, check, &p}};
    return bench_serve(cases, 1, p.records);
}
