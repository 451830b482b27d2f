// SPDX-License-Identifier: Apache-2.0
// What work-groups add to the device's table when they have seen their records, and rows that the device makes of it: the bits of the interpreter, whatever
// is added, run after run, in one slice and in many.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 70001, RUNS = 4, ROWS = 7 };

static const char kernels[] =
    "struct many { uint8_t n; double d; float f[3]; int16_t least; double most; double lowest; int64_t deep[2]; uint64_t high; uint32_t bits; int64_t odd; };\n"
    "struct cell { float x; uint16_t n; };\n"
    "map add(double v, accum many m, accum cell t[], accum uint64_t count)\n"
    "{\n"
    "    m.n += 1u;\n"
    "    m.d += v * 1.1;\n"
    "    for (uint32_t e = 0; e < 3; e++) m.f[e] += (float)v / (e + 3);\n"
    "    acc_min(m.least, (int16_t)(v / 3));\n"
    "    acc_max(m.most, v);\n"
    "    acc_min(m.lowest, v);\n"
    "    acc_min(m.deep[0], ((int64_t)record_index() - 1000) * 12345678901);\n"
    "    acc_min(m.deep[1], 98765432109 - (int64_t)record_index());\n"
    "    acc_max(m.high, 18446744073709551615u - (record_index() + 7) % 1001);\n"
    "    m.bits |= 1u << record_index() % 31;\n"
    "    m.odd ^= (int64_t)record_index();\n"
    "    t[record_index() % 7].x += (float)v;\n"
    "    t[record_index() % 7].n += 1u;\n"
    "    count += 1;\n"
    "}\n"
    "map total(double v, accum double sum) { sum += v; }\n"
    "map check(double v, accum double sum) { sum += 1 / v; sum += 8 / (int64_t)v; }\n";

typedef struct many {
    uint8_t n;
    double d;
    float f[3];
    int16_t least;
    double most, lowest;
    int64_t deep[2];
    uint64_t high;
    uint32_t bits;
    int64_t odd;
} many;
typedef struct cell { float x; uint16_t n; } cell;
typedef struct rows { many m; cell t[ROWS]; uint64_t count; } rows;

typedef struct adding {
    hdst_context *context;
    hdst_module *module;
    hdst_result *result;
    hdst_value *value[3];
} adding;

static const char *const name[] = {"m", "t", "count"};

static adding begin(hdst_context *context, const double *v, uint64_t count, bool cached)
{
    adding a = {.context = context, .module = module_of(context, kernels)};
    hdst_dataset *input = hdst_read(hdst_source_from_memory(context, v, count, sizeof *v), a.module, "double");
    hdst_map_spec *spec = hdst_map_spec_create(a.module, "add");
    hdst_bind_accum(spec, "t", ROWS);
    a.result = hdst_result_create(hdst_map(cached ? hdst_cache(input) : input, spec));
    a.value[0] = hdst_value_create(a.module, "many", 1);
    a.value[1] = hdst_value_create(a.module, "cell", ROWS);
    a.value[2] = hdst_value_create(a.module, "uint64_t", 1);
    return a;
}

static rows run(const adding *a)
{
    hdst_error error;
    rows all = {.count = 0};
    void *const to[] = {&all.m, all.t, &all.count};
    const size_t bytes[] = {sizeof all.m, sizeof all.t, sizeof all.count};
    RUN(a->result);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(hdst_value_set_result(a->value[i], a->result, name[i], &error), HDST_OK, "%s", error.message);       // from now on they stay there
        memcpy(to[i], hdst_result_rows(a->result, name[i], NULL), bytes[i]);
    }
    return all;
}

static bool same(double a, double b) { return !memcmp(&a, &b, sizeof a); }

static void expect_same(const rows *got, const rows *right, int turn, uint64_t records)
{
    const many *m = &got->m, *r = &right->m;
    const unsigned long long n = records;
    cr_assert(m->n == r->n && m->least == r->least && m->bits == r->bits && m->odd == r->odd, "run %d of %llu records", turn, n);
    cr_assert(same(m->d, r->d) && same(m->most, r->most) && same(m->lowest, r->lowest), "run %d of %llu records: %g %g, not %g %g", turn, n, m->d, m->most,
              r->d, r->most);
    cr_assert(m->deep[0] == r->deep[0] && m->deep[1] == r->deep[1] && m->high == r->high, "run %d of %llu records", turn, n);
    cr_assert_arr_eq(m->f, r->f, sizeof m->f, "run %d of %llu records", turn, n);
    for (int k = 0; k < ROWS; k++)
        cr_assert(same((double)got->t[k].x, (double)right->t[k].x) && got->t[k].n == right->t[k].n, "run %d of %llu records, row %d", turn, n, k);
    cr_assert_eq(got->count, records, "run %d: %llu, not %llu", turn, (unsigned long long)got->count, n);
}

static double *numbers(uint64_t count, int kind)
{
    static const double odd[] = {0.0, -0.0, 1e300, -1e300, 5e-324, 1e-310, 3.5, -7e22, 0x1p-80, 1.0};
    double *v = malloc((count + 1) * sizeof *v);
    for (uint64_t i = 0; i < count; i++) v[i] = kind && kind != 5 ? odd[(i * 7 + i / 11) % 10] : (double)((i * 2654435761u) % 100003) / 64 - 700;
    if (kind == 2 && count > 3) v[count / 2] = INFINITY;
    if (kind == 3 && count > 3) v[count / 2] = NAN;
    if (kind == 4) for (uint64_t i = 0; i < count; i++) v[i] = -0.0;
    if (kind == 5) for (uint64_t i = 1; i < count; i += 4) v[i] = 0x1p-40;       // all that some lanes have
    return v;
}

