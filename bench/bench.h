// SPDX-License-Identifier: Apache-2.0
// What the benchmark programs share: made-up data, a clock, threads, and the conversation with bench/run.py.
//
// A program holds its data in memory, prints "ready" and then obeys lines on its standard input, so that several programs can be measured in turn:
//     run CASE     one iteration; answers "CASE NANOSECONDS-PER-RECORD NANOSECONDS-OF-PROCESSOR-TIME-PER-RECORD" (of all threads together)
//     check CASE   answers "CASE NUMBER NUMBER ...": results of the last iteration, for comparing the sides
// and ends with its input. It waits without using the processor.
#ifndef HDST_BENCH_BENCH_H
#define HDST_BENCH_BENCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct bench_case {
    const char *name;
    void (*run)(void *state);
    size_t (*check)(void *state, double *values, size_t limit);     // returns how many it wrote
    void *state;
} bench_case;

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_seconds(void) { return bench_clock(CLOCK_MONOTONIC); }

// A counter-based generator (splitmix64's output function), so that any thread can make any record.
static inline uint64_t bench_random(uint64_t counter)
{
    uint64_t z = counter + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Coordinate `column` of point `record`, of `columns`: uniform in [0, 1000), a multiple of 1000/2^24 rounded to float.
static inline float bench_coordinate(uint64_t record, uint32_t column, uint32_t columns)
{
    return (float)(bench_random(record * columns + column) >> 40) * (1000.f / 16777216.f);
}

// Centers come from the same box, far from the points' counters.
static inline float bench_center(uint64_t center, uint32_t column, uint32_t columns)
{
    return bench_coordinate((1ull << 40) + center, column, columns);
}

// One of four kinds, at random.
static inline uint32_t bench_kind(uint64_t record) { return (uint32_t)(bench_random((1ull << 41) + record) >> 62); }

// Pixel `record` of an image of the Mandelbrot set, 1,024 wide, `records` / 1,024 high: the real and the imaginary part.
static inline void bench_pixel(uint64_t record, uint64_t records, float *x, float *y)
{
    uint64_t height = (records + 1023) / 1024;
    *x = -2.5f + 3.5f * (float)(record % 1024) / 1024.f;
    *y = -1.25f + 2.5f * (float)(record / 1024) / (float)height;
}

// Value `which` (0 or 1) of pair `record`: uniform in [-1, 1), a multiple of 2^-15.
static inline float bench_pair_value(uint64_t record, uint32_t which, bool all_digits)
{
    const uint64_t bits = bench_random(2 * record + which);
    return all_digits ? (float)(bits >> 40) * (1.f / 8388608.f) - 1.f : (float)(bits >> 48) * (1.f / 32768.f) - 1.f;
}

// Spot price, strike price and years of an option.
static inline void bench_option_at(uint64_t record, float option[3])
{
    const uint64_t r = bench_random((1ull << 42) + record);
    option[0] = 5 + 25 * ((float)(r & 0xffff) / 65536.f);
    option[1] = 1 + 99 * ((float)(r >> 16 & 0xffff) / 65536.f);
    option[2] = 0.25f + 9.75f * ((float)(r >> 32 & 0xffff) / 65536.f);
}

// Adds the prices of a record to the numbers by which the sides are compared: all calls, all puts, and the calls with weights that no two neighbours share.
static inline void bench_add_prices(uint64_t record, double call, double put, double sums[3])
{
    sums[0] += call;
    sums[1] += put;
    sums[2] += call * (double)(record % 3);
}

// A key spread over all 32-bit numbers, one-to-one; a group's contribution to the numbers by which the sides are
// compared: how many there are, all sums, and the sums with weights by key.
static inline uint32_t bench_spread_key(uint32_t key) { return (key + 12345u) * 2891336453u; }

// Record `record` of four fields, from which by_key.hk computes a key, one of `keys` that are spread like these, and a value.
#define BENCH_ITEM_SPREAD 2654435769u

static inline void bench_order_at(uint64_t record, uint64_t keys, uint32_t *user, uint32_t *item, float *price, float *amount)
{
    const uint64_t random = bench_random(3 * record), other = bench_random(3 * record + 1);
    *item = (uint32_t)random;
    *user = bench_spread_key((uint32_t)((random >> 32) * keys >> 32)) ^ *item * BENCH_ITEM_SPREAD;
    *price = (float)(other >> 48) * 0x1p-16f;
    *amount = (float)((other & 7) + 1);
}

static inline void bench_add_group(uint32_t key, double sum, double values[3])
{
    values[0] += 1;
    values[1] += sum;
    values[2] += sum * (double)(key % 7);
}

// Large, page-aligned, in huge pages where the system gives them.
static inline void *bench_allocate(size_t bytes)
{
    size_t page = 2u << 20;
    bytes = (bytes + page - 1) / page * page;
    void *memory = aligned_alloc(page, bytes);
    if (!memory) {
        fprintf(stderr, "bench: out of memory (%zu bytes)\n", bytes);
        exit(5);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

enum { BENCH_MOST_THREADS = 64 };

static inline unsigned bench_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    const char *wish = getenv("BENCH_THREADS");
    if (wish && atoi(wish) > 0) n = atoi(wish);
    return n < 1 ? 1 : n > BENCH_MOST_THREADS ? BENCH_MOST_THREADS : (unsigned)n;
}

typedef struct bench_task {
    void (*work)(unsigned thread, unsigned threads, void *state);
    unsigned thread, threads;
    void *state;
} bench_task;

static inline void *bench_thread_main(void *argument)
{
    bench_task *task = argument;
    task->work(task->thread, task->threads, task->state);
    return NULL;
}

// work(thread, threads, state) on every thread; starting them costs about 20 microseconds, against iterations of tens of milliseconds.
static inline void bench_parallel(void (*work)(unsigned thread, unsigned threads, void *state), void *state)
{
    unsigned threads = bench_threads();
    pthread_t handle[BENCH_MOST_THREADS];
    bench_task task[BENCH_MOST_THREADS];
    for (unsigned t = 0; t < threads; t++) {
        task[t] = (bench_task){work, t, threads, state};
        if (t + 1 < threads && pthread_create(&handle[t], NULL, bench_thread_main, &task[t])) {
            fprintf(stderr, "bench: cannot start a thread\n");
            exit(1);
        }
    }
    bench_thread_main(&task[threads - 1]);
    for (unsigned t = 0; t + 1 < threads; t++) pthread_join(handle[t], NULL);
}

// "--name VALUE" from the command line, or `otherwise`.
static inline uint64_t bench_option(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return strtoull(argv[i + 1], NULL, 10);
    return otherwise;
}

static inline void bench_answer(const bench_case *item, const char *verb, uint64_t records)
{
    if (!strcmp(verb, "run")) {
        double start = bench_seconds(), processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        item->run(item->state);
        double wall = bench_seconds() - start;
        printf("%s %.6f %.6f\n", item->name, wall * 1e9 / (double)records, (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - processor) * 1e9 / (double)records);
        return;
    }
    double values[64];
    size_t count = item->check(item->state, values, 64);
    printf("%s", item->name);
    for (size_t i = 0; i < count; i++) printf(" %.17g", values[i]);
    printf("\n");
}

// The conversation. Returns the exit code.
static inline int bench_serve(const bench_case *cases, size_t count, uint64_t records)
{
    char line[256], verb[32], name[128];
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        const bench_case *item = NULL;
        if (sscanf(line, "%31s %127s", verb, name) == 2 && (!strcmp(verb, "run") || !strcmp(verb, "check")))
            for (size_t i = 0; i < count; i++)
                if (!strcmp(cases[i].name, name)) item = &cases[i];
        if (!item) {
            fprintf(stderr, "bench: did not understand: %s", line);
            return 2;
        }
        bench_answer(item, verb, records);
        fflush(stdout);
    }
    return 0;
}

#endif
