// SPDX-License-Identifier: Apache-2.0
// Reductions by key of keys that somebody made to crowd in a hash table: all with one hash, or with hashes that
// follow one another. They end after about as many steps as others, with the same rows in the same order, which are
// sorted here by the hash as docs/datasets.md describes it.
#include "tests/hdst/support.h"
#include "tests/support/key_unmix.h"

#include "plan/dataset.h"
#include "shuffle/aggregate/key_table.h"

#include <math.h>
#include <stdlib.h>

enum { CRAFTED = 12000, OTHERS = 3000, TIMES = 3, KEYS = CRAFTED + OTHERS, N = KEYS * TIMES };

static const char kernels[] =
    "struct small { uint32_t key; double v; uint64_t n; };\n"
    "struct number { uint64_t key; double v; uint64_t n; };\n"
    "struct ab { uint32_t a; uint64_t b; };\n"
    "struct two { struct ab key; double v; uint64_t n; };\n"
    "struct id { uint8_t id[12]; };\n"
    "struct bytes { struct id key; double v; uint64_t n; };\n"
    "struct values { double v; uint64_t n; };\n"
    "reduce join(values a, values b) { return (values){ .v = a.v + b.v, .n = a.n + b.n }; }\n";

typedef struct small { uint32_t key; double v; uint64_t n; } small;
typedef struct number { uint64_t key; double v; uint64_t n; } number;
typedef struct two { uint32_t a; uint64_t b; double v; uint64_t n; } two;
typedef struct bytes { uint8_t key[12]; double v; uint64_t n; } bytes;

// --- The hash and its inverse, by their description: products modulo 2^bits ---

static const uint64_t first = UINT64_C(0xbf58476d1ce4e5b9), second = UINT64_C(0x94d049bb133111eb), step = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * first;
    x = (x ^ x >> 27) * second;
    return x ^ x >> 31;
}

static uint32_t mix_small(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t unmix_small(uint32_t x)
{
    x = (uint32_t)unshift(x, 16) * (uint32_t)odd_inverse(0x846ca68bu);
    x = (uint32_t)unshift(x, 15) * (uint32_t)odd_inverse(0x7feb352du);
    return (uint32_t)unshift(x, 16);
}

static uint32_t hash_of(const uint64_t *words, size_t size)
{
    if (size <= 4) return mix_small((uint32_t)words[0]);
    if (size <= 8) return (uint32_t)(mix(words[0]) >> 32);
    return (uint32_t)(mix((mix(words[0] + step) ^ words[1]) + step) >> 32);
}

// --- Keys ---

typedef struct key { uint32_t hash; uint64_t word[2]; } key;
#define ONE_HASH 0x10000000u        // the first place of its part
static key keys[KEYS];
static uint32_t crafted_keys = CRAFTED;     // of them

static uint64_t next_random(void)
{
    static uint64_t state = 3;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return mix(state);
}

static void crafted(size_t size, uint32_t i, uint64_t word[2])
{
    const uint64_t target = ((uint64_t)ONE_HASH << 32) + i;      // one hash: in its lower half they differ
    if (size == 4) word[0] = unmix_small(ONE_HASH + i);         // hashes that follow one another
    else if (size == 8) word[0] = unmix64(target);
    else if (size == 12) {                                          // 8 bytes that make up for the last 4
        word[1] = i;
        word[0] = unmix64((unmix64(target) - step) ^ word[1]) - step;
    } else {
        word[0] = i * 77;
        word[1] = (unmix64(target) - step) ^ mix(word[0] + step);
    }
}

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    for (int w = 0; w < 2; w++)
        if (x->word[w] != y->word[w]) return x->word[w] < y->word[w] ? -1 : 1;
    return 0;
}

