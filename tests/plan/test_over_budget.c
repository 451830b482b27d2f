// SPDX-License-Identifier: Apache-2.0
// Records between operators that the memory budget has no room for go through a temporary file: results are those of plain C.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct item { uint32_t key; float v; } item;

enum { RECORDS = 1 << 19, KEYS = 5003, BUDGET = 3 << 20 };     // 4 MB of records

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "struct total { uint32_t key; uint64_t n; };\n"
    "map halved(item i) -> item { return (item){ .key = i.key, .v = i.v * 0.5f }; }\n"
    "filter most(item i) { return i.key % 8u != 3u; }\n"
    "reduce largest(item a, item b) { return (item){ .key = max(a.key, b.key), .v = max(a.v, b.v) }; }\n"
    "group latest(key uint32_t key, stream item i) -> item { float v = 0; for (item e : i) v = e.v; return (item){ .key = key, .v = v }; }\n";

static item item_at(uint64_t i) { return (item){(uint32_t)(i * 7919 % KEYS), (float)(i * 2654435761u % 65536)}; }

static bool fill_items(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(first + i);
    return true;
}

static bool is_kept(item i) { return i.key % 8 != 3; }

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *behind;               // a filter and a map
} job;

static void open_job(job *j, const char *form)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.memory = BUDGET;
    j->context = hdst_context_create(&options);
    j->context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    j->module = module_of(j->context, kernels);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(j->context, RECORDS, fill_items, NULL), j->module, "item");
    j->behind = hdst_map_function(hdst_filter_function(items, j->module, "most"), j->module, "halved");
}

static void close_job(job *j, hdst_result *r)
{
    const bool stays = strstr(hdst_explain(r, NULL), "output: stays on the device");       // which has memory of its own
    cr_assert(stays || strstr(hdst_explain(r, NULL), "output: through a temporary file"), "%s", hdst_explain(r, NULL));
    cr_assert_leq(j->context->engine->runtime.memory.peak, BUDGET);
    hdst_context_destroy(j->context);
}

static void check_groups(const char *form)
{
    static float expected[KEYS];
    for (uint64_t i = 0; i < RECORDS; i++)
        if (is_kept(item_at(i))) expected[item_at(i).key] = item_at(i).v * 0.5f;
    job j;
    open_job(&j, form);
    hdst_result *r = hdst_result_create(hdst_group_function(j.behind, "key", j.module, "latest"));
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n;
        RUN(r);
        const item *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, KEYS - (KEYS + 4) / 8, "%s: %llu keys", form, (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++) cr_assert(is_kept(got[i]) && got[i].v == expected[got[i].key], "%s: key %u", form, (unsigned)got[i].key);
    }
    close_job(&j, r);
}

static int by_value(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->v < y->v ? -1 : x->v > y->v;
}

// Two readers of one dataset, and a few of the sorted records.
static void check_sort(const char *form)
{
    enum { FIRST = 1000, SOME = 500 };
    item *sorted = malloc(2 * RECORDS * sizeof *sorted);
    uint64_t count = 0, n;
    for (uint64_t i = 0; i < RECORDS; i++) {
        if (!is_kept(item_at(i))) continue;
        sorted[count] = item_at(i);
        sorted[count++].v *= 0.5f;
    }
    qsort(sorted, count, sizeof *sorted, by_value);
    job j;
    open_job(&j, form);
    hdst_result *r = hdst_result_create(hdst_slice(hdst_sort(hdst_union(j.behind, j.behind), "v"), FIRST, SOME));
    RUN(r);
    const item *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, SOME);
    for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, sorted[(FIRST + i) / 2].v, "%s: record %llu", form, (unsigned long long)i);
    free(sorted);
    close_job(&j, r);
}

static void check_cache(const char *form)
{
    item expected = {0, 0};
    for (uint64_t i = 0; i < RECORDS; i++) {
        const item it = item_at(i);
        if (!is_kept(it)) continue;
        expected = (item){it.key > expected.key ? it.key : expected.key, it.v * 0.5f > expected.v ? it.v * 0.5f : expected.v};
    }
    job j;
    open_job(&j, form);
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_cache(j.behind), j.module, "largest"));
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n;
        RUN(r);
        const item *got = hdst_result_rows(r, NULL, &n);
        cr_assert(n == 1 && got->key == expected.key && got->v == expected.v, "%s", form);
    }
    close_job(&j, r);
}

