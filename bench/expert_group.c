// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C to have all pairs (u32, f32) of a key together, in their order, before a function goes
// over them: a stable partition by hash, whose counts each thread makes for its share; then, part by part, numbers
// for the keys from a hash table, and a stable partition by these.
// usage: expert_group [--keys N] [--records N], driven by bench/run.py
#include "bench/bench.h"

enum { MOST_PARTS = 2048, PART_RECORDS = 1 << 14 };

typedef struct pair { uint32_t key; float value; } pair;
typedef struct decayed { uint32_t key, count; float sum; } decayed;

typedef struct problem {
    uint64_t records, keys;
    uint32_t shift, parts;
    pair *pairs, *parted, *grouped;
    decayed *result;
    uint64_t *place;            // of a thread's records, by part
    uint64_t begin[MOST_PARTS + 1], groups[MOST_PARTS];
    _Atomic uint32_t next;      // part to do
} problem;

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void count_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t *place = p->place + (uint64_t)thread * MOST_PARTS;
    memset(place, 0, MOST_PARTS * sizeof *place);
    for (uint64_t i = p->records * thread / threads, end = p->records * (thread + 1) / threads; i < end; i++) place[hash(p->pairs[i].key) >> p->shift]++;
}

static void move_share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    uint64_t *place = p->place + (uint64_t)thread * MOST_PARTS;
    for (uint64_t i = p->records * thread / threads, end = p->records * (thread + 1) / threads; i < end; i++)
        p->parted[place[hash(p->pairs[i].key) >> p->shift]++] = p->pairs[i];
}

typedef struct table {          // of a part
    uint64_t slots;
    uint32_t *key, *number;     // number + 1; 0: free
    uint32_t *of;               // by record
    uint64_t *count;            // by number
    uint64_t most;
} table;

static uint32_t number_of(table *t, uint32_t key, uint32_t *numbers)
{
    uint64_t slot = (uint64_t)(hash(key) * 2654435761u) & (t->slots - 1);
    while (t->number[slot] && t->key[slot] != key) slot = (slot + 1) & (t->slots - 1);
    if (!t->number[slot]) t->key[slot] = key, t->number[slot] = ++*numbers;
    return t->number[slot] - 1;
}

static void group_part(problem *p, uint32_t part, table *t)
{
    const uint64_t begin = p->begin[part], count = p->begin[part + 1] - begin;
    uint32_t numbers = 0;
    p->groups[part] = 0;
    if (count == 0) return;
    if (t->most < count) {
        t->most = count;
        for (t->slots = 64; t->slots < 2 * count; t->slots *= 2) {}
        free(t->key), free(t->number), free(t->of), free(t->count);
        t->key = malloc(t->slots * 4), t->number = malloc(t->slots * 4), t->of = malloc(count * 4), t->count = malloc((count + 1) * 8);
    }
    memset(t->number, 0, t->slots * 4);
    memset(t->count, 0, (count + 1) * 8);
    for (uint64_t i = 0; i < count; i++) t->count[t->of[i] = number_of(t, p->parted[begin + i].key, &numbers)]++;
    uint64_t sum = begin;
    for (uint32_t n = 0; n < numbers; n++) {
        const uint64_t of = t->count[n];
        t->count[n] = sum;
        sum += of;
    }
    for (uint64_t i = 0; i < count; i++) p->grouped[t->count[t->of[i]]++] = p->parted[begin + i];
    uint64_t at = begin;
    for (uint32_t n = 0; n < numbers; n++) {
        decayed d = {.key = p->grouped[at].key};
        for (; at < t->count[n]; at++) d.sum = d.sum * 0.5f + p->grouped[at].value, d.count++;
        p->result[begin + n] = d;
    }
    p->groups[part] = numbers;
}

static void group_share(unsigned thread, unsigned threads, void *state)
{
    (void)thread, (void)threads;
    problem *p = state;
    table t = {0};
    for (uint32_t part; (part = p->next++) < p->parts;) group_part(p, part, &t);
    free(t.key), free(t.number), free(t.of), free(t.count);
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(count_share, p);
    uint64_t sum = 0;
    for (uint32_t part = 0; part < p->parts; part++) {
        p->begin[part] = sum;
        for (unsigned t = 0; t < bench_threads(); t++) {
            uint64_t *place = &p->place[(uint64_t)t * MOST_PARTS + part], count = *place;
            *place = sum;
            sum += count;
        }
    }
    p->begin[p->parts] = sum;
    bench_parallel(move_share, p);
    p->next = 0;
    bench_parallel(group_share, p);
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    values[0] = values[1] = values[2] = 0;
    for (uint32_t part = 0; part < p->parts; part++)
        for (uint64_t i = 0; i < p->groups[part]; i++) {
            const decayed *d = &p->result[p->begin[part] + i];
            bench_add_group(d->key, (double)d->sum * d->count, values);
        }
    return 3;
}

static void make(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) {
        p->pairs[i] = (pair){bench_spread_key((uint32_t)((bench_random(i) >> 32) * p->keys >> 32)), bench_pair_value(i, 0, false)};
        p->parted[i] = p->grouped[i] = (pair){0};
        p->result[i] = (decayed){0};
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->keys = bench_option(argc, argv, "--keys", 1000000);
    p->parts = 1;
    for (p->shift = 31; p->shift > 21 && (uint64_t)PART_RECORDS << (32 - p->shift) < p->records; p->shift--) {}
    p->parts = 1u << (32 - p->shift);
    p->pairs = bench_allocate(p->records * sizeof *p->pairs);
    p->parted = bench_allocate(p->records * sizeof *p->parted);
    p->grouped = bench_allocate(p->records * sizeof *p->grouped);
    p->result = bench_allocate(p->records * sizeof *p->result);
    p->place = bench_allocate(BENCH_MOST_THREADS * MOST_PARTS * sizeof *p->place);
    bench_parallel(make, p);
    const bench_case cases[] = {{"group", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
