// SPDX-License-Identifier: Apache-2.0
// What is many times as large as a device's memory budget: tables of a dense reduce, sorts, reductions by key, caches and values. Everything gives the
// result of plain C, and no device takes more than it may. Devices of all kinds, with memory of their own and without.
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct item { uint32_t key; float v; } item;
typedef struct total { float s; uint32_t n; } total;

enum { RECORDS = 1 << 20, ROWS = RECORDS / 2, DEVICE = 4 << 20 };         // 8 MiB of records, 4 of rows as they are; 4 of memory

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "struct total { float s; uint32_t n; };\n"
    "struct keyed { uint32_t key; float s; uint32_t n; };\n"
    "map as_total(item i) -> keyed { return (keyed){ .key = i.key, .s = i.v, .n = 1u }; }\n"
    "filter most(item i) { return i.key % 8u != 3u; }\n"
    "map halved(item i) -> item { return (item){ .key = i.key, .v = i.v * 0.5f }; }\n"
    "reduce add(total a, total b) { return (total){ .s = a.s + b.s, .n = a.n + b.n }; }\n"
    "map gather(item i, accum total t[]) { t[i.key % 10u].s += i.v; t[i.key % 10u].n += 1u; }\n";

static item *items;
static uint64_t rows;

static void make_items(uint64_t row_count)
{
    rows = row_count;
    items = malloc(RECORDS * sizeof *items);
    cr_assert(items);
    for (uint64_t i = 0; i < RECORDS; i++) items[i] = (item){(uint32_t)(i * 2654435761u % rows), (float)(i * 40503 % 4096)};     // sums are below 2^24
}

static hdst_context *context_of(const char *form)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.device_memory = DEVICE;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    return context;
}

static void close(hdst_context *context, const char *form)
{
    const hdst__device *device = context->engine->worker[0].device;
    cr_assert(!strcmp(form, "interp") || device->budget.peak <= DEVICE, "%s: %llu", form, (unsigned long long)device->budget.peak);
    hdst_context_destroy(context);
}

// --- Sums of each row, and of each key ---

static void expect_totals(const total *got, const uint32_t *key, uint64_t n, const char *what)
{
    total *right = calloc(rows, sizeof *right);
    for (uint64_t i = 0; i < RECORDS; i++) right[items[i].key].s += items[i].v, right[items[i].key].n++;
    cr_assert_eq(n, rows, "%s: %llu", what, (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) {
        const total *r = &right[key ? key[i] : i];
        cr_assert(got[i].s == r->s && got[i].n == r->n, "%s: row %llu", what, (unsigned long long)i);
    }
    free(right);
}

static void check_dense(const char *form)
{
    hdst_context *context = context_of(form);
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *data = hdst_map_function(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item"), m, "as_total");
    hdst_result *r = hdst_result_create(hdst_reduce_dense(data, m, "add", rows));
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n;
        RUN(r);
        const total *got = hdst_result_rows(r, NULL, &n);
        expect_totals(got, NULL, n, form);
    }
    close(context, form);
}

static void check_by_key(const char *form)
{
    hdst_context *context = context_of(form);
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *data = hdst_map_function(hdst_cache(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item")), m, "as_total");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(data, m, "add"));
    for (int turn = 0; turn < 2; turn++) {
        uint64_t n;
        RUN(r);
        const struct { uint32_t key; total t; } *got = hdst_result_rows(r, NULL, &n);
        total *sums = calloc(n, sizeof *sums);
        uint32_t *keys = calloc(n, sizeof *keys);
        for (uint64_t i = 0; i < n; i++) sums[i] = got[i].t, keys[i] = got[i].key;
        expect_totals(sums, keys, n, form);
        free(sums);
        free(keys);
    }
    close(context, form);
}

// --- Sorts, and records that stay between stages ---

static int by_value(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static void check_sort(const char *form)
{
    hdst_context *context = context_of(form);
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item"));
    hdst_result *r = hdst_result_create(hdst_sort(hdst_map_function(data, m, "halved"), "v,key"));
    item *right = malloc(RECORDS * sizeof *right);
    uint64_t n;
    for (uint64_t i = 0; i < RECORDS; i++) right[i] = (item){items[i].key, items[i].v * 0.5f};
    qsort(right, RECORDS, sizeof *right, by_value);
    RUN(r);
    const item *got = hdst_result_rows(r, NULL, &n);
    cr_assert(n == RECORDS && memcmp(got, right, RECORDS * sizeof *right) == 0, "%s", form);
    free(right);
    close(context, form);
}

// What the filter lets through is cached, and read by two stages.
static void check_store(const char *form)
{
    hdst_context *context = context_of(form);
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item");
    hdst_dataset *kept = hdst_cache(hdst_filter_function(data, m, "most"));
    hdst_map_spec *spec = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(spec, "t", 10);
    hdst_result *r = hdst_result_create(hdst_map(hdst_union(kept, hdst_map_function(kept, m, "halved")), spec));
    double sum[10] = {0};
    int64_t count[10] = {0};
    for (uint64_t i = 0; i < RECORDS; i++)
        if (items[i].key % 8 != 3) sum[items[i].key % 10] += items[i].v * 1.5, count[items[i].key % 10] += 2;
    for (int turn = 0; turn < 2; turn++) {
        RUN(r);
        for (uint64_t k = 0; k < 10; k++) {
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), k, 0), count[k], "%s", form);
            cr_assert_eq(hdst_view_double(hdst_result_field(r, "t", "s"), k, 0), (double)(float)sum[k], "%s", form);
        }
    }
    hdst_map_spec_destroy(spec);
    close(context, form);
}

static void on_all(void (*check)(const char *form))
{
    make_items(ROWS);
    check("interp");
    if (have_cpu()) check("cpu"), check("gpu-form");
    free(items);
}

Test(device_budget, dense_tables) { on_all(check_dense); }

// Words in fixed point have room, what else there is beside them has not, as turns out when it is asked for.
Test(device_budget, a_dense_table_that_nearly_fits)
{
    if (!have_cpu()) return;
    make_items(39062);
    check_dense("gpu-form");
    free(items);
    make_items(48828);
    check_dense("gpu-form");
    free(items);
}

Test(device_budget, reductions_by_key) { on_all(check_by_key); }
Test(device_budget, sorts) { on_all(check_sort); }
Test(device_budget, stores) { on_all(check_store); }
