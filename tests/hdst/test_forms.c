// SPDX-License-Identifier: Apache-2.0
// Loops that a form for a device takes apart, and that look simpler than they are: what they begin with, what bounds
// them and what they index by is set anew in them. In all forms they give what the same loops in C give.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { N = 333, WIDE = 64, UNITS = 16, ROWS = 4000 };

typedef struct sample { float x[WIDE]; int32_t k[UNITS]; uint32_t u; } sample;
typedef struct four { int64_t v[4]; } four;
typedef struct net { float w[UNITS][WIDE]; } net;
typedef struct total { int64_t n[WIDE]; float x[WIDE]; } total;

static const char *const forms[] = {"interp", "cpu", "gpu-form"};
static sample samples[N];
static net weights;
static four made[N];
static total expected[ROWS];

#define RECORDS "struct sample { float x[64]; int32_t k[16]; uint32_t u; };\nstruct four { int64_t v[4]; };\nstruct net { float w[16][64]; };\n" \
                "struct total { int64_t n[64]; float x[64]; };\n"

static void make_samples(void)
{
    srand(11);
    for (int i = 0; i < N; i++) {
        samples[i].u = (uint32_t)rand() % UNITS;
        for (int e = 0; e < WIDE; e++) samples[i].x[e] = (float)(rand() % 2000 - 1000) / 32;
        for (int e = 0; e < UNITS; e++) samples[i].k[e] = rand() % 201 - 100;
    }
    for (int u = 0; u < UNITS; u++)
        for (int e = 0; e < WIDE; e++) weights.w[u][e] = (float)(rand() % 100 - 50) / 8;
    memset(expected, 0, sizeof expected);
}

// --- Maps ---

static void each_form_gives(const char *text, four (*c)(const sample *s))
{
    make_samples();
    for (int i = 0; i < N; i++) made[i] = c(&samples[i]);
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) return;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, text);
        hdst_map_spec *spec = hdst_map_spec_create(module, "f");
        hdst_source *source = hdst_source_from_memory(context, samples, N, sizeof *samples);
        void *rows = NULL;
        uint64_t count = 0;
        hdst_error error = HDST_ERROR_INIT;
        cr_assert_eq(hdst_collect(hdst_map(hdst_read(source, module, "sample"), spec), &rows, &count, &error), HDST_OK, "%s: %s", forms[form], error.message);
        cr_assert_eq(count, N);
        for (int i = 0; i < N; i++)
            for (int v = 0; v < 4; v++)
                cr_assert_eq(((four *)rows)[i].v[v], made[i].v[v], "%s, record %d, number %d: %lld, not %lld", forms[form], i, v,
                             (long long)((four *)rows)[i].v[v], (long long)made[i].v[v]);
        hdst_rows_destroy(context, rows);
        hdst_map_spec_destroy(spec);
        hdst_source_destroy(source);
        hdst_module_destroy(module);
        hdst_context_destroy(context);
    }
}

// A vector's worth of turns goes beyond what a small counter can hold.
static four count_in_large_steps(const sample *p)
{
    four r = {{0}};
    for (uint8_t i = 0; i < 150; i = (uint8_t)(i + 100)) { if (p->u == 3 && i > 2) break; r.v[0] = r.v[0] * 3 + i + p->k[0]; }
    for (int8_t i = 0; i < 64; i = (int8_t)(i + 40)) { if (p->u == 3 && i > 2) break; r.v[1] = r.v[1] * 3 + i + p->k[0]; }
    for (uint8_t i = 0; i < 190; i = (uint8_t)(i + 64)) { if (p->u == 3 && i > 90) break; r.v[2] = r.v[2] * 3 + i + p->k[0]; }
    for (uint16_t i = 0; i < 40000; i = (uint16_t)(i + 20000)) { if (p->u == 3 && i > 90) break; r.v[3] = r.v[3] * 3 + i + p->k[0]; }
    return r;
}

Test(forms, small_counters_in_large_steps)
{
    each_form_gives(RECORDS "map f(sample p) -> four\n{\n    int64_t v[4];\n"
                    "    for (uint8_t i = 0; i < 150; i += 100) { if (p.u == 3 && i > 2) break; v[0] = v[0] * 3 + i + p.k[0]; }\n"
                    "    for (int8_t i = 0; i < 64; i += 40) { if (p.u == 3 && i > 2) break; v[1] = v[1] * 3 + i + p.k[0]; }\n"
                    "    for (uint8_t i = 0; i < 190; i += 64) { if (p.u == 3 && i > 90) break; v[2] = v[2] * 3 + i + p.k[0]; }\n"
                    "    for (uint16_t i = 0; i < 40000; i += 20000) { if (p.u == 3 && i > 90) break; v[3] = v[3] * 3 + i + p.k[0]; }\n"
                    "    return (four){ { v[0], v[1], v[2], v[3] } };\n}\n", count_in_large_steps);
}

