// SPDX-License-Identifier: Apache-2.0
// Reductions by key where memory, or the bits of a word, do not do: words move on before they overflow, pairs that
// pile up are combined, what has no room goes through files.
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct sum { uint32_t k; float v; } sum;

static const char kernels[] =
    "struct sum { uint32_t key; float v; };\n"
    "map twice(sum s) -> sum { return (sum){ .key = s.key, .v = s.v * 2.0f }; }\n"
    "filter seldom(sum s) { return s.v != 3.5f; }\n"
    "flat_map three(sum s) -> sum { for (uint32_t i = 0u; i < 3u; i++) emit(s.key + i, s.v); }\n"
    "reduce add(float a, float b) { return a + b; }\n";

static hdst_context *context_with_memory(uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = memory;
    return hdst_context_create(&options);
}

// The context's end is theirs.
static const sum *rows_of(hdst_dataset *data, hdst_module *module, hdst_container container, uint64_t *count)
{
    hdst_result *r = hdst_result_create(hdst_with_container(hdst_reduce_by_key(data, module, "add"), container));
    RUN(r);
    return hdst_result_rows(r, NULL, count);
}

// More additions to one word than it has bits for: it moves on before it is full. The first records, which say how
// large addends are, have smaller ones than the rest: all together come to 2^63 units and more.
enum { HEAVY = 12 << 20, FIRST_OF_HEAVY = 1 << 18 };
static float heavy_value(uint64_t i) { return i % 64 == 0 ? 0x1p-37f : i < FIRST_OF_HEAVY ? 1.984375f : 7.9375f; }
// The tiny ones are below half of its last place.
static float heavy_sum(void) { return (float)(FIRST_OF_HEAVY / 64 * 63 * 1.984375 + (HEAVY - FIRST_OF_HEAVY) / 64 * 63 * 7.9375); }

static bool fill_heavy(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((sum *)records)[i] = (sum){7, heavy_value(first + i)};
    return true;
}

Test(by_key_memory, words_do_not_overflow)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    for (hdst_container container = HDST_CONTAINER_TABLE; container <= HDST_CONTAINER_SORTED; container++) {
        uint64_t n;
        const sum *got = rows_of(hdst_read(hdst_source_from_callback(context, HEAVY, fill_heavy, NULL), module, "sum"), module, container, &n);
        cr_assert(n == 1 && got[0].v == heavy_sum(), "%a", (double)got[0].v);
    }
    hdst_context_destroy(context);
}

// With limits that few records reach each level is seen to move words on: threads' tables, parts' tables, sorted runs.
Test(by_key_memory, words_move_on_at_every_level)
{
    enum { N = 20000, MOVED_KEYS = 50 };
    static const struct { hdst_container container; int from; } cases[] = {{HDST_CONTAINER_TABLE, 0}, {HDST_CONTAINER_PARTS, 2}, {HDST_CONTAINER_SORTED, 2}};
    static sum pairs[N];
    float expected[MOVED_KEYS] = {0};
    for (uint32_t i = 0; i < N; i++) {
        pairs[i] = (sum){i * 7 % MOVED_KEYS, (float)(i % 100) * 0.125f + 0.125f};
        expected[pairs[i].k] += pairs[i].v;         // exact: multiples of 1/8 below 2^20
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hdst_context *context = context_on("interp");
        hdst_module *module = module_of(context, kernels);
        context->engine->limits.by_key_look_after = 1000;
        context->engine->limits.by_key_full = 1;
        uint64_t n;
        const sum *got = rows_of(hdst_read(hdst_source_from_memory(context, pairs, N, sizeof(sum)), module, "sum"), module, cases[c].container, &n);
        cr_assert_eq(n, MOVED_KEYS);
        for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].k], "key %u", (unsigned)got[i].k);
        cr_assert_gt(context->engine->limits.by_key_moved[cases[c].from], 0, "container %d", (int)cases[c].container);
        hdst_context_destroy(context);
    }
}

// Pairs that the memory budget has no room for go through a file.
enum { SPILLING = 3 << 20, SPILLED_KEYS = 100003 };

