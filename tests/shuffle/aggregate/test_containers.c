// SPDX-License-Identifier: Apache-2.0
// Containers that the user asks for: keys that share a hash, memory that is short, wishes that cannot be. That all give the same sums is in test_by_key.c.
#include "tests/hdst/support.h"

typedef struct wide { uint64_t k; double v; } wide;
typedef struct sum { uint32_t k; float v; } sum;

static const char kernels[] =
    "struct sum { uint32_t key; float v; };\n"
    "struct wide { uint64_t key; double v; };\n"
    "struct count { uint32_t key; uint64_t n; };\n"
    "map as_pair(sum s) -> (key uint32_t k, double v) { return (s.key, s.v); }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce add_double(double a, double b) { return a + b; }\n"
    "reduce last(float a, float b) identity { 0.0f } { return b; }\n";

// --- Keys of one hash: those words whose SplitMix64 finaliser has the same upper half, found by running it backwards ---

static uint64_t inverse(uint64_t odd)      // modulo 2^64; each step doubles the bits that are right
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

static uint64_t unshift(uint64_t x, int bits)
{
    uint64_t all = x;
    for (int i = 0; i < 64 / bits; i++) all = x ^ all >> bits;
    return all;
}

static uint64_t key_with_hash(uint64_t hash)
{
    uint64_t x = unshift(hash, 31) * inverse(UINT64_C(0x94d049bb133111eb));
    x = unshift(x, 27) * inverse(UINT64_C(0xbf58476d1ce4e5b9));
    return unshift(x, 30);
}

static hdst_dataset *wides(hdst_context *context, hdst_module *module, const wide *rows, uint64_t count, hdst_container container)
{
    hdst_dataset *d = hdst_read(hdst_source_from_memory(context, rows, count, sizeof *rows), module, "wide");
    return hdst_with_container(hdst_reduce_by_key(d, module, "add_double"), container);
}

Test(containers, keys_with_one_hash)
{
    enum { KEYS = 300, EACH = 31, COUNT = KEYS * EACH };
    static wide rows[COUNT];
    double expected[KEYS] = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t key = i * 7919 % KEYS;
        rows[i] = (wide){key_with_hash(UINT64_C(0x12345678) << 32 | key * UINT64_C(2654435761) % 4294967296), i};
        expected[key] += i;
    }
    for (hdst_container container = HDST_CONTAINER_TABLE; container <= HDST_CONTAINER_SORTED; container++) {
        hdst_context *context = context_on("interp");
        if (container == HDST_CONTAINER_SORTED) context->engine->limits.by_key_table_bits = 10;        // several pieces
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(wides(context, module, rows, COUNT, container));
        RUN(r);
        uint64_t n;
        const wide *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, KEYS);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t key = 0;
            while (key < KEYS && rows[key].k != got[i].k) key++;    // the first rows have different keys
            cr_assert(key < KEYS && got[i].v == expected[key * 7919 % KEYS], "container %d", (int)container);
            cr_assert(i == 0 || got[i - 1].k < got[i].k, "equal hashes go by the key's words");
        }
        hdst_context_destroy(context);
    }
}

// --- Over the memory budget ---

enum { SPILLING = 3 << 20, KEYS = 100003 };

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((sum *)records)[i] = (sum){(uint32_t)((first + i) * 7919 % KEYS), (float)((first + i) / KEYS % 8) + 0.5f};
    return true;
}

Test(containers, sorted_runs_over_the_memory_budget)
{
    static float expected[KEYS];
    for (uint64_t n = 0; n < SPILLING; n++) expected[n * 7919 % KEYS] += (float)(n / KEYS % 8) + 0.5f;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 10 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *pairs = hdst_read(hdst_source_from_callback(context, SPILLING, fill, NULL), module, "sum");
    hdst_result *r = hdst_result_create(hdst_with_container(hdst_reduce_by_key(pairs, module, "add"), HDST_CONTAINER_SORTED));
    RUN(r);
    uint64_t n;
    const sum *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, KEYS);
    for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].k], "key %u", (unsigned)got[i].k);
    const char *explanation = hdst_explain(r, NULL);
    cr_assert(strstr(explanation, "through a temporary file") && strstr(explanation, "sorted runs, as was asked for"), "%s", explanation);
    cr_assert_leq(context->engine->runtime.memory.peak, 10 << 20);
    hdst_context_destroy(context);
}

// --- Wishes ---

static void expect_refusal(hdst_dataset *dataset, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    cr_assert_eq(hdst_count(dataset, &n, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, message), "'%s' lacks '%s'", error.message, message);
    cr_assert(strstr(error.hint, hint), "'%s' lacks '%s'", error.hint, hint);
}

Test(containers, those_that_a_dataset_cannot_have)
{
    static const sum rows[] = {{1, 2}, {3, 4}, {1, 6}};
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *d = hdst_read(hdst_source_from_memory(context, rows, 3, sizeof *rows), module, "sum"), *by_key = hdst_reduce_by_key(d, module, "add");
    hdst_dataset *dense = hdst_reduce_dense(d, module, "add", 4), *groups = hdst_reduce_by_key(d, module, "last");
    expect_refusal(hdst_with_container(by_key, HDST_CONTAINER_DENSE), "container 'dense' is not for 'add': it has no declared range", "hdst_reduce_dense");
    expect_refusal(hdst_with_container(hdst_distinct(d), HDST_CONTAINER_DENSE), "not for 'hdst_distinct'", "hdst_reduce_dense");
    expect_refusal(hdst_with_container(dense, HDST_CONTAINER_TABLE), "container 'table' is not for 'add': a dense reduce has a row for each number",
                   "hdst_reduce_by_key");
    expect_refusal(hdst_with_container(groups, HDST_CONTAINER_PARTS), "container 'parts' is not for 'last'", "HDST_CONTAINER_SORTED");
    expect_refusal(hdst_with_container(d, HDST_CONTAINER_SORTED), "it is no reduction by key", "hdst_reduce_by_key");
    expect_refusal(hdst_with_container(by_key, (hdst_container)7), "container 7", "");
    hdst_dataset *const fine[] = {hdst_with_container(dense, HDST_CONTAINER_DENSE), hdst_with_container(groups, HDST_CONTAINER_SORTED),
                                  hdst_with_container(hdst_count_by_key(d, module, "count"), HDST_CONTAINER_SORTED),
                                      hdst_with_container(by_key, HDST_CONTAINER_AUTO)};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        hdst_error error = HDST_ERROR_INIT;
        uint64_t n = 0;
        cr_assert_eq(hdst_count(fine[i], &n, &error), HDST_OK, "%s", error.message);
        cr_assert_eq(n, i ? 2 : 4);
    }
    hdst_context_destroy(context);
}
