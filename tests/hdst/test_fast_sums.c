// SPDX-License-Identifier: Apache-2.0
// Sums that may be plain: close to the exact ones, and said to be what they are; in the interpreter, and where nobody asked, exact.
#include "tests/hdst/support.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { N = 20011, ROWS = 5 };

typedef struct row { float x; uint32_t k; double w; } row;

static row rows[N];

static const char kernels[] =
    "struct row { float x; uint32_t k; double w; };\n"
    "struct total { float x; double w; uint32_t n; };\n"
    "map sums(row r, accum total t[], accum float all, accum double weight)\n"
    "{\n"
    "    t[r.k].x += r.x;\n"
    "    t[r.k].w += r.w;\n"
    "    t[r.k].n += 1;\n"
    "    all += r.x;\n"
    "    weight += r.w;\n"
    "}\n"
    "map count(row r, accum uint64_t n) { n += r.k; }\n";

typedef struct sums { float x[ROWS], all; double w[ROWS], weight; uint32_t n[ROWS]; } sums;

static void make_rows(void)
{
    srand(7);
    for (int i = 0; i < N; i++) rows[i] = (row){(float)rand() / (float)RAND_MAX, (uint32_t)rand() % ROWS, (double)rand() / RAND_MAX + 0x1p-40};
}

static hdst_context *open_context(const char *form, bool fast, size_t size)
{
    const bool gpu = !strcmp(form, "gpu-form");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.size = size;
    options.device = gpu ? "cpu" : form;
    options.fast_sums = fast;
    hdst_context *context = hdst_context_create(&options);
    cr_assert(context->engine);
    context->engine->gpu_form_on_cpu = gpu;
    return context;
}

static hdst_result *make_result(hdst_context *context)
{
    hdst_module *module = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(module, "sums");
    hdst_bind_accum(spec, "t", ROWS);
    return hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row"), spec));
}

static sums read_sums(hdst_result *r)
{
    sums s = {.all = (float)hdst_view_double(hdst_result_field(r, "all", NULL), 0, 0), .weight = hdst_view_double(hdst_result_field(r, "weight", NULL), 0, 0)};
    for (uint64_t k = 0; k < ROWS; k++) {
        s.x[k] = (float)hdst_view_double(hdst_result_field(r, "t", "x"), k, 0);
        s.w[k] = hdst_view_double(hdst_result_field(r, "t", "w"), k, 0);
        s.n[k] = (uint32_t)hdst_view_int64(hdst_result_field(r, "t", "n"), k, 0);
    }
    return s;
}

// Additions of numbers that are not negative, in any order: the relative error is at most one rounding for each (Higham, Accuracy and Stability, 4.2).
static void expect_close(const sums *got, const sums *exact, const char *form)
{
    const double of_float = N * 0x1p-24 * 1.01, of_double = N * 0x1p-53 * 1.01;
    cr_expect(fabs((double)got->all - (double)exact->all) <= of_float * (double)exact->all, "%s", form);
    cr_expect(fabs(got->weight - exact->weight) <= of_double * exact->weight, "%s", form);
    for (int k = 0; k < ROWS; k++) {
        cr_expect(fabs((double)got->x[k] - (double)exact->x[k]) <= of_float * (double)exact->x[k], "%s", form);
        cr_expect(fabs(got->w[k] - exact->w[k]) <= of_double * exact->w[k], "%s", form);
        cr_expect_eq(got->n[k], exact->n[k], "%s: integers stay exact", form);
    }
}

static bool same(const sums *a, const sums *b)
{
    return a->all == b->all && a->weight == b->weight && !memcmp(a->x, b->x, sizeof a->x) && !memcmp(a->w, b->w, sizeof a->w) && !memcmp(a->n, b->n, sizeof a->n);
}

static sums exact_sums(void)
{
    hdst_context *context = open_context("interp", false, sizeof(hdst_context_options));
    hdst_result *r = make_result(context);
    RUN(r);
    cr_assert_eq(hdst_result_stats(r).fast_sums, 0);
    const sums exact = read_sums(r);
    hdst_context_destroy(context);
    return exact;
}

Test(fast_sums, are_close_and_said_to_be_what_they_are)
{
    static const char *const forms[] = {"interp", "cpu", "gpu-form"};
    make_rows();
    const sums exact = exact_sums();
    for (size_t f = 0; f < 3; f++) {
        if (f && !have_cpu()) continue;
        hdst_context *context = open_context(forms[f], true, sizeof(hdst_context_options));
        hdst_result *r = make_result(context);
        hdst_error error;
        RUN(r);
        const sums got = read_sums(r);
        const uint32_t fast = hdst_result_stats(r).fast_sums;
        const char *text = hdst_explain(r, &error);
        expect_close(&got, &exact, forms[f]);
        cr_expect(fast || same(&got, &exact), "%s: its sums were not exact", forms[f]);
        cr_expect_eq(fast > 0, strstr(text, "float sums are fast") != NULL, "%s: %u sums, but\n%s", forms[f], fast, text);
        cr_expect_eq(fast == 0, strstr(text, "fast sums were asked for, but") != NULL, "%s: %u sums, but\n%s", forms[f], fast, text);
        if (f == 0) cr_expect(fast == 0 && strstr(text, "the interpreter's are exact"), "%s", text);
        hdst_context_destroy(context);
    }
}

Test(fast_sums, nobody_speaks_of_them_where_there_are_no_float_sums)
{
    hdst_context *context = open_context("interp", true, sizeof(hdst_context_options));
    hdst_module *module = module_of(context, kernels);
    make_rows();
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row"), module, "count"));
    RUN(r);
    cr_expect(!strstr(hdst_explain(r, NULL), "fast"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
}

// A program that was built before the option was there gives fewer bytes: what lies behind them is none of its options.
Test(fast_sums, older_programs_have_exact_ones)
{
    hdst_context *context = open_context("interp", true, offsetof(hdst_context_options, fast_sums));
    cr_assert(!context->engine->fast_sums);
    hdst_context_destroy(context);
}
