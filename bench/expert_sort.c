// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C to sort unsigned numbers: a radix sort by 8 bits, least significant digit first, each
// thread with a stretch of its own; keys are gathered to whole cache lines, which go to memory past the caches.
// usage: expert_sort [--records N], driven by bench/run.py
#include "bench/bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE = 16, DIGITS = 256 };

typedef struct problem {
    uint64_t records;
    uint32_t *numbers, *other, *sorted;
    const uint32_t *from;       // of this pass
    uint32_t *to;
    unsigned shift;
    uint64_t place[BENCH_MOST_THREADS][DIGITS];
} problem;

static void put_line(uint32_t *to, const uint32_t *line)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, _mm512_load_si512(line));
#elif defined(__AVX2__)
    _mm256_stream_si256((void *)to, _mm256_load_si256((const void *)line));
    _mm256_stream_si256((void *)(to + 8), _mm256_load_si256((const void *)(line + 8)));
#else
    memcpy(to, line, LINE * sizeof *to);
#endif
}

static void count_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    const uint32_t *from = p->from;
    uint32_t count[4][DIGITS] = {{0}};
    uint64_t i = p->records * thread / threads;
    const uint64_t end = p->records * (thread + 1) / threads;
    const unsigned shift = p->shift;
    for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; k++) count[k][from[i + (unsigned)k] >> shift & 255]++;
    for (; i < end; i++) count[0][from[i] >> shift & 255]++;
    for (int d = 0; d < DIGITS; d++) p->place[thread][d] = (uint64_t)count[0][d] + count[1][d] + count[2][d] + count[3][d];
}

static void move_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    const uint32_t *restrict from = p->from;
    uint32_t *restrict to = p->to;
    const unsigned shift = p->shift;
    _Alignas(64) uint32_t line[DIGITS * LINE];
    uint32_t next[DIGITS], begin[DIGITS];
    for (int d = 0; d < DIGITS; d++) next[d] = begin[d] = (uint32_t)p->place[thread][d];
    for (uint64_t i = p->records * thread / threads, end = p->records * (thread + 1) / threads; i < end; i++) {
        const uint32_t key = from[i], d = key >> shift & 255, at = next[d]++;
        line[d * LINE + at % LINE] = key;
        if (at % LINE != LINE - 1) continue;
        const uint32_t first = at - (LINE - 1);
        if (first >= begin[d]) put_line(to + first, line + d * LINE);
        else memcpy(to + begin[d], line + d * LINE + begin[d] % LINE, (at + 1 - begin[d]) * sizeof *to);
    }
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint32_t first = next[d] / LINE * LINE, from_here = first > begin[d] ? first : begin[d];
        memcpy(to + from_here, line + d * LINE + from_here % LINE, (next[d] - from_here) * sizeof *to);
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

static void run(void *state)
{
    problem *p = state;
    const uint32_t *const from[] = {p->numbers, p->other, p->sorted, p->other};
    uint32_t *const to[] = {p->other, p->sorted, p->other, p->sorted};
    for (int pass = 0; pass < 4; pass++) {
        p->from = from[pass];
        p->to = to[pass];
        p->shift = (unsigned)pass * 8;
        bench_parallel(count_share, p);
        uint64_t sum = 0;
        for (int d = 0; d < DIGITS; d++)
            for (unsigned t = 0; t < bench_threads(); t++) {
                const uint64_t count = p->place[t][d];
                p->place[t][d] = sum;
                sum += count;
            }
        bench_parallel(move_share, p);
    }
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    double sums[3] = {0, 0, 1};     // all numbers, all numbers by their places, whether they are in order
    if (limit < 3) return 0;
    for (uint64_t i = 0; i < p->records; i++) {
        sums[0] += p->sorted[i];
        sums[1] += (double)p->sorted[i] * (double)i;
        if (i && p->sorted[i - 1] > p->sorted[i]) sums[2] = 0;
    }
    memcpy(values, sums, sizeof sums);
    return 3;
}

static void make(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) {
        p->numbers[i] = (uint32_t)(bench_random(i) >> 32);
        p->other[i] = p->sorted[i] = 0;
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->numbers = bench_allocate(p->records * sizeof *p->numbers);
    p->other = bench_allocate(p->records * sizeof *p->other);
    p->sorted = bench_allocate(p->records * sizeof *p->sorted);
    bench_parallel(make, p);
    const bench_case cases[] = {{"sort", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
