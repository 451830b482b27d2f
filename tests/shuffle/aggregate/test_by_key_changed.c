// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU (kernels as a GPU gets them, on a CPU device) that run again over other records, as many as before and in the same place, against
// a table in plain C: what an earlier run found (keys that come often, how many there are) is no part of the result. And many records of one key that no sample
// shows, which small counters count.
#include "tests/hdst/support.h"

#include <math.h>

typedef struct row { uint32_t key; float v; } row;

static const char kernels[] = "struct row { uint32_t key; float v; };\n"
                              "map kept(row r) -> row { return r; }\n"
                              "reduce add(float a, float b) { return a + b; }\n";

enum { N = 40001, LONG = (1 << 21) + 5, TABLE_BITS = 22 };
typedef struct total { uint32_t key; bool used, seen; __int128 sum; } total;         // all values are whole numbers
static row rows[LONG];
static total table[1 << TABLE_BITS];

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Its place in the table.
static total *total_of(uint32_t key)
{
    uint32_t at = key * 0x9e3779b1u >> (32 - TABLE_BITS);
    while (table[at].used && table[at].key != key) at = (at + 1) % (1u << TABLE_BITS);
    table[at].key = key;
    return &table[at];
}

static uint64_t add_up(uint64_t count)
{
    uint64_t keys = 0;
    memset(table, 0, sizeof table);
    for (uint64_t i = 0; i < count; i++) {
        total *t = total_of(rows[i].key);
        keys += !t->used;
        t->used = true;
        t->sum += (__int128)rows[i].v;
    }
    return keys;
}

static void check_rows(hdst_result *result, uint64_t count, const char *what)
{
    uint64_t got_count;
    RUN(result);
    const row *got = hdst_result_rows(result, NULL, &got_count);
    const char *how = hdst_explain(result, NULL);
    cr_assert(strstr(how, "device hash"), "%s: %s", what, how);
    const uint64_t expected = add_up(count);
    cr_assert_eq(got_count, expected, "%s: %llu rows, not %llu\n%s", what, (unsigned long long)got_count, (unsigned long long)expected, how);
    for (uint64_t k = 0; k < got_count; k++) {
        total *t = total_of(got[k].key);
        cr_assert(t->used && !t->seen && (float)t->sum == got[k].v, "%s: key %u: %g, not %g\n%s", what, got[k].key, got[k].v, (double)t->sum, how);
        t->seen = true;
    }
}

typedef struct kind { const char *name; uint32_t keys, times, far; } kind;       // far: one in so many addends
static const kind kinds[] = {{"few", 10, 7, 0}, {"few others", 10, 11, 0}, {"one", 1, 1, 0}, {"all different", 0, 13, 0}, {"many", 9000, 17, 0},
                             {"all different, some far apart", 0, 19, 50}, {"few, some far apart", 5, 23, 30}, {"two", 2, 29, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void fill(const kind *k, uint64_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (row){(k->keys ? mix(i) % k->keys : i) * 1000003u + k->times, (float)(i % 5)};
        if (k->far && i % k->far == 0) rows[i].v = ldexpf(i % 2 ? 3 : -1, (int)(i % 90));
    }
}

typedef struct limits { uint32_t table_bits, part_bits; uint64_t overflow_cells; } limits;

static void check_changes(hdst_context *context, const limits *l, bool loop)
{
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = l->table_bits;
    context->engine->limits.by_key_partition_bits = l->part_bits;
    if (l->overflow_cells) context->engine->options.overflow_cells = l->overflow_cells;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row"), *data = hdst_cache(read);
    if (loop) {
        hdst_value *state = hdst_value_create(module, "row", N);
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 1;
        options.quiet = 1;
        data = hdst_loop(read, state, &(hdst_loop_step){hdst_map(hdst_read_value(state), hdst_map_spec_create(module, "kept")), NULL, state}, 1, &options);
    }
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(data, module, "add"));
    for (size_t from = 0; from < KINDS; from++)
        for (size_t to = 0; to < KINDS; to++) {
            char what[128];
            for (int run = 0; run < 3; run++) {
                fill(&kinds[run == 2 ? to : from], N);
                if (run != 1) hdst_uncache(data);
                snprintf(what, sizeof what, "%s, then %s, run %d", kinds[from].name, kinds[to].name, run);
                check_rows(result, N, what);
            }
        }
    hdst_context_destroy(context);
}

Test(by_key_changed, cached_anew)
{
    if (!have_cpu()) return;
    check_changes(context_in_form("gpu-form"), &(limits){0}, false);
}

Test(by_key_changed, cached_anew_with_small_tables)
{
    if (!have_cpu()) return;
    check_changes(context_in_form("gpu-form"), &(limits){7, 2, 16}, false);
}

Test(by_key_changed, cached_anew_on_two_devices)
{
    if (!have_team()) return;
    check_changes(pair_of_gpus(0, 0), &(limits){0}, false);
}

Test(by_key_changed, behind_a_loop)
{
    if (!have_cpu()) return;
    check_changes(context_in_form("gpu-form"), &(limits){0}, true);
}

// The records that the sample looks at have a key each, all others one: no work-group adds it up itself. Both rounds are counted at once in the second run, by
// work-groups that meet the key more often than 16 bits can say, in either half of a word.
static void check_hot_key(hdst_context *context, hdst_module *module, uint32_t bits_of_hash)
{
    enum { SAMPLE = 1 << 15 };
    uint32_t hot = 12345;
    while ((mix(hot) >> 20 & 31) != bits_of_hash) hot++;
    for (uint32_t i = 0; i < LONG; i++) rows[i] = (row){hot, (float)(i % 3)};
    for (uint32_t i = 0, every = LONG / SAMPLE; i < SAMPLE; i++) rows[i * every + mix(i) % every].key = 1000000 + i;
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_cache(hdst_read(hdst_source_from_memory(context, rows, LONG, sizeof(row)), module, "row")),
                                                                module, "add"));
    for (int run = 0; run < 2; run++) check_rows(result, LONG, "a hot key");
    cr_assert(strstr(hdst_explain(result, NULL), "in 2 rounds that are counted at once"), "%s", hdst_explain(result, NULL));
    cr_assert(!strstr(hdst_explain(result, NULL), "work-groups add up themselves"), "%s", hdst_explain(result, NULL));
}

Test(by_key_changed, a_hot_key_that_no_sample_shows)
{
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("gpu-form");
    hdst__device *device;
    hdst_error error;
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = 6;
    cr_assert_eq(hdst__engine_open(context->engine, &device, &error), HDST_OK);
    device->facts.compute_units = 1;            // 16 work-groups
    hdst_module *module = module_of(context, kernels);
    check_hot_key(context, module, 0);
    check_hot_key(context, module, 31);
    hdst_context_destroy(context);
}
