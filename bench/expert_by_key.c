// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for sums of floats by a 32-bit key, in doubles, not exact: an array per thread where the
// keys' range is known; a hash table per thread, then merged, where there are few keys; else pairs apart by hash,
// through lines of a cache line each and stores past the caches, and a table for each part.
//   expert_by_key [--keys N] [--records N] [--map]         cases: dense, hashed (a table per thread, or parts); with --map only mapped
// Dense keys are 0 ... N - 1; the others are spread over all 32-bit numbers. Mapped: key and value are computed from records of four fields, in the same loops.
#include "bench/bench.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct group { uint32_t key, used; double sum; } group;

enum { PAIRS_OF_LINE = 8, MOST_PARTS = 1 << 12 };

typedef struct worker {
    group *table;
    uint64_t *line;                         // MOST_PARTS of them
    uint64_t first[MOST_PARTS], at[MOST_PARTS];     // of its stretch of each part
    uint8_t fill[MOST_PARTS];
} worker;

typedef struct problem {
    uint64_t records, keys;
    uint32_t *dense, *spread;
    float *value;
    uint32_t *user, *item;                  // of records that are mapped
    float *price, *amount;
    bool mapped;
    uint64_t *pairs;                        // by part
    group *out;
    uint64_t groups;
    uint32_t table_bits, part_bits;
    worker *worker[BENCH_MOST_THREADS];
    pthread_barrier_t barrier;
    unsigned next_part;
} problem;

static inline __attribute__((always_inline)) uint32_t key_at(const problem *p, uint64_t i, bool mapped)
{
    return mapped ? p->user[i] ^ p->item[i] * BENCH_ITEM_SPREAD : p->spread[i];
}

static inline __attribute__((always_inline)) float value_at(const problem *p, uint64_t i, bool mapped)
{
    return mapped ? p->price[i] * p->amount[i] : p->value[i];
}

static inline uint32_t hash_of(uint32_t key)
{
#ifdef __SSE4_2__
    return (uint32_t)_mm_crc32_u32(0x9e3779b1u, key) * 0x85ebca6bu;
#else
    return (key ^ key >> 16) * 0x9e3779b1u;
#endif
}

static inline void add(group *table, uint32_t at, uint32_t mask, uint32_t key, double value)
{
    while (table[at].used && table[at].key != key) at = (at + 1) & mask;
    table[at].key = key;
    table[at].used = 1;
    table[at].sum += value;
}

static void stretch(const problem *p, unsigned thread, unsigned threads, uint64_t *from, uint64_t *to)
{
    *from = p->records / threads * thread;
    *to = thread + 1 == threads ? p->records : p->records / threads * (thread + 1);
}

// --- Keys in a known range ---

static void dense_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    group *table = p->worker[thread]->table;
    uint64_t from, to;
    stretch(p, thread, threads, &from, &to);
    memset(table, 0, p->keys * sizeof *table);
    for (uint64_t i = from; i < to; i++) table[p->dense[i]].sum += (double)p->value[i];
    pthread_barrier_wait(&p->barrier);
    for (uint64_t k = p->keys * thread / threads; k < p->keys * (thread + 1) / threads; k++) {
        double sum = 0;
        for (unsigned t = 0; t < threads; t++) sum += p->worker[t]->table[k].sum;
        p->out[k] = (group){(uint32_t)k, 1, sum};
    }
}

static void run_dense(void *state)
{
    problem *p = state;
    bench_parallel(dense_share, p);
    p->groups = p->keys;
}

// --- A table for each thread ---

static inline __attribute__((always_inline)) void fill_table(problem *p, group *table, uint64_t from, uint64_t to, bool mapped)
{
    const uint32_t bits = p->table_bits, mask = (1u << bits) - 1;
    for (uint64_t i = from; i < to; i++) {
        const uint32_t key = key_at(p, i, mapped);
        add(table, hash_of(key) >> (32 - bits), mask, key, (double)value_at(p, i, mapped));
    }
}

