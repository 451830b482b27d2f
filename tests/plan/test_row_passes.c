// SPDX-License-Identifier: Apache-2.0
// Accumulators of maps whose tables are larger than a device's memory, or than the budget: passes over ranges of their rows come to what plain C does, on
// devices of all kinds, and tell so.
#include "tests/plan/large_tables.h"

typedef struct total { float s; uint32_t n; float most; } total;

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "struct total { float s; uint32_t n; float most; };\n"
    "struct other { double v[2]; };\n"
    "struct pair { uint32_t key; double half; };\n"
    "map gather(item i, accum total t[], accum other o[], accum uint64_t all)\n"
    "{\n"
    "    t[i.key].s += i.v;\n"
    "    t[i.key].n += 1u;\n"
    "    acc_max(t[i.key].most, i.v);\n"
    "    o[i.key / 3u].v[1] += 1;\n"
    "    uint32_t k = i.key % (uint32_t)len(o);\n"
    "    for (uint32_t j = 0; j < 2; j++) o[k].v[j] += (double)i.v * (j + 1);\n"
    "    all += 1;\n"
    "}\n"
    "flat_map halves(item i, accum total t[]) -> pair\n"
    "{\n"
    "    t[i.key].s += i.v;\n"
    "    t[i.key].n += 1u;\n"
    "    if (i.key % 3u != 0u) emit((pair){ .key = i.key % 7u, .half = (double)i.v / 2 });\n"
    "}\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "map wide(item i, accum double t[]) { t[i.key] += (double)i.v * (i.key % 2u == 0u ? 1e200 : 1e-200); }\n";

static total *expected_totals(uint32_t rows)
{
    total *right = calloc(rows, sizeof *right);
    for (uint32_t k = 0; k < rows; k++) right[k].most = -INFINITY;
    for (uint32_t i = 0; i < RECORDS; i++) {
        total *t = &right[items[i].key];
        *t = (total){t->s + items[i].v, t->n + 1, items[i].v > t->most ? items[i].v : t->most};       // sums are below 2^24
    }
    return right;
}

static void expect_passes(hdst_result *r, const char *form)
{
    cr_assert(strstr(hdst_explain(r, NULL), "passes over their rows"), "%s: %s", form, hdst_explain(r, NULL));
    cr_assert_eq(hdst_result_stats(r).records, RECORDS, "%s: %llu", form, (unsigned long long)hdst_result_stats(r).records);
}

static void check_gather(const char *form, uint64_t device_memory, uint64_t memory)
{
    hdst_context *context = context_with(form, device_memory, memory, HDST_ON_ERROR_FAIL, UINT32_MAX);      // else tuples take their place (test_row_tuples.c)
    hdst_result *r = gather(context, kernels);
    total *right = expected_totals(ROWS);
    double (*others)[2] = calloc(OTHERS, sizeof *others);
    for (uint32_t i = 0; i < RECORDS; i++) {
        others[items[i].key / 3][1] += 1;
        for (int j = 0; j < 2; j++) others[items[i].key % OTHERS][j] += (double)items[i].v * (j + 1);
    }
    for (int run = 0; run < 2; run++) {
        uint64_t n, m_rows;
        RUN(r);
        const total *got = hdst_result_rows(r, "t", &n);
        const double (*o)[2] = hdst_result_rows(r, "o", &m_rows);
        cr_assert(n == ROWS && m_rows == OTHERS);
        for (uint32_t k = 0; k < ROWS; k++)
            cr_assert(got[k].s == right[k].s && got[k].n == right[k].n && got[k].most == right[k].most, "%s: row %u", form, (unsigned)k);
        cr_assert_arr_eq(o, others, OTHERS * sizeof *others, "%s", form);
        cr_assert_eq(*(const uint64_t *)hdst_result_rows(r, "all", NULL), RECORDS);
    }
    expect_passes(r, form);
    expect_peaks(r, form, device_memory, memory);
    hdst_context_destroy(context);
    free(right);
    free(others);
}

Test(row_passes, tables_beyond_a_device_memory)
{
    make_items(ROWS);
    if (have_cpu()) check_gather("gpu-form", DEVICE, 0);
}

Test(row_passes, tables_of_several_devices)
{
    make_items(ROWS);
    if (have_team()) check_gather("team", DEVICE, 0);
}

Test(row_passes, tables_beyond_the_budget)
{
    make_items(ROWS);
    check_gather("interp", 0, 12 << 20);        // of which the rows are 3 MiB, and exact sums 60
    if (have_cpu()) check_gather("cpu", 0, 16 << 20);
}

