// SPDX-License-Identifier: Apache-2.0
// Levels that are left out: what enters and leaves each, and that no bit of a result changes. Whole numbers and
// extremes against plain C, sums of floats over 60 binades against the run in which all levels combine (other tests
// hold that against a big integer).
#include "tests/hdst/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { RECORDS = 30000, ROWS = 37 };

typedef struct row { uint32_t k; float v; double w; int32_t i, j; } row;     // no padding: results are compared byte by byte
typedef struct total { float v; uint32_t bits; double w; uint64_t n; int32_t least, most; float lowest, zero; } total;

static const char text[] =
    "struct row { uint32_t k; float v; double w; int32_t i; int32_t j; };\n"
    "struct total { float v; uint32_t bits; double w; uint64_t n; int32_t least; int32_t most; float lowest; float zero; };\n"
    "struct sums { double w; uint64_t n; };\n"
    "map gather(row r, accum total t[], accum total all)\n"
    "{\n"
    "    t[r.k % 37].v += r.v;\n"
    "    t[r.k % 37].w += r.w;\n"
    "    t[r.k % 37].n += 1;\n"
    "    acc_min(t[r.k % 37].least, r.i);\n"
    "    acc_max(t[r.k % 37].most, r.i);\n"
    "    acc_min(t[r.k % 37].lowest, r.v);\n"
    "    t[r.k % 37].bits |= r.k;\n"
    "    all.v += r.v;\n"
    "    all.w += r.w;\n"
    "    if (r.i > 0) all.n += 1;\n"
    "    acc_min(all.least, r.i);\n"
    "    acc_max(all.most, r.i);\n"
    "    acc_min(all.lowest, r.v);\n"
    "    all.bits |= r.k;\n"
    "}\n"
    "map pairs(row r) -> (key uint32_t k, double w, uint64_t n) { return (r.k % 37u, r.w, 1); }\n"
    "reduce add(sums a, sums b) { return (sums){ .w = a.w + b.w, .n = a.n + b.n }; }\n"
    "associative reduce nearest(row a, row b) { return a.w * a.w <= b.w * b.w ? a : b; }\n"
    "reduce left(row a, row b) { return (row){ .k = a.k * 31u + b.k, .v = a.v, .w = a.w, .i = b.i, .j = a.j ^ b.i }; }\n";

static row rows[RECORDS];
static total expected[ROWS], expected_all;

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t r = 0; r < ROWS; r++) expected[r] = (total){.least = INT32_MAX, .most = INT32_MIN, .lowest = INFINITY};
    expected_all = expected[0];
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double v = ldexp((double)(int32_t)(state >> 40) - 8388608, (int)(state % 60) - 40);
        rows[i] = (row){(uint32_t)(state >> 20), (float)v, v * 1.0009765625, (int32_t)(state >> 11), (int32_t)i};
        total *const t[] = {&expected[rows[i].k % ROWS], &expected_all};
        for (int j = 0; j < 2; j++) {
            t[j]->n += j == 0 || rows[i].i > 0;
            if (rows[i].i < t[j]->least) t[j]->least = rows[i].i;
            if (rows[i].i > t[j]->most) t[j]->most = rows[i].i;
            if (rows[i].v < t[j]->lowest) t[j]->lowest = rows[i].v;
            t[j]->bits |= rows[i].k;
        }
    }
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static job open_job(const char *form, hdst_hpr hpr)
{
    const bool gpu = !strcmp(form, "gpu-form");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu ? "cpu" : form;
    options.hpr = hpr;
    job j = {.context = hdst_context_create(&options)};
    j.context->engine->options.gpu_form_on_cpu = gpu;
    j.module = module_of(j.context, text);
    j.data = hdst_read(hdst_source_from_memory(j.context, rows, RECORDS, sizeof(row)), j.module, "row");
    return j;
}

// Every level takes what the one below gave, and what the highest that combines gives is the result.
static void check_levels(hdst_result *r, hdst_hpr hpr, uint64_t out, const char *what)
{
    const hdst_run_stats s = hdst_result_stats(r);
    cr_assert(s.level_count == 3 && !strcmp(s.level[0].name, "block") && !strcmp(s.level[1].name, "device") && !strcmp(s.level[2].name, "node"), "%s", what);
    cr_assert(s.level[0].in == RECORDS && s.level[1].in == s.level[0].out && s.level[2].in == s.level[1].out && s.level[2].out == out, "%s", what);
    if (hpr == HDST_HPR_NONE) cr_assert(s.level[0].out == RECORDS, "%s", what);
    if (hpr <= HDST_HPR_BLOCK) cr_assert(s.level[1].out == s.level[1].in, "%s", what);
    else cr_assert(s.level[1].out == out, "%s", what);
}

static void expect_explained(hdst_result *r, const char *words)
{
    hdst_error error = HDST_ERROR_INIT;
    const char *explanation = hdst_explain(r, &error);
    cr_assert(strstr(explanation, words), "no '%s' in:\n%s%s", words, explanation, error.message);
}

static const char *const forms[] = {"interp", "cpu", "gpu-form"};
static const char *const names[] = {"auto", "none", "block", "device", "node", "cluster"};

#define ON_EACH_FORM(form) for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) if (form == 0 || have_cpu())