static hdst_context *gpu_form(uint64_t memory, uint64_t device_memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    if (memory) options.memory = memory;
    if (device_memory) options.device_memory = device_memory;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = true;
    return context;
}

static bool keys_meet(const adding *a) { return strstr(hdst_explain(a->result, NULL), "a work-group's meet in local memory first"); }

static void compare_in(hdst_context *context, uint64_t count, int kind, bool cached, bool meet)
{
    double *v = numbers(count, kind);
    adding a = begin(context, v, count, cached), plain = begin(context_in_form("interp"), v, count, true);
    const rows right = run(&plain);
    for (int t = 0; t < RUNS; t++) {
        const rows got = run(&a);
        expect_same(&got, &right, t, count);
    }
    cr_assert_eq(keys_meet(&a), meet, "%llu records", (unsigned long long)count);
    if (!cached && count) cr_assert(hdst_result_stats(a.result).device[0].slices > 1, "%llu records", (unsigned long long)count);
    hdst_context_destroy(a.context);
    hdst_context_destroy(plain.context);
    free(v);
}

static void compare(uint64_t count, int kind, bool cached, uint64_t memory, uint64_t device_memory)
{
    compare_in(gpu_form(memory, device_memory), count, kind, cached, true);
}

Test(group_flush, whatever_is_added)
{
    static const uint64_t counts[] = {0, 1, 2, 255, 257, 2049, 70001};
    if (!have_cpu()) return;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int kind = 0; kind < 6; kind++)
            if (counts[c] < 1000 || kind < 2) compare(counts[c], kind, true, 0, 0);
}

Test(group_flush, in_many_slices)
{
    if (have_cpu()) compare(700001, 0, false, 16 << 20, 4 << 20);
}

// More than a quarter of local memory is not given to keys.
Test(group_flush, where_keys_have_no_room_to_meet)
{
    for (uint64_t bytes = 1024; bytes <= 65536 && have_cpu(); bytes *= 8) {
        hdst_context *context = gpu_form(0, 0);
        context->engine->options.local_bytes = bytes;
        compare_in(context, 2049, 1, true, bytes > 1024);
    }
}

Test(group_flush, on_two_devices)
{
    if (have_team()) compare_in(pair_of_gpus(0, 0), 20001, 1, true, true);
}

// A run that failed in between leaves nothing behind.
Test(group_flush, behind_a_run_that_failed)
{
    enum { COUNT = 5000 };
    if (!have_cpu()) return;
    hdst_context *context = gpu_form(0, 0);
    hdst_module *module = module_of(context, kernels);
    double *v = numbers(COUNT, 0), right = 0;
    for (int i = 0; i < COUNT; i++) v[i] = i % 3 ? 2 : 4;
    for (int i = 0; i < COUNT; i++) right += 1 / v[i] + (double)(8 / (int64_t)v[i]);
    hdst_value *input = hdst_value_create(module, "double", COUNT), *sum = hdst_value_create(module, "double", 1);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read_value(input), hdst_map_spec_create(module, "check")));
    for (int t = 0; t < 6; t++) {
        hdst_error error;
        const double kept = v[2500];
        if (t % 2) v[2500] = 0;
        cr_assert_eq(hdst_value_set(input, v, COUNT), HDST_OK);
        v[2500] = kept;
        cr_assert_eq(hdst_run(r, &error), t % 2 ? HDST_E_RECORD : HDST_OK, "run %d", t);
        if (t % 2) continue;
        cr_assert_eq(hdst_value_set_result(sum, r, "sum", &error), HDST_OK, "%s", error.message);
        cr_assert(same(hdst_view_double(hdst_result_field(r, "sum", NULL), 0, 0), right), "run %d", t);
    }
    hdst_context_destroy(context);
    free(v);
}

static double total(hdst_context *context, const double *v, uint64_t count)
{
    hdst_error error;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *input = hdst_cache(hdst_read(hdst_source_from_memory(context, v, count, sizeof *v), module, "double"));
    hdst_result *r = hdst_result_create(hdst_map(input, hdst_map_spec_create(module, "total")));
    hdst_value *sum = hdst_value_create(module, "double", 1);
    RUN(r);
    cr_assert_eq(hdst_value_set_result(sum, r, "sum", &error), HDST_OK, "%s", error.message);
    const double all = hdst_view_double(hdst_result_field(r, "sum", NULL), 0, 0);
    hdst_context_destroy(context);
    return all;
}

// Lanes whose records are all so small that the sum's high word has nothing of them.
Test(group_flush, lanes_of_small_addends)
{
    static const uint64_t counts[] = {2, 200, 1001, 50001};
    if (!have_cpu()) return;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        double *v = numbers(counts[c], 5), right = 0;
        for (uint64_t i = 0; i < counts[c]; i++) right += i % 4 == 1 ? 0 : v[i];        // sixty-fourths, so this is exact
        right += (double)((counts[c] + 2) / 4) * 0x1p-40;
        const double got = total(gpu_form(0, 0), v, counts[c]);
        cr_assert(same(got, right), "%llu records: %a, not %a", (unsigned long long)counts[c], got, right);
        free(v);
    }
}
