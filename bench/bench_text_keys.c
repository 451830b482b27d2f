// SPDX-License-Identifier: Apache-2.0
// Word counts without the words' reading: spans of words (record, n) in memory to one row for each word, by Zipf's law.
//   bench_text_keys [--records N] [--words N] [--device DEVICE] [--explain]
// Cases: step, through the public interface; table, a loop by hand: for each thread a table of 32-byte rows in large pages, which grows, with the same hash
// and rows; homes fetched 16 words ahead; then all tables into one. Words have 4 to 12 bytes, 7 on average, frequent ones the short ones.
#include "bench/hdst_side.h"
#include "bench/zipf_text.h"

#include <math.h>

enum { FIRST_BITS = 12, AHEAD = 16 };

typedef struct word { hdst_text_span key; uint64_t n; } word;
typedef struct row { uint64_t tag, key[2], n; } row;
typedef struct table { row *rows; uint32_t bits; uint64_t count; } table;

typedef struct problem {
    uint64_t records, words;
    word *record;
    hdst_result *result;
    table own[BENCH_MOST_THREADS], all;
} problem;

// --- Words ---

static void make_records(problem *p)
{
    zipf_law law = zipf_law_of(p->words);
    hdst_text_span *words = zipf_words(p->words);
    p->record = bench_allocate(p->records * sizeof *p->record);
    for (uint64_t i = 0; i < p->records; i++) p->record[i] = (word){words[zipf_rank(&law, bench_random(i))], 1};
    zipf_law_end(&law);
    free(words);
}

// --- By hand ---

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#define STEP 0x9e3779b97f4a7c15u

static inline uint32_t hash_of(const uint64_t key[2])
{
    const uint64_t length = (uint32_t)key[0], first = mix((length ^ (key[0] >> 32 | key[1] << 32)) + STEP);
    const uint64_t h = length > 8 ? mix((first ^ key[1] >> 32) + STEP) : first;
    return (uint32_t)(mix(h) >> 32);
}

static void make_table(table *t, uint32_t bits)
{
    *t = (table){.rows = bench_allocate(sizeof(row) << bits), .bits = bits};
    memset(t->rows, 0, sizeof(row) << bits);
}

static inline row *find(table *t, uint32_t hash, const uint64_t key[2])
{
    const uint64_t mask = (UINT64_C(1) << t->bits) - 1, tag = UINT64_C(1) << 32 | hash;
    for (uint64_t at = hash >> (32 - t->bits);; at = (at + 1) & mask) {
        row *r = &t->rows[at];
        if (r->tag == tag && r->key[0] == key[0] && r->key[1] == key[1]) return r;
        if (r->tag) continue;
        *r = (row){tag, {key[0], key[1]}, 0};
        t->count++;
        return r;
    }
}

static void grow(table *t)
{
    table larger;
    make_table(&larger, t->bits + 1);
    for (uint64_t i = 0; i < UINT64_C(1) << t->bits; i++)
        if (t->rows[i].tag) find(&larger, (uint32_t)t->rows[i].tag, t->rows[i].key)->n = t->rows[i].n;
    free(t->rows);
    *t = larger;
}

static void count_words(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    table *t = &p->own[thread];
    const uint64_t begin = p->records * thread / threads, end = p->records * (thread + 1) / threads;
    uint64_t key[AHEAD][2];
    uint32_t hash[AHEAD];
    make_table(t, FIRST_BITS);
    for (uint64_t i = begin; i < end + AHEAD; i++) {
        const uint64_t slot = (i - begin) % AHEAD;
        if (i >= begin + AHEAD) find(t, hash[slot], key[slot])->n += p->record[i - AHEAD].n;
        if (2 * t->count > UINT64_C(1) << t->bits) grow(t);
        if (i >= end) continue;
        memcpy(key[slot], &p->record[i].key, sizeof key[slot]);
        hash[slot] = hash_of(key[slot]);
        __builtin_prefetch(&t->rows[hash[slot] >> (32 - t->bits)], 1);
    }
}

static void run_table(void *state)
{
    problem *p = state;
    for (unsigned t = 0; t < BENCH_MOST_THREADS; t++) {
        free(p->own[t].rows);
        p->own[t] = (table){0};
    }
    bench_parallel(count_words, p);
    p->all = p->own[0];
    for (unsigned t = 1; t < bench_threads(); t++)
        for (uint64_t i = 0; i < UINT64_C(1) << p->own[t].bits; i++) {
            const row *r = &p->own[t].rows[i];
            if (!r->tag) continue;
            find(&p->all, (uint32_t)r->tag, r->key)->n += r->n;
            if (2 * p->all.count > UINT64_C(1) << p->all.bits) grow(&p->all);
        }
    p->own[0] = p->all;
}

// --- The same numbers of both: words, records, and records with weights by word ---

static void add_to_check(const uint64_t key[2], uint64_t n, double values[3])
{
    values[0] += 1;
    values[1] += (double)n;
    values[2] += (double)(n * (hash_of(key) % 1000));
}

static size_t check_table(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    memset(values, 0, 3 * sizeof *values);
    for (uint64_t i = 0; i < UINT64_C(1) << p->all.bits; i++)
        if (p->all.rows[i].tag) add_to_check(p->all.rows[i].key, p->all.rows[i].n, values);
    return 3;
}

static void run_step(void *state) { side_run(((problem *)state)->result); }

static size_t check_step(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint64_t count;
    const word *rows = hdst_result_rows(p->result, NULL, &count);
    if (limit < 3) return 0;
    memset(values, 0, 3 * sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key[2];
        memcpy(key, &rows[i].key, sizeof key);
        add_to_check(key, rows[i].n, values);
    }
    return 3;
}

int main(int argc, char **argv)
{
    char path[4096];
    problem p = {.records = bench_option(argc, argv, "--records", 75000000), .words = bench_option(argc, argv, "--words", 200000)};
    make_records(&p);
    hdst_context *ctx = side_context(argc, argv);
    snprintf(path, sizeof path, "%s/text_keys.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    hdst_dataset *words = hdst_read(hdst_source_from_memory(ctx, p.record, p.records, sizeof(word)), hk, "word");
    p.result = hdst_result_create(hdst_reduce_by_key(words, hk, "add"));
    const bench_case cases[] = {{"step", run_step, check_step, &p}, {"table", run_table, check_table, &p}};
    const int status = bench_serve(cases, 2, p.records);
    side_explain(argc, argv, p.result);
    hdst_context_destroy(ctx);
    return status;
}