static void check_whole_numbers(const total *got, const total *right, const char *what)
{
    cr_assert(got->n == right->n && got->least == right->least && got->most == right->most && got->lowest == right->lowest &&
              got->bits == right->bits, "%s", what);
}

Test(levels, accumulators_are_the_same_without_blocks)
{
    fill();
    ON_EACH_FORM(form) {
        total table[ROWS], all;
        for (hdst_hpr hpr = HDST_HPR_AUTO; hpr <= HDST_HPR_DEVICE; hpr++) {
            char what[64];
            snprintf(what, sizeof what, "%s, hpr %s", forms[form], names[hpr]);
            const job j = open_job(forms[form], hpr);
            hdst_map_spec *spec = hdst_map_spec_create(j.module, "gather");
            hdst_bind_accum(spec, "t", ROWS);
            hdst_result *r = hdst_result_create(hdst_map(j.data, spec));
            RUN(r);
            const total *t = hdst_result_rows(r, "t", NULL), *a = hdst_result_rows(r, "all", NULL);
            for (uint32_t i = 0; i < ROWS; i++) check_whole_numbers(&t[i], &expected[i], what);
            check_whole_numbers(a, &expected_all, what);
            if (hpr == HDST_HPR_AUTO) memcpy(table, t, sizeof table), memcpy(&all, a, sizeof all);
            else cr_assert(!memcmp(table, t, sizeof table) && !memcmp(&all, a, sizeof all), "%s", what);
            check_levels(r, hpr ? hpr : HDST_HPR_CLUSTER, (ROWS + 1) * 8, what);
            if (hpr == HDST_HPR_NONE) expect_explained(r, "hpr none: blocks have no tables");
            if (hpr == HDST_HPR_BLOCK) expect_explained(r, "hpr block: only blocks combine");
            hdst_context_destroy(j.context);
        }
    }
}

static hdst_dataset *reduced(const job *j, int kind)
{
    hdst_dataset *pairs = hdst_map_function(j->data, j->module, "pairs");
    switch (kind) {
    case 0: return hdst_reduce_by_key(pairs, j->module, "add");
    case 1: return hdst_reduce_dense(pairs, j->module, "add", ROWS);
    case 2: return hdst_reduce(j->data, j->module, "nearest");
    default: return hdst_reduce(j->data, j->module, "left");
    }
}

Test(levels, reductions_are_the_same_at_each_level)
{
    static const uint64_t out[] = {ROWS, ROWS * 2, 1, 1};       // records, or cells
    fill();
    ON_EACH_FORM(form)
        for (int kind = 0; kind < 4; kind++) {
            char first[4096];
            for (hdst_hpr hpr = HDST_HPR_AUTO; hpr <= HDST_HPR_CLUSTER; hpr++) {
                char what[64];
                uint64_t n;
                snprintf(what, sizeof what, "%s, kind %d, hpr %s", forms[form], kind, names[hpr]);
                const job j = open_job(forms[form], hpr);
                hdst_dataset *d = reduced(&j, kind);
                hdst_result *r = hdst_result_create(d);
                RUN(r);
                const void *got = hdst_result_rows(r, NULL, &n);
                const size_t bytes = n * (kind == 0 ? 24 : kind == 1 ? 16 : sizeof(row));
                cr_assert(n == (kind < 2 ? ROWS : 1) && bytes <= sizeof first, "%s: %llu records", what, (unsigned long long)n);
                if (hpr == HDST_HPR_AUTO) memcpy(first, got, bytes);
                else cr_assert(!memcmp(first, got, bytes), "%s", what);
                if (kind < 2) check_levels(r, hpr ? hpr : HDST_HPR_CLUSTER, out[kind], what);
                const hdst_run_stats s = hdst_result_stats(r);
                if (kind == 2) cr_assert(s.level[0].in == RECORDS && s.level[0].out == (RECORDS + 63) / 64 && s.level[1].out == 1, "%s", what);
                if (kind == 3) cr_assert(s.level[0].out == RECORDS && s.level[1].out == RECORDS && s.level[2].out == 1, "%s", what);
                if (hpr == HDST_HPR_NONE)
                    expect_explained(r, kind >= 2 ? "hpr none: of no effect" : kind ? "hpr none: blocks have no tables" : "hpr none: tuples pass unreduced");
                hdst_context_destroy(j.context);
            }
        }
}

Test(levels, the_environment_names_the_highest)
{
    fill();
    setenv("HDST_HPR", "none", 1);
    const job j = open_job("interp", HDST_HPR_AUTO), own = open_job("interp", HDST_HPR_NODE);
    hdst_result *r = hdst_result_create(reduced(&j, 0)), *o = hdst_result_create(reduced(&own, 0));
    RUN(r);
    RUN(o);
    check_levels(r, HDST_HPR_NONE, ROWS, "environment");
    check_levels(o, HDST_HPR_NODE, ROWS, "option before environment");
    hdst_context_destroy(j.context);
    hdst_context_destroy(own.context);
    unsetenv("HDST_HPR");
}

Test(levels, a_level_that_is_none_is_told)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.hpr = (hdst_hpr)9;
    hdst_context *context = hdst_context_create(&options);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_context_status(context, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "hpr is 9") && strstr(error.hint, "HDST_HPR_NONE"));
    hdst_context_destroy(context);
}