static bool fill_spilling(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t n = first + i;
        ((sum *)records)[i] = (sum){(uint32_t)(n * 7919 % SPILLED_KEYS), (float)(n / SPILLED_KEYS % 8) + 0.5f};
    }
    return true;
}

static hdst_result *spilling_job(hdst_context **context, uint64_t memory)
{
    *context = context_with_memory(memory);
    hdst_module *module = module_of(*context, kernels);
    return hdst_result_create(hdst_reduce_by_key(hdst_read(hdst_source_from_callback(*context, SPILLING, fill_spilling, NULL), module, "sum"), module, "add"));
}

static void check_spilling(uint64_t memory, const char *told)
{
    static float expected[SPILLED_KEYS];
    memset(expected, 0, sizeof expected);
    for (uint64_t n = 0; n < SPILLING; n++) expected[n * 7919 % SPILLED_KEYS] += (float)(n / SPILLED_KEYS % 8) + 0.5f;
    hdst_context *context;
    hdst_result *r = spilling_job(&context, memory);
    for (int turn = 0; turn < 2; turn++) {
        RUN(r);
        uint64_t n;
        const sum *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, SPILLED_KEYS);
        for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].k], "key %u", (unsigned)got[i].k);
        cr_assert(strstr(hdst_explain(r, NULL), told), "%s", hdst_explain(r, NULL));
    }
    cr_assert_leq(context->engine->runtime.memory.peak, memory);
    hdst_context_destroy(context);
}

Test(by_key_memory, over_the_memory_budget)
{
    check_spilling(10 << 20, "through a temporary file");
    check_spilling(1 << 19, "result: over the memory budget, in a temporary file");        // it alone has 800 KB
}

// What a map, a filter or a flat_map gives goes into the container while it runs: it need not have room in whole. 8,
// 7 and 24 MB of pairs pass through a budget of 4 MB.
enum { BEHIND = 1 << 20, BEHIND_BUDGET = 4 << 20 };

typedef enum front { MAPPED, FILTERED, MULTIPLIED, FRONTS } front;

static hdst_dataset *with_front(hdst_dataset *data, hdst_module *module, front f)
{
    if (f == MAPPED) return hdst_map_function(data, module, "twice");
    return f == FILTERED ? hdst_filter_function(data, module, "seldom") : hdst_flat_map_function(data, module, "three");
}

static void expect_behind(front f, float *expected)
{
    for (uint64_t n = 0; n < BEHIND; n++) {
        const uint64_t key = n * 7919 % SPILLED_KEYS;
        const float v = (float)(n / SPILLED_KEYS % 8) + 0.5f;
        if (f == MAPPED) expected[key] += 2 * v;
        if (f == FILTERED && v != 3.5f) expected[key] += v;
        for (uint64_t i = 0; f == MULTIPLIED && i < 3; i++) expected[key + i] += v;
    }
}

static void check_behind(const char *form, front f)
{
    static float expected[SPILLED_KEYS + 2];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.memory = BEHIND_BUDGET;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    context->engine->limits.by_key_device_least = UINT64_MAX;      // so that a GPU gives slices too
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(context, BEHIND, fill_spilling, NULL), module, "sum");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(with_front(data, module, f), module, "add"));
    memset(expected, 0, sizeof expected);
    expect_behind(f, expected);
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n, wanted = 0;
        RUN(r);
        const sum *got = hdst_result_rows(r, NULL, &n);
        for (uint64_t k = 0; k < SPILLED_KEYS + 2; k++) wanted += expected[k] != 0;
        cr_assert_eq(n, wanted, "%s, front %d", form, f);
        for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].k], "%s, front %d: key %u", form, f, (unsigned)got[i].k);
        cr_assert(strstr(hdst_explain(r, NULL), "output: slice by slice"), "%s", hdst_explain(r, NULL));
    }
    cr_assert_leq(context->engine->runtime.memory.peak, BEHIND_BUDGET);
    hdst_context_destroy(context);
}

Test(by_key_memory, maps_in_front_keep_the_budget)
{
    static const char *const on[] = {"interp", "cpu", "gpu-form"};
    for (int i = 0; i < (have_cpu() ? 3 : 1); i++)
        for (front f = MAPPED; f < FRONTS; f++) check_behind(on[i], f);
}