static four count_triangles(const sample *p)
{
    uint64_t up = 0, down = 0;      // they wrap
    for (uint32_t j = 0; j < 60; j++) {
        int32_t n = 0;
        for (uint32_t i = 0; i < j; i++) n += (int32_t)(p->x[i] * 2);
        up = up * 31 + (uint64_t)n;
    }
    for (uint32_t j = 0; j < 60; j++) {
        int32_t n = 0;
        for (uint32_t i = j; i < 64; i++) n += (int32_t)p->x[i];
        down = down * 31 + (uint64_t)n;
    }
    return (four){{(int64_t)up, (int64_t)down, 0, 0}};
}

Test(forms, inner_loops_bounded_by_outer_ones)
{
    each_form_gives(RECORDS "map f(sample p) -> four\n{\n    int64_t up = 0, down = 0;\n"
                    "    for (uint32_t j = 0; j < 60; j++) {\n        int32_t n = 0;\n"
                    "        for (uint32_t i = 0; i < j; i++) n += (int32_t)(p.x[i] * 2);\n        up = up * 31 + n;\n    }\n"
                    "    for (uint32_t j = 0; j < 60; j++) {\n        int32_t n = 0;\n"
                    "        for (uint32_t i = j; i < 64; i++) n += (int32_t)p.x[i];\n        down = down * 31 + n;\n    }\n"
                    "    return (four){ { up, down, 0, 0 } };\n}\n", count_triangles);
}

// --- Tables ---

static void each_form_adds_up(const char *text, bool has_weights, void (*c)(const sample *s))
{
    make_samples();
    for (int i = 0; i < N; i++) c(&samples[i]);
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) return;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, text);
        hdst_map_spec *spec = hdst_map_spec_create(module, "f");
        hdst_value *value = has_weights ? hdst_value_create(module, "net", 1) : NULL;
        if (has_weights) hdst_value_set(value, &weights, 1);
        if (has_weights) hdst_bind_value(spec, "n", value);
        hdst_bind_accum(spec, "t", ROWS);
        hdst_source *source = hdst_source_from_memory(context, samples, N, sizeof *samples);
        hdst_result *result = hdst_result_create(hdst_map(hdst_read(source, module, "sample"), spec));
        RUN(result);
        const total *rows = hdst_result_rows(result, "t", NULL);
        for (int r = 0; r < ROWS; r++)
            for (int e = 0; e < WIDE; e++)
                cr_assert_eq(rows[r].n[e], expected[r].n[e], "%s, row %d, element %d: %lld, not %lld", forms[form], r, e,
                             (long long)rows[r].n[e], (long long)expected[r].n[e]);
        hdst_result_destroy(result);
        hdst_value_destroy(value);
        hdst_map_spec_destroy(spec);
        hdst_source_destroy(source);
        hdst_module_destroy(module);
        hdst_context_destroy(context);
    }
}

static void add_running_sums(const sample *p)
{
    for (uint32_t i = 0; i < WIDE; i++) {
        int32_t k = 0;
        for (uint32_t h = 0; h < UNITS; h++) {
            expected[p->u].n[i] += k;
            k += p->k[h] * (int32_t)p->x[i];
        }
    }
}

// A table too large for local memory: the work-group makes such loops together.
Test(forms, sums_that_begin_anew_around_an_inner_loop)
{
    each_form_adds_up(RECORDS "map f(sample p, accum total t[])\n{\n"
                      "    for (uint32_t i = 0; i < 64; i++) {\n        int32_t k = 0;\n"
                      "        for (uint32_t h = 0; h < 16; h++) { t[p.u].n[i] += k; k += p.k[h] * (int32_t)p.x[i]; }\n    }\n}\n", false, add_running_sums);
}

static void add_by_small_counters(const sample *p)
{
    for (int i = 0; i < WIDE; i++) expected[p->u].n[i] += p->k[3] + i;
    for (int i = 0; i < WIDE; i++) expected[p->u + 1].n[i] += p->k[i % UNITS];
}

Test(forms, loops_over_elements_by_small_counters)
{
    each_form_adds_up(RECORDS "map f(sample p, accum total t[])\n{\n    for (uint8_t i = 0; i < 64; i++) t[p.u].n[i] += p.k[3] + i;\n"
                      "    for (int8_t i = 0; i < 64; i++) t[p.u + 1].n[i] += p.k[i % 16];\n}\n", false, add_by_small_counters);
}