static void make_keys(size_t size)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t word[2] = {0};
        if (i < crafted_keys) {
            crafted(size, i, word);
            cr_assert_eq(hash_of(word, size), size == 4 ? ONE_HASH + i : ONE_HASH, "key %u", i);
        } else {
            word[0] = size == 4 ? next_random() >> 32 : size == 16 ? next_random() >> 40 : next_random();
            if (size > 8) word[1] = size == 12 ? next_random() >> 32 : next_random();
        }
        keys[i] = (key){.hash = hash_of(word, size), .word = {word[0], word[1]}};
    }
    qsort(keys, KEYS, sizeof *keys, compare);
    for (uint32_t i = 1; i < KEYS; i++) cr_assert_neq(compare(&keys[i - 1], &keys[i]), 0);
}

// What the record with place `time` of a key has: multiples of 2^-20 below 2^84, whose sums lie in 128 bits. One in 97 is far above the others.
static __int128 addend(uint32_t i, uint32_t time)
{
    const int64_t v = (int64_t)(mix(i * 3 + time) >> 40) - (1 << 23);
    return (i + time) % 97 ? v : (__int128)v * (INT64_C(1) << 60);
}

static double value(__int128 units) { return ldexp((double)units, -20); }       // rounded once, to nearest even

// --- Runs ---

typedef struct shape { const char *record; size_t key, size; } shape;
static const shape shapes[] = {{"small", 4, sizeof(small)}, {"number", 8, sizeof(number)}, {"two", 16, sizeof(two)}, {"bytes", 12, sizeof(bytes)}};

static void put(const shape *s, char *at, const key *k, double v, uint64_t n)
{
    memset(at, 0, s->size);
    switch (s->key) {
    case 4: *(small *)(void *)at = (small){(uint32_t)k->word[0], v, n}; break;
    case 8: *(number *)(void *)at = (number){k->word[0], v, n}; break;
    case 16: ((two *)(void *)at)->a = (uint32_t)k->word[0], ((two *)(void *)at)->b = k->word[1], ((two *)(void *)at)->v = v, ((two *)(void *)at)->n = n; break;
    default: memcpy(((bytes *)(void *)at)->key, k->word, 12), ((bytes *)(void *)at)->v = v, ((bytes *)(void *)at)->n = n;
    }
}

// In an order that has nothing to do with the keys.
static char *make_records(const shape *s)
{
    char *all = malloc(N * s->size);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t r = i * 10007 % N;
        put(s, all + i * s->size, &keys[r / TIMES], value(addend((uint32_t)(r / TIMES), r % TIMES)), r + 1);
    }
    return all;
}

static char *make_expected(const shape *s)
{
    char *all = malloc(KEYS * s->size);
    for (uint32_t k = 0; k < KEYS; k++) {
        __int128 sum = 0;
        uint64_t n = 0;
        for (uint32_t t = 0; t < TIMES; t++) sum += addend(k, t), n += (uint64_t)k * TIMES + t + 1;
        put(s, all + k * s->size, &keys[k], value(sum), n);
    }
    return all;
}

// What explain says.
static const char pieces_told[] = "pieces of parts that the memory budget has no room for: ", ranges_told[] = "of them ranges of the keys of one hash\n";

typedef struct form {
    const char *device;
    hdst_container container;
    bool cached;
    uint32_t table_bits;
    uint64_t memory;
    const char *told;
    uint32_t part_bits;
    const char *not_told;
} form;