// Pairs that pile up become rows where keys come often: no file is needed. Some addends fit no word, and cancel out but for one.
enum { PILED = 3900000, PILED_KEYS = 40000 };

static float piled_value(uint64_t n)
{
    return n == 2000 ? 0x1p90f : n % 1000 == 999 ? (n / 1000 % 2 ? 0x1p100f : -0x1p100f) : (float)(n / PILED_KEYS % 8) + 0.5f;
}
static uint32_t piled_key(uint64_t n) { return n == 2000 ? 6 : n % 1000 == 999 ? 5 : (uint32_t)(n * 7919 % PILED_KEYS); }

static bool fill_piled(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((sum *)records)[i] = (sum){piled_key(first + i), piled_value(first + i)};
    return true;
}

Test(by_key_memory, pairs_that_pile_up_are_combined)
{
    static float expected[PILED_KEYS];
    for (uint64_t n = 0; n < PILED; n++)
        if (n % 1000 != 999) expected[piled_key(n)] += piled_value(n);
    hdst_context *context = context_with_memory(24 << 20);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *pairs = hdst_read(hdst_source_from_callback(context, PILED, fill_piled, NULL), module, "sum");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(pairs, module, "add"));
    RUN(r);
    uint64_t n, wanted = 0;
    const sum *got = hdst_result_rows(r, NULL, &n);
    for (uint64_t k = 0; k < PILED_KEYS; k++) wanted += expected[k] != 0;
    cr_assert_eq(n, wanted);
    for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].k], "key %u: %a", (unsigned)got[i].k, (double)got[i].v);
    cr_assert(strstr(hdst_explain(r, NULL), "combined where they piled up") && !strstr(hdst_explain(r, NULL), "temporary file"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
}

// The same with so many records of one key that its word has to move on, at least so often: after every so many
// records, and (with limits that only rows meet) among rows.
static void heavy_pile(uint64_t memory, uint64_t look_after, uint64_t full, uint64_t least)
{
    hdst_context *context = context_with_memory(memory);
    context->engine->limits.by_key_look_after = look_after;
    context->engine->limits.by_key_full = full;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *pairs = hdst_read(hdst_source_from_callback(context, HEAVY, fill_heavy, NULL), module, "sum");
    hdst_result *r = hdst_result_create(hdst_with_container(hdst_reduce_by_key(pairs, module, "add"), HDST_CONTAINER_PARTS));
    RUN(r);
    uint64_t n;
    const sum *got = hdst_result_rows(r, NULL, &n);
    cr_assert(n == 1 && got[0].v == heavy_sum(), "%a", (double)got[0].v);
    cr_assert_geq(context->engine->limits.by_key_moved[1], least, "%llu", (unsigned long long)context->engine->limits.by_key_moved[1]);
    cr_assert(strstr(hdst_explain(r, NULL), "combined where they piled up"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
}

// A quarter: what no pile holds any more at the end is gone through elsewhere, and how much that is depends on how the threads take turns.
Test(by_key_memory, words_of_records_move_on_in_piles) { heavy_pile(64 << 20, 1 << 18, UINT64_C(1) << 55, (HEAVY >> 18) / 4); }
// Memory for one thread, which combines what it holds again and again: what was put aside the first time comes by again each time after.
Test(by_key_memory, words_do_not_overflow_in_piles_that_are_combined_often) { heavy_pile(3 << 20, 0, 0, 1); }
// What comes of one time is below the limit, with what came of the times before it is not.
Test(by_key_memory, words_of_rows_move_on_in_piles) { heavy_pile(3 << 20, UINT64_C(1) << 40, UINT64_C(1) << 60, 4); }

Test(by_key_memory, nowhere_to_spill)
{
    hdst_context *context;
    hdst_error error;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    hdst_result *r = spilling_job(&context, 10 << 20);
    cr_assert_eq(hdst_run(r, &error), HDST_E_IO, "%s", error.message);
    cr_assert(strstr(error.message, "/nowhere/at/all"), "%s", error.message);
    hdst_context_destroy(context);
    unsetenv("TMPDIR");
    r = spilling_job(&context, 1 << 16);        // hardly any memory will do where there is a file
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    hdst_context_destroy(context);
}
