// SPDX-License-Identifier: Apache-2.0
// A join of many records with few, half of which have a partner, and the sum of the products of their values: hdst beside a hash join in C, turn about in one
// process. The least processor and wall time of the rounds, and their ratios.
//
// usage: bench_join [RECORDS [SMALL [ROUNDS [cached]]]]      (100000000, 1000000, 5; cached: both sides stay where they are joined, on a device)
#include "hdst/hdst.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct large { uint32_t key; double v; } large;
typedef struct small { uint32_t key; double w; } small;

static const char kernels[] =
    "struct large { uint32_t key; double v; };\n"
    "struct small { uint32_t key; double w; };\n"
    "join product(large a, small b) -> double { return a.v * b.w; }\n"
    "reduce add(double a, double b) { return a + b; }\n";

typedef struct data {
    large *l;
    small *s;
    uint64_t count, few;
} data;

static double clock_now(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Keys of the small side are spread; the large one's are drawn from twice as many.
static void fill(data *d)
{
    uint64_t state = 1;
    for (uint64_t i = 0; i < d->few; i++) d->s[i] = (small){(uint32_t)i * 2654435761u, (double)(i % 16)};
    for (uint64_t i = 0; i < d->count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        d->l[i] = (large){(uint32_t)((state >> 33) % (2 * d->few)) * 2654435761u, (double)(i % 8)};
    }
}

// --- By hand: a table with linear probing, at most half full, in one array; all threads probe, and ask for the places of the next records ahead ---

enum { AHEAD = 16 };

typedef struct slot { uint32_t key, used; double w; } slot;

typedef struct table {
    const data *d;
    slot *slot;
    uint64_t mask, threads;
    double sum[64];
} table;

static uint64_t place_of(const table *t, uint32_t key) { return (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & t->mask; }

static void build(table *t, const data *d)
{
    uint64_t capacity = 16;
    while (capacity < 2 * d->few) capacity *= 2;
    *t = (table){.d = d, .slot = calloc(capacity, sizeof *t->slot), .mask = capacity - 1, .threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    if (!t->slot) exit(5);
    if (t->threads > 64) t->threads = 64;
    for (uint64_t i = 0; i < d->few; i++) {
        uint64_t at = place_of(t, d->s[i].key);
        while (t->slot[at].used) at = (at + 1) & t->mask;
        t->slot[at] = (slot){d->s[i].key, 1, d->s[i].w};
    }
}

typedef struct prober {
    table *t;
    uint64_t thread;
} prober;

static void *probe(void *user)
{
    const prober *p = user;
    const table *t = p->t;
    double sum = 0;
    for (uint64_t i = t->d->count * p->thread / t->threads, end = t->d->count * (p->thread + 1) / t->threads; i < end; i++) {
        const large *l = &t->d->l[i];
        if (i + AHEAD < end) __builtin_prefetch(&t->slot[place_of(t, l[AHEAD].key)]);
        for (uint64_t at = place_of(t, l->key); t->slot[at].used; at = (at + 1) & t->mask)
            if (t->slot[at].key == l->key) sum += l->v * t->slot[at].w;
    }
    p->t->sum[p->thread] = sum;
    return NULL;
}

static double by_hand(const data *d)
{
    table t;
    prober probers[64];
    pthread_t threads[64];
    double sum = 0;
    build(&t, d);
    for (uint64_t i = 0; i < t.threads; i++) {
        probers[i] = (prober){&t, i};
        pthread_create(&threads[i], NULL, probe, &probers[i]);
    }
    for (uint64_t i = 0; i < t.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += t.sum[i];
    }
    free(t.slot);
    return sum;
}

// --- Both, turn about ---

typedef struct least {
    double cpu, wall, sum;
} least;

static void note(least *best, double cpu, double wall, double sum)
{
    cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = clock_now(CLOCK_MONOTONIC) - wall;
    if (cpu < best->cpu) best->cpu = cpu;
    if (wall < best->wall) best->wall = wall;
    best->sum = sum;
}

static int fail(hdst_error *error)
{
    char text[2500];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return hdst_status_exit_code(error->code);
}

int main(int argc, char **argv)
{
    data d = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000, .few = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000};
    const int rounds = argc > 3 ? atoi(argv[3]) : 5;
    const bool cached = argc > 4 && !strcmp(argv[4], "cached");
    least hdst = {1e9, 1e9, 0}, hand = hdst;
    hdst_error error = HDST_ERROR_INIT;
    d.l = malloc(d.count * sizeof *d.l);
    d.s = malloc(d.few * sizeof *d.s);
    if (!d.l || !d.s) return 5;
    fill(&d);
    hdst_context *context = hdst_context_create(NULL);
    if (hdst_memory_register(context, d.l, d.count * sizeof *d.l, &error) != HDST_OK ||
        hdst_memory_register(context, d.s, d.few * sizeof *d.s, &error) != HDST_OK)
        return fail(&error);
    hdst_module *module = hdst_module_parse(context, "bench_join", kernels, NULL);
    hdst_dataset *l = hdst_read(hdst_source_from_memory(context, d.l, d.count, sizeof *d.l), module, "large");
    hdst_dataset *s = hdst_read(hdst_source_from_memory(context, d.s, d.few, sizeof *d.s), module, "small");
    if (cached) l = hdst_cache(l), s = hdst_cache(s);
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_join(l, "key", s, "key", module, "product"), module, "add"));
    if (hdst_run(result, &error) != HDST_OK) return fail(&error);       // compiles
    for (int i = 0; i < rounds; i++) {
        double cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID), wall = clock_now(CLOCK_MONOTONIC);
        if (hdst_run(result, &error) != HDST_OK) return fail(&error);
        note(&hdst, cpu, wall, hdst_view_double(hdst_result_field(result, NULL, "value"), 0, 0));
        cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID), wall = clock_now(CLOCK_MONOTONIC);
        note(&hand, cpu, wall, by_hand(&d));
    }
    printf("%" PRIu64 " x %" PRIu64 ": hdst %.3f s of processors, %.3f s; by hand %.3f, %.3f; ratios %.2f, %.2f; sums %s\n", d.count, d.few, hdst.cpu,
           hdst.wall, hand.cpu, hand.wall, hdst.cpu / hand.cpu, hdst.wall / hand.wall, hdst.sum == hand.sum ? "equal" : "DIFFER");
    puts(hdst_explain(result, NULL));
    const bool equal = hdst.sum == hand.sum;
    hdst_context_destroy(context);
    return !equal;
}