static void few_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    group *table = p->worker[thread]->table;
    uint64_t from, to;
    stretch(p, thread, threads, &from, &to);
    memset(table, 0, sizeof *table << p->table_bits);
    if (p->mapped) fill_table(p, table, from, to, true);
    else fill_table(p, table, from, to, false);
}

static void run_few(void *state)
{
    problem *p = state;
    const uint32_t bits = p->table_bits, mask = (1u << bits) - 1;
    bench_parallel(few_share, p);
    for (unsigned t = 1; t < bench_threads(); t++)
        for (uint32_t i = 0; i <= mask; i++) {
            const group *from = &p->worker[t]->table[i];
            if (from->used) add(p->worker[0]->table, hash_of(from->key) >> (32 - bits), mask, from->key, from->sum);
        }
    p->groups = 0;
    for (uint32_t i = 0; i <= mask; i++)
        if (p->worker[0]->table[i].used) p->out[p->groups++] = p->worker[0]->table[i];
}

// --- Parts by hash ---

static void write_line(uint64_t *to, const uint64_t *from)
{
#ifdef __SSE2__
    for (int i = 0; i < PAIRS_OF_LINE; i += 2) _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
#else
    memcpy(to, from, PAIRS_OF_LINE * sizeof *to);
#endif
}

// Where each thread's stretch of each part begins: at a cache line.
static void place_parts(problem *p, unsigned threads)
{
    uint64_t at = 0;
    for (uint32_t part = 0; part < 1u << p->part_bits; part++)
        for (unsigned t = 0; t < threads; t++) {
            const uint64_t count = p->worker[t]->at[part];
            p->worker[t]->first[part] = p->worker[t]->at[part] = at;
            at = (at + count + PAIRS_OF_LINE - 1) / PAIRS_OF_LINE * PAIRS_OF_LINE;
        }
    p->next_part = 0;
    p->groups = 0;
}

static inline __attribute__((always_inline)) void count_parts(const problem *p, worker *w, uint64_t from, uint64_t to, bool mapped)
{
    for (uint64_t i = from; i < to; i++) w->at[hash_of(key_at(p, i, mapped)) >> (32 - p->part_bits)]++;
}

static inline __attribute__((always_inline)) void scatter(const problem *p, worker *w, uint64_t from, uint64_t to, bool mapped)
{
    memset(w->fill, 0, sizeof w->fill);
    for (uint64_t i = from; i < to; i++) {
        const uint32_t key = key_at(p, i, mapped), part = hash_of(key) >> (32 - p->part_bits);
        const float value = value_at(p, i, mapped);
        uint32_t bits, fill = w->fill[part];
        memcpy(&bits, &value, sizeof bits);
        w->line[part * PAIRS_OF_LINE + fill] = (uint64_t)bits << 32 | key;
        if (++fill == PAIRS_OF_LINE) {
            write_line(p->pairs + w->at[part], w->line + part * PAIRS_OF_LINE);
            w->at[part] += PAIRS_OF_LINE;
            fill = 0;
        }
        w->fill[part] = (uint8_t)fill;
    }
    for (uint32_t part = 0; part < 1u << p->part_bits; part++) {
        memcpy(p->pairs + w->at[part], w->line + part * PAIRS_OF_LINE, w->fill[part] * sizeof *w->line);
        w->at[part] += w->fill[part];
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void reduce_part(problem *p, group *table, uint32_t part, unsigned threads)
{
    const uint32_t bits = p->table_bits, mask = (1u << bits) - 1;
    memset(table, 0, sizeof *table << bits);
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t i = p->worker[t]->first[part]; i < p->worker[t]->at[part]; i++) {
            const uint32_t key = (uint32_t)p->pairs[i], half = (uint32_t)(p->pairs[i] >> 32);
            float value;
            memcpy(&value, &half, sizeof value);
            add(table, hash_of(key) << p->part_bits >> (32 - bits), mask, key, (double)value);
        }
    uint64_t count = 0;
    for (uint32_t i = 0; i <= mask; i++) count += table[i].used;
    uint64_t at = __atomic_fetch_add(&p->groups, count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i <= mask; i++)
        if (table[i].used) p->out[at++] = table[i];
}

static void many_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    worker *w = p->worker[thread];
    uint64_t from, to;
    stretch(p, thread, threads, &from, &to);
    memset(w->at, 0, sizeof w->at);
    if (p->mapped) count_parts(p, w, from, to, true);
    else count_parts(p, w, from, to, false);
    pthread_barrier_wait(&p->barrier);
    if (thread == 0) place_parts(p, threads);
    pthread_barrier_wait(&p->barrier);
    if (p->mapped) scatter(p, w, from, to, true);
    else scatter(p, w, from, to, false);
    pthread_barrier_wait(&p->barrier);
    for (uint32_t part; (part = __atomic_fetch_add(&p->next_part, 1, __ATOMIC_RELAXED)) < 1u << p->part_bits;) reduce_part(p, w->table, part, threads);
}

