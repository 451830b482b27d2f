// SPDX-License-Identifier: Apache-2.0
// Accumulators of maps whose tables would take many passes over ranges of their rows go as tuples of a row and addends: to what plain C comes to, with all laws
// and types, beside other accumulators and records, on devices of all kinds, within the budget.
#include "tests/plan/large_tables.h"

enum { BUDGET = 12 << 20 };

typedef struct total { float s; uint32_t n; float most; int8_t least; uint16_t all_bits; int64_t flips; bool some, every; double d; } total;

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "struct total { float s; uint32_t n; float most; int8_t least; uint16_t all_bits; int64_t flips; bool some; bool every; double d; };\n"
    "struct other { double v[2]; };\n"
    "struct pair { uint32_t key; double half; };\n"
    "map gather(item i, accum total t[], accum other o[], accum uint64_t all)\n"
    "{\n"
    "    t[i.key].s += i.v;\n"
    "    t[i.key].n += 1u;\n"
    "    acc_max(t[i.key].most, i.v);\n"
    "    int8_t low = (int8_t)(i.key % 100u) - 50;\n"
    "    acc_min(t[i.key].least, low);\n"
    "    t[i.key].all_bits &= (uint16_t)(i.key | 0x100u);\n"
    "    if (i.key % 5u == 0u) return;\n"
    "    t[i.key].flips ^= (int64_t)i.key << 33;\n"
    "    t[i.key].some |= i.v > 100.0f;\n"
    "    t[i.key].every &= i.v > 100.0f;\n"
    "    uint32_t j = i.key;\n"
    "    t[j].d += 0.5;\n"
    "    j = (j + 1) % (uint32_t)len(t);\n"
    "    t[j].d += 0.25;\n"
    "    uint32_t h = i.key;\n"
    "    t[h].flips ^= 3;\n"
    "    h = i.key * 3u % (uint32_t)len(t);\n"
    "    t[h].n += 2u;\n"
    "    o[i.key / 3u].v[1] += 1;\n"
    "    uint32_t k = i.key % (uint32_t)len(o);\n"
    "    for (uint32_t e = 0; e < 2; e++) o[k].v[e] += (double)i.v * (e + 1);\n"
    "    all += 1;\n"
    "}\n"
    "flat_map halves(item i, accum total t[]) -> pair\n"
    "{\n"
    "    t[i.key].s += i.v;\n"
    "    t[i.key].n += 1u;\n"
    "    if (i.key % 3u != 0u) emit((pair){ .key = i.key % 7u, .half = (double)i.v / 2 });\n"
    "}\n"
    "filter some(item i) { return i.key % 2u == 0u; }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "map wide(item i, accum double t[]) { t[i.key] += (double)i.v * (i.key % 2u == 0u ? 1e200 : 1e-200); }\n";

// A row that nothing was added to has each law's identity. Sums are below 2^24.
static total *right_totals(double (*others)[2], uint64_t *all)
{
    total *right = calloc(ROWS, sizeof *right);
    for (uint32_t k = 0; k < ROWS; k++) right[k] = (total){.most = -INFINITY, .least = INT8_MAX, .all_bits = UINT16_MAX, .every = true};
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t key = items[i].key;
        if (key >= ROWS) continue;
        total *t = &right[key];
        const int8_t low = (int8_t)((int)(key % 100) - 50);
        t->s += items[i].v;
        t->n++;
        t->most = items[i].v > t->most ? items[i].v : t->most;
        t->least = low < t->least ? low : t->least;
        t->all_bits &= (uint16_t)(key | 0x100);
        if (key % 5 == 0) continue;
        t->flips ^= (int64_t)((uint64_t)key << 33);
        t->some |= items[i].v > 100;
        t->every &= items[i].v > 100;
        t->d += 0.5;
        right[(key + 1) % ROWS].d += 0.25;
        t->flips ^= 3;
        right[key * 3 % ROWS].n += 2;
        others[key / 3][1] += 1;
        for (int j = 0; j < 2; j++) others[key % OTHERS][j] += (double)items[i].v * (j + 1);
        ++*all;
    }
    return right;
}

static bool is_right(const total *a, const total *b)
{
    return a->s == b->s && a->n == b->n && a->most == b->most && a->least == b->least && a->all_bits == b->all_bits && a->flips == b->flips &&
        a->some == b->some && a->every == b->every && a->d == b->d;
}

static void expect_tuples(hdst_result *r, const char *form)
{
    const char *told = hdst_explain(r, NULL);
    cr_assert(strstr(told, "comes as tuples"), "%s: %s", form, told);
    cr_assert(!strstr(told, "passes over their rows"), "%s: %s", form, told);
}

