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
    "map count(row r, accum uint64_t n) { n += r.k; }\n"
    "struct eight { float s[8]; };\n"
    "map narrow(row r, accum eight n) { for (uint32_t i = 0; i < 8; i++) n.s[i] += (float)(r.w * r.x); }\n";

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
    context->engine->options.gpu_form_on_cpu = gpu;
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
    return a->all == b->all && a->weight == b->weight && !memcmp(a->x, b->x, sizeof a->x) && !memcmp(a->w, b->w, sizeof a->w) &&
        !memcmp(a->n, b->n, sizeof a->n);
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

// --- Sums that are added together ---

enum { TURNS = 20 };        // more than are unrolled

typedef struct small_row { float x, y; double w; } small_row;

static const char together[] =
    "struct small { float x; float y; double w; };\n"
    "struct total { float x; float xy; double xx; double w; float twice[2]; float turn[20]; float pair[40]; double met[20]; };\n"
    "map add(small r, accum total t)\n"
    "{\n"
    "    t.x += r.x;\n"
    "    t.xy += r.x * r.y;\n"
    "    t.xx += r.x * r.x;\n"
    "    t.w += r.w * r.w;\n"
    "    t.twice[1] += r.x;\n"
    "    t.twice[1] += r.y - r.x;\n"
    "    for (uint32_t e = 0; e < 20; e++) {\n"
    "        float f = r.x + (float)e;\n"
    "        t.turn[e] += f;\n"
    "        t.pair[2 * e] += f * r.y;\n"
    "        t.pair[2 * e + 1] += r.y;\n"
    "        t.met[e] += r.w;\n"
    "        t.met[e / 2 * 2] += r.w * r.w;\n"        // of the same element, every other turn
    "    }\n"
    "}\n";

// Whole numbers that a float holds in any order of additions: whatever is lost or added twice shows.
static void expect_whole(hdst_result *r, const char *field, uint64_t element, int64_t wanted, hdst_layout layout)
{
    const double got = hdst_view_double(hdst_result_field(r, "t", field), 0, element);
    cr_expect_eq(got, (double)wanted, "layout %d: %s[%d] is %.17g, not %lld", (int)layout, field, (int)element, got, (long long)wanted);
}

static void check_together(const small_row *small, uint64_t n, hdst_layout layout)
{
    hdst_context *context = open_context("cpu", true, sizeof(hdst_context_options));
    hdst_module *module = module_of(context, together);
    hdst_dataset *data = hdst_with_layout(hdst_read(hdst_source_from_memory(context, small, n, sizeof *small), module, "small"), layout);
    hdst_result *r = hdst_result_create(hdst_map_function(data, module, "add"));
    RUN(r);
    cr_expect_gt(hdst_result_stats(r).fast_sums, 0);
    int64_t x = 0, y = 0, xy = 0, xx = 0, w = 0, ww = 0;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t a = (int64_t)small[i].x, b = (int64_t)small[i].y, c = (int64_t)small[i].w;
        x += a, y += b, xy += a * b, xx += a * a, w += c, ww += c * c;
    }
    expect_whole(r, "x", 0, x, layout);
    expect_whole(r, "xy", 0, xy, layout);
    expect_whole(r, "xx", 0, xx, layout);
    expect_whole(r, "w", 0, ww, layout);
    expect_whole(r, "twice", 0, 0, layout);
    expect_whole(r, "twice", 1, y, layout);
    for (int64_t e = 0; e < TURNS; e++) {
        expect_whole(r, "turn", (uint64_t)e, x + e * (int64_t)n, layout);
        expect_whole(r, "pair", 2 * (uint64_t)e, xy + e * y, layout);
        expect_whole(r, "pair", 2 * (uint64_t)e + 1, y, layout);
        expect_whole(r, "met", (uint64_t)e, w + (e % 2 ? 0 : 2 * ww), layout);
    }
    hdst_context_destroy(context);
}

Test(fast_sums, whole_numbers_come_out_as_they_are_however_many_are_added_together)
{
    static small_row small[N];
    if (!have_cpu()) return;
    srand(11);
    for (int i = 0; i < N; i++) small[i] = (small_row){(float)(rand() % 16 - 7), (float)(rand() % 16 - 5), rand() % 1000 - 300};
    static const hdst_layout layouts[] = {HDST_SOA, HDST_AOS, HDST_AOSOA};
    for (size_t l = 0; l < 3; l++) check_together(small, N, layouts[l]);
    check_together(small, 100, HDST_SOA);       // less than a block
}

// Sixteen floats a vector, made of as many doubles.
Test(fast_sums, of_floats_that_are_made_of_doubles)
{
    if (!has_cpu()) return;
    make_rows();
    double sum[3];
    for (int i = 0; i < 3; i++) {           // exact in the interpreter and on the CPU, fast
        hdst_context *context = open_context(i ? "cpu" : "interp", i == 2, sizeof(hdst_context_options));
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *in = hdst_with_layout(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row"), HDST_SOA);
        hdst_result *r = hdst_result_create(hdst_map_function(in, module, "narrow"));
        RUN(r);
        sum[i] = hdst_view_double(hdst_result_field(r, "n", "s"), 0, 7);
        hdst_context_destroy(context);
    }
    cr_assert_eq(sum[0], sum[1]);
    cr_assert_float_eq(sum[0], sum[2], 1e-4 * sum[0]);
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
    cr_assert(!context->engine->options.fast_sums);
    hdst_context_destroy(context);
}