// What a run can do in passes is explained before it, too, though its tables do not fit.
Test(row_passes, an_explanation_before_the_run_does_not_fail)
{
    make_items(ROWS);
    hdst_context *context = context_with("interp", 0, 12 << 20, HDST_ON_ERROR_FAIL, UINT32_MAX);
    hdst_result *r = gather(context, kernels);
    hdst_error error = HDST_ERROR_INIT;
    const char *before = hdst_explain(r, &error);
    cr_assert_eq(error.code, HDST_OK, "%s", error.message);
    cr_assert(strstr(before, "memory is short for what is known before: "), "%s", before);
    RUN(r);
    expect_passes(r, "interp");
    hdst_context_destroy(context);
}

// The records of the first pass are those of the run, as rows or for who takes them slice by slice.
static void check_records(const char *form, bool by_key)
{
    hdst_context *context = context_with(form, DEVICE, 0, HDST_ON_ERROR_FAIL, UINT32_MAX);
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "halves");
    hdst_bind_accum(spec, "t", FEW);
    hdst_dataset *halves = hdst_flat_map(read_items(context, m), spec);
    hdst_result *r = hdst_result_create(by_key ? hdst_reduce_by_key(halves, m, "add") : halves);
    total *right = expected_totals(FEW);
    double sum[7] = {0};
    uint64_t count = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        if (items[i].key % 3) sum[items[i].key % 7] += (double)items[i].v / 2, count++;
    for (int run = 0; run < 2; run++) {
        uint64_t n, rows;
        double got[7] = {0};
        RUN(r);
        const pair *pairs = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, by_key ? 7 : count, "%s: %llu", form, (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++) got[pairs[i].key] += pairs[i].half;
        cr_assert_arr_eq(got, sum, sizeof sum, "%s", form);
        const total *t = hdst_result_rows(r, "t", &rows);
        for (uint32_t k = 0; k < FEW; k++) cr_assert(t[k].s == right[k].s && t[k].n == right[k].n, "%s: row %u", form, (unsigned)k);
    }
    cr_assert(strstr(hdst_explain(r, NULL), "passes over their rows"), "%s: %s", form, hdst_explain(r, NULL));
    hdst_context_destroy(context);
    free(right);
}

Test(row_passes, records_are_those_of_one_pass)
{
    make_items(FEW);
    for (int by_key = 0; by_key < 2; by_key++)
        if (have_cpu()) check_records("gpu-form", by_key);
}

// The words of an error are those of a run in one pass: the row is beside all rows, not beside a pass's.
Test(row_passes, errors_are_those_of_one_pass)
{
    if (have_cpu()) expect_same_error(kernels, UINT32_MAX);
}

// Addends that fit no words in fixed point turn up in the run: superaccumulators take more memory, and more passes.
Test(row_passes, sums_that_need_superaccumulators)
{
    if (!have_cpu()) return;
    make_items(FEW);
    double *right = calloc(FEW, sizeof *right);
    for (uint32_t i = 0; i < RECORDS; i++) right[items[i].key] += (double)items[i].v * (items[i].key % 2 == 0 ? 1e200 : 1e-200);
    hdst_context *context = context_with("gpu-form", DEVICE, 0, HDST_ON_ERROR_FAIL, UINT32_MAX);
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "wide");
    hdst_bind_accum(spec, "t", FEW);
    hdst_result *r = hdst_result_create(hdst_map(read_items(context, m), spec));
    RUN(r);
    const double *got = hdst_result_rows(r, "t", NULL);
    for (uint32_t k = 0; k < FEW; k++) cr_assert(got[k] == right[k], "row %u: %a, not %a", (unsigned)k, got[k], right[k]);       // two addends at most
    expect_passes(r, "gpu-form");
    cr_assert_leq(hdst_result_stats(r).device_peak_bytes, DEVICE);
    hdst_context_destroy(context);
    free(right);
}

// What is kept unfinished is kept of all rows.
Test(row_passes, partials_say_that_they_need_all_rows)
{
    if (!have_cpu()) return;
    make_items(FEW);
    hdst_error error;
    hdst_context *context = context_with("gpu-form", DEVICE, 0, HDST_ON_ERROR_FAIL, UINT32_MAX);
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "halves");
    hdst_bind_accum(spec, "t", FEW);
    hdst_result *r = hdst_result_create(hdst_flat_map(read_items(context, m), spec));
    RUN(r);
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_run(r, &error), HDST_E_MEMORY, "%s", error.message);
    cr_assert(strstr(error.message, "unfinished"), "%s", error.message);
    hdst_context_destroy(context);
}