static void check(const shape *s, const form *f, const char *records, const char *expected)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(f->device, "gpu-form") ? f->device : "cpu";
    options.memory = f->memory;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = !strcmp(f->device, "gpu-form");
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = f->table_bits;
    context->engine->limits.by_key_partition_bits = f->part_bits;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, records, N, s->size), module, s->record);
    if (f->cached) data = hdst_cache(data);
    hdst_result *result = hdst_result_create(hdst_with_container(hdst_reduce_by_key(data, module, "join"), f->container));
    uint64_t count;
    RUN(result);
    const char *got = hdst_result_rows(result, NULL, &count);
    const char *how = hdst_explain(result, NULL);
    cr_assert_eq(count, KEYS, "%s on %s", s->record, f->device);
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert(memcmp(got + i * s->size, expected + i * s->size, s->size) == 0, "%s on %s: row %u\n%s", s->record, f->device, i, how);
    if (f->told) cr_assert(strstr(how, f->told), "%s\n%s", f->told, how);
    if (f->not_told) cr_assert(!strstr(how, f->not_told), "%s\n%s", f->not_told, how);
    if (f->told == pieces_told && f->memory <= 2 << 20 && s->key > 4) cr_assert(strstr(how, ranges_told) && !strstr(how, ", 0 of them ranges"), "%s", how);
    cr_assert_leq(context->engine->limits.by_key_longest, HDST__KEY_PROBES, "%s on %s: %llu places\n%s", s->record, f->device,
                  (unsigned long long)context->engine->limits.by_key_longest, how);
    hdst_context_destroy(context);
}

static void check_all(size_t which, const form *forms, size_t count)
{
    const shape *s = &shapes[which];
    make_keys(s->key);
    char *records = make_records(s), *expected = make_expected(s);
    for (size_t i = 0; i < count; i++) check(s, &forms[i], records, expected);
    free(records);
    free(expected);
}

static const char parts_told[] = "parts in sorted runs, as keys crowd", blocks_told[] = "tables of threads given up, as keys crowd";
static const form host_forms[] = {
    {"interp", HDST_CONTAINER_AUTO, false, 0, 0, parts_told},
    {"interp", HDST_CONTAINER_TABLE, false, 0, 0, blocks_told},
    {"interp", HDST_CONTAINER_TABLE, false, 11, 0, parts_told},         // runs of few records, many of them
    {"interp", HDST_CONTAINER_PARTS, true, 0, 16 << 20, parts_told},
    // The other parts keep their tables.
    {"interp", HDST_CONTAINER_PARTS, false, 0, 0, "parts in sorted runs, as keys crowd in few places of their tables: 1\n", 3},
    {"interp", HDST_CONTAINER_SORTED, false, 6, 0, NULL},
};

static void check_host(size_t which) { check_all(which, host_forms, sizeof host_forms / sizeof *host_forms); }

Test(crafted_keys, hashes_that_follow_one_another) { check_host(0); }
Test(crafted_keys, numbers_of_one_hash) { check_host(1); }
Test(crafted_keys, compound_keys_of_one_hash) { check_host(2); }
Test(crafted_keys, bytes_of_one_hash) { check_host(3); }

// Few of them are in a thread's table before it is emptied, so that it is kept; rows of all the times that it was are
// what crowd in a part's table, in the midst of a chunk.
static void check_rows_that_crowd(size_t which)
{
    static const form forms[] = {{"interp", HDST_CONTAINER_TABLE, false, 12, 0, parts_told, 0, blocks_told}};
    crafted_keys = 600;
    check_all(which, forms, 1);
}

Test(crafted_keys, rows_of_hashes_that_follow_one_another) { check_rows_that_crowd(0); }
Test(crafted_keys, rows_of_numbers_of_one_hash) { check_rows_that_crowd(1); }
Test(crafted_keys, rows_of_compound_keys_of_one_hash) { check_rows_that_crowd(2); }