static void on_all(void (*check)(const char *form))
{
    check("interp");
    if (!have_cpu()) return;
    check("cpu");
    check("gpu-form");
}

Test(over_budget, groups) { on_all(check_groups); }
Test(over_budget, sorts_and_unions) { on_all(check_sort); }

Test(over_budget, caches) { on_all(check_cache); }

// What crosses and scans by functions read while their own records are asked for: it stays, however short memory is (values fill half of the budget).
static void check_reading_on(const char *form)
{
    enum { FEW = 500, OTHERS = 3, BALLAST = BUDGET / 2 / sizeof(item) };
    static const char more[] = "struct item { uint32_t key; float v; };\n"
                               "filter most(item i) { return i.key % 8u != 3u; }\n"
                               "join both(item a, item b) -> item { return (item){ .key = a.key * 10u + b.key, .v = a.v - b.v }; }\n"
                               "associative reduce second(item a, item b) { return (item){ .key = a.key + b.key, .v = b.v }; }\n";
    job j;
    open_job(&j, form);
    j.module = module_of(j.context, more);
    item *ballast = calloc(BALLAST, sizeof *ballast), kept[FEW];
    hdst_value *value = hdst_value_create(j.module, "item", 1);
    cr_assert_eq(hdst_value_set(value, ballast, BALLAST), HDST_OK);
    uint64_t n, count = 0;
    uint32_t sum = 0;
    for (uint64_t i = 0; i < FEW; i++)
        if (is_kept(item_at(i))) kept[count++] = item_at(i);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(j.context, FEW, fill_items, NULL), j.module, "item");
    hdst_dataset *some = hdst_filter_function(items, j.module, "most");
    hdst_result *crossed = hdst_result_create(hdst_cross(some, hdst_slice(items, 0, OTHERS), j.module, "both"));
    hdst_result *scanned = hdst_result_create(hdst_scan_function(some, j.module, "second", NULL));
    for (int turn = 0; turn < 2; turn++) {
        RUN(crossed);
        const item *got = hdst_result_rows(crossed, NULL, &n);
        cr_assert_eq(n, count * OTHERS);
        for (uint64_t i = 0; i < n; i++) {
            const item a = kept[i / OTHERS], b = item_at(i % OTHERS);
            cr_assert(got[i].key == a.key * 10 + b.key && got[i].v == a.v - b.v, "%s: pair %llu", form, (unsigned long long)i);
        }
        RUN(scanned);
        got = hdst_result_rows(scanned, NULL, &n);
        cr_assert_eq(n, count);
        sum = 0;
        for (uint64_t i = 0; i < n; i++) cr_assert(got[i].key == (sum += kept[i].key) && got[i].v == kept[i].v, "%s: record %llu", form, (unsigned long long)i);
    }
    free(ballast);
    hdst_context_destroy(j.context);
}

Test(over_budget, what_is_read_later_stays) { on_all(check_reading_on); }