static void run_many(void *state) { bench_parallel(many_share, state); }

// --- Data ---

static void make_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t from, to;
    stretch(p, thread, threads, &from, &to);
    for (uint64_t i = from; i < to && p->mapped; i++) bench_order_at(i, p->keys, &p->user[i], &p->item[i], &p->price[i], &p->amount[i]);
    for (uint64_t i = from; i < to && !p->mapped; i++) {
        p->dense[i] = (uint32_t)((bench_random(2 * i) >> 32) * p->keys >> 32);
        p->spread[i] = bench_spread_key(p->dense[i]);
        p->value[i] = (float)(bench_random(2 * i + 1) >> 40) * 0x1p-24f;
    }
}

// Number of keys, sum of all, and sum with weights by key.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    values[0] = values[1] = values[2] = 0;
    for (uint64_t i = 0; i < p->groups && limit > 2; i++) bench_add_group(p->out[i].key, (double)(float)p->out[i].sum, values);
    return 3;
}

static uint32_t bits_for(uint64_t rows)
{
    uint32_t bits = 8;
    while (UINT64_C(1) << bits < rows) bits++;
    return bits;
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 50000000), .keys = bench_option(argc, argv, "--keys", 1000000)};
    const bool many = p.keys > 50000;
    p.part_bits = p.keys > 10000000 ? 12 : 7;
    p.table_bits = many ? bits_for(p.keys * 3 / 2 >> p.part_bits) : bits_for(p.keys * 16);
    for (int i = 1; i < argc; i++) p.mapped |= !strcmp(argv[i], "--map");
    uint32_t **const columns[] = {&p.dense, &p.spread, (uint32_t **)&p.value, &p.user, &p.item, (uint32_t **)&p.price, (uint32_t **)&p.amount};
    for (int i = p.mapped ? 3 : 0; i < (p.mapped ? 7 : 3); i++) *columns[i] = bench_allocate(p.records * sizeof **columns[i]);
    if (many) p.pairs = bench_allocate((p.records + (uint64_t)bench_threads() * MOST_PARTS * PAIRS_OF_LINE) * sizeof *p.pairs);
    p.out = bench_allocate(p.keys * sizeof *p.out);
    for (unsigned t = 0; t < bench_threads(); t++) {
        p.worker[t] = bench_allocate(sizeof *p.worker[t]);
        p.worker[t]->line = bench_allocate(MOST_PARTS * PAIRS_OF_LINE * sizeof(uint64_t));
        const uint64_t rows = UINT64_C(1) << p.table_bits;
        p.worker[t]->table = bench_allocate((rows > p.keys ? rows : p.keys) * sizeof(group));
    }
    pthread_barrier_init(&p.barrier, NULL, bench_threads());
    bench_parallel(make_share, &p);
    const bench_case mapped[] = {{"mapped", many ? run_many : run_few, check, &p}};
    const bench_case cases[] = {{"dense", run_dense, check, &p}, {"hashed", many ? run_many : run_few, check, &p}};
    return p.mapped ? bench_serve(mapped, 1, p.records) : bench_serve(cases, 2, p.records);
}