// Budgets that have no room for the rows of a part, nor for those of the one hash, of one thread and of two.
static void check_tight(size_t which)
{
    static const form forms[] = {
        {"interp", HDST_CONTAINER_AUTO, false, 0, 4 << 20, pieces_told},
        {"interp", HDST_CONTAINER_PARTS, false, 0, 4 << 20, pieces_told},
        {"interp", HDST_CONTAINER_PARTS, true, 0, 4 << 20, pieces_told},
        {"interp", HDST_CONTAINER_TABLE, false, 6, 4 << 20, parts_told},          // its one part may have room, by what the threads' chunks have left
        {"interp", HDST_CONTAINER_SORTED, false, 0, 4 << 20, NULL},
        {"interp", HDST_CONTAINER_TABLE, false, 0, 6 << 20, NULL},
        {"interp", HDST_CONTAINER_SORTED, false, 0, 6 << 20, NULL},
        {"interp", HDST_CONTAINER_AUTO, false, 0, 2 << 20, pieces_told},
        {"interp", HDST_CONTAINER_PARTS, true, 0, 2 << 20, pieces_told},
        {"interp", HDST_CONTAINER_SORTED, false, 0, 2 << 20, pieces_told},
    };
    check_all(which, forms, sizeof forms / sizeof *forms);
}

Test(crafted_keys, hashes_that_follow_one_another_in_little_memory) { check_tight(0); }
Test(crafted_keys, numbers_of_one_hash_in_little_memory) { check_tight(1); }
Test(crafted_keys, compound_keys_of_one_hash_in_little_memory) { check_tight(2); }
Test(crafted_keys, bytes_of_one_hash_in_little_memory) { check_tight(3); }

// Kernels as a GPU gets them give up their tables, also where all of these keys would fit one.
Test(crafted_keys, numbers_of_one_hash_on_a_device)
{
    static const form forms[] = {{"gpu-form", HDST_CONTAINER_AUTO, true, 0, 0, "or crowd in few places of their tables"}};
    crafted_keys = 600;
    if (have_cpu()) check_all(1, forms, 1);
}

// Results over parts that a map names are gone through in the order of the keys, to see whether one lies in two.
Test(crafted_keys, numbers_of_one_hash_in_parts_that_a_map_names)
{
    static const char maps[] = "param int64_t TWICE;\n"
                               "struct number { uint64_t key; double v; uint64_t n; };\n"
                               "struct values { double v; uint64_t n; };\n"
                               "map by_key(number r) -> uint32_t { return (uint32_t)(r.key & 3u); }\n"
                               "map by_turn(number r) -> uint32_t { return (uint32_t)((int64_t)r.key == TWICE ? r.n & 1u : r.key & 1u); }\n"
                               "reduce join(values a, values b) { return (values){ .v = a.v + b.v, .n = a.n + b.n }; }\n";
    make_keys(8);
    char *records = make_records(&shapes[1]), *expected = make_expected(&shapes[1]), told[120];
    hdst_context *context = context_on("interp");
    uint32_t twice = 0;             // one of those of one hash: neither the first nor the last
    while (keys[twice].hash != ONE_HASH) twice++;
    twice += CRAFTED / 2;
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.params = &(hdst_param){"TWICE", (int64_t)keys[twice].word[0]};
    options.param_count = 1;
    hdst_module *module = hdst_module_parse(context, "test.hk", maps, &options);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_OK, "%s", hdst_module_diagnostics(module));
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, records, N, sizeof(number)), module, "number");
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_partition(data, module, "by_key", 4), module, "join"));
    uint64_t count, at = 0;
    RUN(result);
    const number *got = hdst_result_rows(result, NULL, &count);
    cr_assert_eq(count, KEYS);
    for (uint32_t part = 0; part < 4; part++)
        for (uint32_t k = 0; k < KEYS; k++)
            if (keys[k].word[0] % 4 == part) cr_assert(memcmp(&got[at++], expected + k * sizeof(number), sizeof(number)) == 0, "part %u, key %u", part, k);
    hdst_error error;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_reduce_by_key(hdst_partition(data, module, "by_turn", 2), module, "join")), &error), HDST_E_USAGE);
    snprintf(told, sizeof told, "records with the key key = %llu lie in part 0 and in part 1", (unsigned long long)keys[twice].word[0]);
    cr_assert_str_eq(error.message, told);
    hdst_context_destroy(context);
    free(records);
    free(expected);
}