Test(over_budget, nowhere_to_go)
{
    hdst_error error;
    job j;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    open_job(&j, "interp");
    hdst_result *r = hdst_result_create(hdst_group_function(j.behind, "key", j.module, "latest"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_IO, "%s", error.message);
    cr_assert(strstr(error.message, "/nowhere/at/all"), "%s", error.message);
    hdst_context_destroy(j.context);
    unsetenv("TMPDIR");
}

// --- Values ---

static bool hook_refuses;

static void *take(size_t bytes, void *user) { return (void)user, hook_refuses && bytes > BUDGET / 4 ? NULL : malloc(bytes); }
static void *move(void *pointer, size_t bytes, void *user) { return (void)user, hook_refuses && bytes > BUDGET / 4 ? NULL : realloc(pointer, bytes); }
static void give(void *pointer, void *user) { (void)user, free(pointer); }

// They are the context's, and count. What the hook refuses is not told as if the budget had.
Test(over_budget, values_count)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_error error;
    options.device = "interp";
    options.memory = BUDGET;
    options.allocator = (hdst_allocator){take, move, give, NULL};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_value *half = hdst_value_create(module, "item", BUDGET / 2 / sizeof(item));
    cr_assert_eq(hdst_value_status(half, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_value_status(hdst_value_create(module, "item", BUDGET / sizeof(item)), &error), HDST_E_MEMORY);
    cr_assert(strstr(error.message, "host memory: a value needs 3.0 MiB") && strstr(error.hint, "--memory"), "%s", error.message);
    hook_refuses = true;
    cr_assert_eq(hdst_value_status(hdst_value_create(module, "item", BUDGET / 3 / sizeof(item)), &error), HDST_E_MEMORY);
    cr_assert_str_eq(error.message, "out of memory: a value");
    hook_refuses = false;
    hdst_value_destroy(half);
    cr_assert_eq(hdst_value_status(hdst_value_create(module, "item", BUDGET / 3 * 2 / sizeof(item)), &error), HDST_OK, "%s", error.message);
    hdst_context_destroy(context);
}

// Record by record, so a few of them at a time will do: 20 MB of records of 64 KiB.
enum { WIDE = 8192, WIDE_RECORDS = 300 };
typedef struct wide { double d[WIDE]; } wide;

static bool fill_wide(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((wide *)records)[i].d[0] = (double)(first + i);
    return true;
}

Test(over_budget, wide_records_reduced_in_order)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 48 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, "struct wide { double d[8192]; };\n"
                                             "reduce mix(wide a, wide b) { wide c = b; c.d[0] = a.d[0] * 0.5 + b.d[0]; return c; }\n");
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_read(hdst_source_from_callback(context, WIDE_RECORDS, fill_wide, NULL), module, "wide"),
                                                    module, "mix"));
    double expected = 0;
    for (int i = 1; i < WIDE_RECORDS; i++) expected = expected * 0.5 + i;
    RUN(r);
    cr_assert_eq(((const wide *)hdst_result_rows(r, NULL, NULL))->d[0], expected);
    hdst_context_destroy(context);
}

enum { MANY = 200000, MANY_KEYS = 120001 };
static bool fill_many(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = (item){(uint32_t)((first + i) * 7919 % MANY_KEYS), (float)(first + i)};
    return true;
}

// The result of the first parts of the keys still has room in memory, that of all has not: it moves to a file, and what comes goes behind it.
Test(over_budget, the_result_of_a_group_moves_to_a_file_half_way)
{
    static float expected[MANY_KEYS];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 4 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_group_function(hdst_read(hdst_source_from_callback(context, MANY, fill_many, NULL), module, "item"),
                                                            "key", module, "latest"));
    for (uint64_t i = 0; i < MANY; i++) expected[i * 7919 % MANY_KEYS] = (float)i;
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n;
        RUN(r);
        const item *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, MANY_KEYS, "%llu keys", (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, expected[got[i].key], "key %u", (unsigned)got[i].key);
    }
    hdst_context_destroy(context);
}

// Where memory is short it is asked who reads the sorted records still. All ways to the reader are 2^60, the records of each level as many as before.
Test(over_budget, unions_that_meet_again_and_again)
{
    enum { LEVELS = 60, NUMBERS = 200000 };
    static float x[NUMBERS];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 2 << 20;
    for (int i = 0; i < NUMBERS; i++) x[i] = (float)(i * 7919 % NUMBERS);
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, "filter all(float x) { return x >= 0.0f; }\n");
    hdst_dataset *d = hdst_sort(hdst_filter_function(hdst_read(hdst_source_from_floats(context, x, NUMBERS, 1), module, "float"), module, "all"), "value");
    for (int i = 0; i < LEVELS; i++) d = hdst_union(hdst_slice(d, 0, NUMBERS / 2), hdst_slice(d, NUMBERS / 2, NUMBERS));
    float first[3];
    uint64_t taken;
    hdst_error error;
    cr_assert_eq(hdst_take(hdst_filter_function(d, module, "all"), 3, first, &taken, &error), HDST_OK, "%s", error.message);
    cr_assert(taken == 3 && first[0] == 0 && first[1] == 1 && first[2] == 2);
    hdst_context_destroy(context);
}
