// SPDX-License-Identifier: Apache-2.0
// Records that fail and are left out are no records of the dataset: whoever counts, slices or numbers it sees those that remain, whatever is fused with what.
#include "tests/hdst/support.h"

enum { N = 5000 };

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "struct numbered { uint64_t i; uint32_t key; float v; };\n"
    "map inverse(item a) -> item { return (item){ .key = 1000u / a.key, .v = a.v }; }\n"
    "map same(item a) -> item { return a; }\n"
    "map place(item a) -> item { return (item){ .key = (uint32_t)record_index(), .v = a.v }; }\n";

typedef struct item { uint32_t key; float v; } item;
typedef struct numbered { uint64_t i; uint32_t key; float v; } numbered;

static item items[N], left[N];        // of `items` those that do not fail, as the map leaves them
static uint64_t left_count;

static void make_items(void)
{
    left_count = 0;
    for (uint32_t i = 0; i < N; i++) {
        items[i] = (item){i % 7 % 4, (float)i};
        if (items[i].key) left[left_count++] = (item){1000 / items[i].key, (float)i};
    }
}

static void check_items(hdst_dataset *data, const item *wanted, uint64_t count, const char *what)
{
    void *rows;
    uint64_t n;
    hdst_error error;
    cr_assert_eq(hdst_collect(data, &rows, &n, &error), HDST_OK, "%s: %s", what, error.message);
    cr_assert_eq(n, count, "%s: %llu records, not %llu", what, (unsigned long long)n, (unsigned long long)count);
    cr_assert(!memcmp(rows, wanted, count * sizeof *wanted), "%s", what);
    hdst_rows_destroy(((hdst__object *)data)->context, rows);
}

static void check_parts(hdst_dataset *data, const char *what)
{
    static item got[N];
    uint64_t n;
    cr_assert_eq(hdst_count(data, &n, NULL), HDST_OK);
    cr_assert_eq(n, left_count, "%s: %llu are counted, %llu are left", what, (unsigned long long)n, (unsigned long long)left_count);
    cr_assert_eq(hdst_take(data, 10, got, &n, NULL), HDST_OK);
    cr_assert(n == 10 && !memcmp(got, left, 10 * sizeof *got), "%s: the first 10 are %llu", what, (unsigned long long)n);
    cr_assert_eq(hdst_dataset_take(data, left_count - 3, 3, got, NULL), HDST_OK, "%s", what);
    cr_assert(!memcmp(got, left + left_count - 3, 3 * sizeof *got), "%s", what);
    check_items(hdst_slice(data, 100, 50), left + 100, 50, what);
}

static void check_numbers(hdst_dataset *data, hdst_module *module, const char *what)
{
    void *rows;
    uint64_t n;
    cr_assert_eq(hdst_collect(hdst_zip_with_index(data, module, "numbered"), &rows, &n, NULL), HDST_OK);
    cr_assert_eq(n, left_count, "%s", what);
    for (uint64_t i = 0; i < n; i++) {
        const numbered *got = (const numbered *)rows + i;
        cr_assert(got->i == i && got->key == left[i].key && got->v == left[i].v, "%s: record %llu has number %llu", what,
                  (unsigned long long)i, (unsigned long long)got->i);
    }
    hdst_rows_destroy(((hdst__object *)data)->context, rows);
    cr_assert_eq(hdst_collect(hdst_map_function(data, module, "place"), &rows, &n, NULL), HDST_OK);
    for (uint64_t i = 0; i < n; i++) cr_assert_eq(((const item *)rows)[i].key, i, "%s", what);
    hdst_rows_destroy(((hdst__object *)data)->context, rows);
}

static void check_sample(hdst_dataset *data, const char *what)
{
    void *fused, *cached;
    uint64_t n, m;
    cr_assert_eq(hdst_collect(hdst_sample(data, 0.3, 5), &fused, &n, NULL), HDST_OK);
    cr_assert_eq(hdst_collect(hdst_sample(hdst_cache(data), 0.3, 5), &cached, &m, NULL), HDST_OK);
    cr_assert(n == m && n > left_count / 5 && !memcmp(fused, cached, n * sizeof(item)), "%s: %llu and %llu", what, (unsigned long long)n,
              (unsigned long long)m);
    hdst_rows_destroy(((hdst__object *)data)->context, fused);
    hdst_rows_destroy(((hdst__object *)data)->context, cached);
}

static void check_device(const char *device)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    make_items();
    hdst_dataset *inverse = hdst_map_function(hdst_read(hdst_source_from_memory(context, items, N, sizeof *items), module, "item"), module, "inverse");
    hdst_dataset *const forms[] = {inverse, hdst_map_function(inverse, module, "same"), hdst_cache(inverse)};
    static const char *const names[] = {"the map", "a map behind it", "a cache of it"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        check_items(forms[i], left, left_count, names[i]);
        check_parts(forms[i], names[i]);
        check_numbers(forms[i], module, names[i]);
        check_sample(forms[i], names[i]);
    }
    uint64_t n;
    cr_assert(hdst_count(hdst_sort(inverse, "v desc"), &n, NULL) == HDST_OK && n == left_count);
    hdst_context_destroy(context);
}

Test(skipped_records, are_no_records_of_the_dataset)
{
    check_device("interp");
    if (have_cpu()) check_device("cpu");
}