// The dots are sums of few enough bits to be exact in any order.
static void add_dots_of_the_row_before(const sample *p)
{
    double s = 0;
    uint32_t k = 7;
    for (uint32_t h = 0; h < UNITS; h++) {
        double d = 0;
        for (int i = 0; i < WIDE; i++) d += (double)weights.w[k][i] * p->x[i];
        s = s * 0.5 + d;
        k = h;
    }
    expected[0].n[0] += (int64_t)(s * 1000);
}

Test(forms, dots_with_the_row_that_the_turn_before_left)
{
    each_form_adds_up(RECORDS "map f(sample p, broadcast net n, accum net g, accum total t[])\n{\n    double s = 0;\n    uint32_t k = 7;\n"
                      "    for (uint32_t h = 0; h < 16; h++) {\n        uint32_t last = k;\n        k = h;\n        float d = dot(n.w[last], p.x);\n"
                      "        s = s * 0.5 + d;\n"
                      "        for (uint32_t i = 0; i < 64; i++) g.w[h][i] += d * p.x[i];\n    }\n    t[0].n[0] += (int64_t)(s * 1000);\n"
                      "}\n", true, add_dots_of_the_row_before);
}

// --- Where a loop begins ---

static four begin_where_the_body_moves(const sample *p)
{
    int64_t s = 0;
    int32_t x = 51 + (int32_t)p->u;
    for (int32_t i = x; i < 100; i++) {
        s = (int64_t)((uint64_t)s * 5 + (uint64_t)i);       // as kernels do, where C does not say
        x = i / 2;
    }
    return (four){{s, x, 0, 0}};
}

Test(forms, loops_that_assign_to_what_they_began_with)
{
    each_form_gives(RECORDS "map f(sample p) -> four\n{\n    int64_t s = 0;\n    int32_t x = 51 + (int32_t)p.u;\n"
                    "    for (int32_t i = x; i < 100; i++) { s = s * 5 + i; x = i / 2; }\n    return (four){ { s, x, 0, 0 } };\n"
                    "}\n", begin_where_the_body_moves);
}

// What is known of x in a branch says nothing of where the loop began: the index is out of range, and is found to be.
Test(forms, a_check_is_made_of_an_index_that_only_seems_in_range)
{
    make_samples();
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) return;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, RECORDS "map f(sample p) -> int64_t\n{\n    int32_t t[50];\n    int64_t s = 0;\n    int32_t x = 0;\n"
                                                         "    for (int32_t i = x; i < 100; i++) { s += t[x > 50 ? i - 51 : 0]; x = 60; "
                                                         "if (i > 49 + (int32_t)p.u) break; }\n    return s;\n}\n");
        hdst_map_spec *spec = hdst_map_spec_create(module, "f");
        hdst_source *source = hdst_source_from_memory(context, samples, N, sizeof *samples);
        hdst_result *result = hdst_result_create(hdst_map(hdst_read(source, module, "sample"), spec));
        hdst_error error;
        cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD, "%s", forms[form]);
        cr_expect_not_null(strstr(error.message, "index -50 out of range 0..49"), "%s: %s", forms[form], error.message);
        hdst_result_destroy(result);
        hdst_map_spec_destroy(spec);
        hdst_source_destroy(source);
        hdst_module_destroy(module);
        hdst_context_destroy(context);
    }
}

// --- Reduces ---

// Of numbers && and || are not what & and | are of their bits.
Test(forms, conditions_of_numbers_are_combined_as_such)
{
    static const int32_t numbers[] = {2, 1, 4, 8}, none[] = {2, 0, 4, 8};
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) return;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, "reduce every(int32_t a, int32_t b) { return a && b; }\n"
                                                 "associative reduce some(int32_t a, int32_t b) { return a || b; }\n");
        for (int n = 0; n < 2; n++) {
            hdst_source *source = hdst_source_from_memory(context, n ? none : numbers, 4, sizeof *numbers);
            hdst_result *every = hdst_result_create(hdst_reduce(hdst_read(source, module, "int32_t"), module, "every"));
            hdst_result *some = hdst_result_create(hdst_reduce(hdst_read(source, module, "int32_t"), module, "some"));
            RUN(every);
            RUN(some);
            cr_expect_eq(*(const int32_t *)hdst_result_rows(every, NULL, NULL), !n, "%s", forms[form]);
            cr_expect_eq(*(const int32_t *)hdst_result_rows(some, NULL, NULL), 1, "%s", forms[form]);
            hdst_result_destroy(every);
            hdst_result_destroy(some);
            hdst_source_destroy(source);
        }
        hdst_module_destroy(module);
        hdst_context_destroy(context);
    }
}