static void check_gather(const char *form, uint64_t device_memory, uint64_t memory, hdst_on_error on_error)
{
    hdst_context *context = context_with(form, device_memory, memory, on_error, 1);
    hdst_result *r = gather(context, kernels);
    double (*others)[2] = calloc(OTHERS, sizeof *others);
    uint64_t all = 0;
    total *right = right_totals(others, &all);
    for (int run = 0; run < 2; run++) {
        uint64_t n, m_rows;
        RUN(r);
        const total *got = hdst_result_rows(r, "t", &n);
        const double (*o)[2] = hdst_result_rows(r, "o", &m_rows);
        cr_assert(n == ROWS && m_rows == OTHERS);
        for (uint32_t k = 0; k < ROWS; k++) cr_assert(is_right(&got[k], &right[k]), "%s: row %u", form, (unsigned)k);
        cr_assert_arr_eq(o, others, OTHERS * sizeof *others, "%s", form);
        cr_assert_eq(*(const uint64_t *)hdst_result_rows(r, "all", NULL), all, "%s", form);
        cr_assert_eq(hdst_result_stats(r).records, RECORDS, "%s: %llu", form, (unsigned long long)hdst_result_stats(r).records);
    }
    expect_tuples(r, form);
    expect_peaks(r, form, device_memory, memory);
    hdst_context_destroy(context);
    free(right);
    free(others);
}

Test(row_tuples, all_laws_beyond_a_device_memory)
{
    make_items(ROWS);
    if (have_cpu()) check_gather("gpu-form", DEVICE, 0, HDST_ON_ERROR_FAIL);
}

Test(row_tuples, of_several_devices)
{
    make_items(ROWS);
    if (have_team()) check_gather("team", DEVICE, 0, HDST_ON_ERROR_FAIL);
}

Test(row_tuples, all_laws_beyond_the_budget)
{
    make_items(ROWS);
    check_gather("interp", 0, BUDGET, HDST_ON_ERROR_FAIL);
    if (have_cpu()) check_gather("cpu", 0, BUDGET, HDST_ON_ERROR_FAIL);
}

// Records that name no row are left out with all that they add, in each of the runs.
Test(row_tuples, failing_records_are_left_out)
{
    make_items(ROWS);
    for (uint32_t i = 5; i < RECORDS; i += 1000) items[i].key = ROWS + i;
    if (have_cpu()) check_gather("cpu", 0, BUDGET, HDST_ON_ERROR_SKIP);
}

// The records of a function that gives some are those of its own run.
Test(row_tuples, records_beside_them)
{
    if (!have_cpu()) return;
    make_items(FEW);
    double sum[7] = {0};
    uint64_t count = 0;
    float *totals = calloc(FEW, sizeof *totals);
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (items[i].key % 2) continue;
        totals[items[i].key] += items[i].v;
        if (items[i].key % 3) sum[items[i].key % 7] += (double)items[i].v / 2, count++;
    }
    hdst_context *context = context_with("gpu-form", DEVICE, 0, HDST_ON_ERROR_FAIL, 1);
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "halves"), *filter = hdst_map_spec_create(m, "some");
    hdst_bind_accum(spec, "t", FEW);
    hdst_result *r = hdst_result_create(hdst_flat_map(hdst_filter(read_items(context, m), filter), spec));
    for (int run = 0; run < 2; run++) {
        uint64_t n;
        double got[7] = {0};
        RUN(r);
        const pair *pairs = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, count);
        for (uint64_t i = 0; i < n; i++) got[pairs[i].key] += pairs[i].half;
        cr_assert_arr_eq(got, sum, sizeof sum);
        const total *t = hdst_result_rows(r, "t", NULL);
        for (uint32_t k = 0; k < FEW; k++) cr_assert_eq(t[k].s, totals[k], "row %u", (unsigned)k);
    }
    expect_tuples(r, "gpu-form");
    hdst_context_destroy(context);
    free(totals);
}

// Superaccumulators of a part's rows have no room: parts are taken in smaller pieces.
Test(row_tuples, superaccumulators_beyond_the_budget)
{
    if (!have_cpu()) return;
    make_items(FEW);
    double *right = calloc(FEW, sizeof *right);
    for (uint32_t i = 0; i < RECORDS; i++) right[items[i].key] += (double)items[i].v * (items[i].key % 2 == 0 ? 1e200 : 1e-200);
    hdst_context *context = context_with("cpu", 0, 8 << 20, HDST_ON_ERROR_FAIL, 1);
    hdst__engine_limits(context->engine)->by_key_partition_bits = 1;
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "wide");
    hdst_bind_accum(spec, "t", FEW);
    hdst_result *r = hdst_result_create(hdst_map(read_items(context, m), spec));
    RUN(r);
    const double *got = hdst_result_rows(r, "t", NULL);
    for (uint32_t k = 0; k < FEW; k++) cr_assert(got[k] == right[k], "row %u: %a, not %a", (unsigned)k, got[k], right[k]);       // two addends at most
    expect_tuples(r, "cpu");
    cr_assert(strstr(hdst_explain(r, NULL), "pieces of parts"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
    free(right);
}

// The words of an error are those of a run with all rows.
Test(row_tuples, errors_are_those_of_one_run)
{
    if (have_cpu()) expect_same_error(kernels, 1);
}

// What is kept unfinished is kept in a table.
Test(row_tuples, partials_say_that_they_need_all_rows)
{
    if (!have_cpu()) return;
    make_items(FEW);
    hdst_error error;
    hdst_context *context = context_with("gpu-form", DEVICE, 0, HDST_ON_ERROR_FAIL, 1);
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "wide");
    hdst_bind_accum(spec, "t", FEW);
    hdst_result *r = hdst_result_create(hdst_map(read_items(context, m), spec));
    RUN(r);
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_run(r, &error), HDST_E_MEMORY, "%s", error.message);
    cr_assert(strstr(error.message, "unfinished"), "%s", error.message);
    hdst_context_destroy(context);
}
