// SPDX-License-Identifier: Apache-2.0
// Gradients: a factor times a row, added to a row of a table that is too large for local memory, in a loop with other work. Addends lie sixty binades
// and more apart and cancel each other, some are zeros; in all forms the sums are what whole numbers of 128 bits say, rounded once.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 300, WIDE = 160, UNITS = 40, LEAST = -56 /* binary places of the smallest addend's last bit */ };

typedef struct sample { float x[WIDE]; float f; uint32_t k; } sample;
typedef struct net { float w[UNITS][WIDE]; float b[UNITS]; } net;

static sample samples[N];
static __int128 sums[UNITS][WIDE], biases[UNITS];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

static const char text[] = "struct sample { float x[160]; float f; uint32_t k; };\n"
                           "struct net { float w[40][160]; float b[40]; };\n"
                           "map f(sample p, accum net g, accum double all)\n{\n"
                           "    float last = 0;\n"
                           "    for (uint32_t h = 0; h < 40; h++) {\n"
                           "        float d = p.f * (float)((h + p.k) % 5u);\n"
                           "        last = max(last, d);\n"
                           "        g.b[h] += d;\n"
                           "        for (uint32_t i = 0; i < 160; i++) g.w[h][i] += d * p.x[i];\n"
                           "    }\n"
                           "    all += last;\n}\n";

// Some records' addends to some rows are far larger than all others. Since records add to elements of their own beside, loops of work-groups make the
// sums in the same kernel, several rows at once.
static const char with_rows_of_their_own[] = "struct sample { float x[160]; float f; uint32_t k; };\n"
                                             "struct net { float w[40][160]; float b[40]; float own[101]; };\n"
                                             "map f(sample p, accum net g, accum double all)\n{\n"
                                             "    for (uint32_t h = 0; h < 40; h++) {\n"
                                             "        float d = p.f * (h % 7u == 3u && p.k == 100u ? 0x1p70f : (float)(h % 5u));\n"
                                             "        for (uint32_t i = 0; i < 160; i++) g.w[h][i] += d * p.x[i];\n"
                                             "    }\n"
                                             "    g.own[p.k] += p.f;\n"
                                             "    all += p.f;\n}\n";

// On a GPU of 48 KiB of local memory, where the table has no room.
static hdst_context *context_of(const char *form)
{
    hdst_context *context = context_in_form(form);
    if (context->engine) context->engine->options.local_bytes = 48 << 10;
    return context;
}

static __int128 whole(float v) { return v == 0 ? 0 : (__int128)(int64_t)ldexpf(v, 24 - ilogbf(v)) * ((__int128)1 << (ilogbf(v) - 24 - LEAST)); }
static float rounded(__int128 sum) { return ldexpf((float)sum, LEAST); }

// Numbers of few bits, so that no product is rounded. Of three records one is small, and one takes back what the other large one gave. Of `zeros` numbers
// of a row all but one are zeros, with 0 one of four is.
static void make_samples_with(int zeros)
{
    srand(5);
    memset(sums, 0, sizeof sums), memset(biases, 0, sizeof biases);
    for (int r = 0; r < N; r++) {
        samples[r].k = (uint32_t)rand() % 100;
        samples[r].f = ldexpf((float)(rand() % 255 - 127), r % 3 ? rand() % 30 - 14 : -14);
        for (int e = 0; e < WIDE; e++) {
            const bool zero = zeros ? rand() % zeros != 0 : rand() % 4 == 0;
            samples[r].x[e] = zero ? 0 : ldexpf((float)(rand() % 255 - 127), rand() % 28 - 14);
        }
        if (r % 3 == 2) {
            samples[r] = samples[r - 1];
            samples[r].f = -samples[r].f;
        }
        for (uint32_t h = 0; h < UNITS; h++) {
            const float d = samples[r].f * (float)((h + samples[r].k) % 5);
            biases[h] += whole(d);
            for (int e = 0; e < WIDE; e++) sums[h][e] += whole(d * samples[r].x[e]);
        }
    }
}

static void make_samples(void) { make_samples_with(0); }

static void expect_sums(const char *form)
{
    hdst_context *context = context_of(form);
    hdst_module *module = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(module, "f");
    hdst_source *source = hdst_source_from_memory(context, samples, N, sizeof *samples);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(source, module, "sample"), spec));
    RUN(result);
    const net *g = hdst_result_rows(result, "g", NULL);
    for (uint32_t h = 0; h < UNITS; h++) {
        cr_expect_eq(g->b[h], rounded(biases[h]), "%s, bias %u: %a, not %a", form, h, (double)g->b[h], (double)rounded(biases[h]));
        for (int e = 0; e < WIDE; e++)
            cr_expect_eq(g->w[h][e], rounded(sums[h][e]), "%s, row %u, element %d: %a, not %a", form, h, e, (double)g->w[h][e], (double)rounded(sums[h][e]));
    }
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(gradient_forms, sums_of_addends_far_apart_are_exact)
{
    make_samples();
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
        if (!form || have_cpu()) expect_sums(forms[form]);
}

Test(gradient_forms, of_rows_that_are_mostly_zeros)
{
    make_samples_with(6);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
        if (!form || have_cpu()) expect_sums(forms[form]);
}

// As many work-groups as have several tables merged at once; twice, since tables are empty again behind a merge.
Test(gradient_forms, tables_of_many_work_groups_meet)
{
    enum { TIMES = 14 };
    static sample many[TIMES * N];
    if (!have_cpu()) cr_skip_test("no CPU device");
    make_samples();
    for (int r = 0; r < TIMES * N; r++) many[r] = samples[r % N];
    hdst_context *context = context_of("gpu-form");
    hdst_module *module = module_of(context, text);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, many, TIMES * N, sizeof *many), module, "sample"),
                                                               module, "f"));
    for (int run = 0; run < 2; run++) {
        RUN(result);
        const net *g = hdst_result_rows(result, "g", NULL);
        for (uint32_t e = 0; e < UNITS * WIDE; e++)
            cr_assert_eq(g->w[e / WIDE][e % WIDE], rounded(TIMES * sums[e / WIDE][e % WIDE]), "run %d, row %u, element %u", run, e / WIDE, e % WIDE);
    }
    hdst_context_destroy(context);
}

// The gradient of all samples in a form, run once. Whoever asked lets go of it.
typedef struct gradient {
    hdst_context *context;
    hdst_module *module;
    hdst_map_spec *spec;
    hdst_source *source;
    hdst_result *result;
    const net *rows;
} gradient;

static gradient gradient_of(const char *program, hdst_context *context)
{
    gradient g = {.context = context, .module = module_of(context, program), .source = hdst_source_from_memory(context, samples, N, sizeof *samples)};
    g.spec = hdst_map_spec_create(g.module, "f");
    g.result = hdst_result_create(hdst_map(hdst_read(g.source, g.module, "sample"), g.spec));
    RUN(g.result);
    g.rows = hdst_result_rows(g.result, "g", NULL);
    return g;
}

static gradient gradient_in(hdst_context *context) { return gradient_of(text, context); }

static void let_go(gradient *g)
{
    hdst_result_destroy(g->result);
    hdst_map_spec_destroy(g->spec);
    hdst_source_destroy(g->source);
    hdst_module_destroy(g->module);
    hdst_context_destroy(g->context);
}

static void expect_bits_of_the_interpreter(void)
{
    float first[UNITS][WIDE];
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (form && !have_cpu()) return;
        gradient g = gradient_in(context_of(forms[form]));
        if (!form) memcpy(first, g.rows->w, sizeof first);       // it adds in superaccumulators alone
        cr_expect(!memcmp(first, g.rows->w, sizeof first), "%s", forms[form]);
        let_go(&g);
    }
}

// Addends of which nothing is left when they are added to each other first: large ones that cancel, and others that are 2^200 times smaller.
Test(gradient_forms, what_no_word_holds_is_added_all_the_same)
{
    make_samples();
    for (int r = 0; r < N; r++) samples[r].f = r % 30 == 1 ? 0x1p100f : r % 30 == 2 ? -0x1p100f : r % 30 == 4 ? 0x1p-100f : 0;
    expect_bits_of_the_interpreter();
}

// A product with an infinity is none of the sizes of what it is made of: of a zero it is no number.
Test(gradient_forms, zeros_by_infinities_are_no_numbers)
{
    make_samples();
    for (int r = 0; r < N; r++) {
        samples[r].f = r == 5 ? INFINITY : r % 7 == 3 ? 0 : 1;
        for (int e = 0; e < WIDE; e++) samples[r].x[e] = e == 3 ? 0 : e == 4 && r == 150 ? -INFINITY : e == 5 && r % 7 == 3 ? INFINITY : 1;
    }
    expect_bits_of_the_interpreter();
}

// Plain floats while a work-group goes through its records: no product is negative, so each addition costs a relative error of one rounding at most.
Test(gradient_forms, fast_sums_stay_in_registers_as_floats)
{
    if (!have_cpu()) return;
    make_samples();
    for (int r = 0; r < N; r++) {
        samples[r].f = (float)rand() / (float)RAND_MAX;
        for (int e = 0; e < WIDE; e++) samples[r].x[e] = (float)rand() / (float)RAND_MAX * (e == 77 ? 0x1p-34f : 1);      // far below a word's unit
    }
    hdst_context *context = context_of("gpu-form");
    cr_assert(context->engine);
    context->engine->options.fast_sums = true;
    gradient fast = gradient_in(context), exact = gradient_in(context_of("interp"));
    cr_expect_eq(hdst_result_stats(fast.result).fast_sums, 3);      // both of g, and the sum of all
    int rounded_ones = 0;
    for (int h = 0; h < UNITS; h++)
        for (int e = 0; e < WIDE; e++) {
            const double got = (double)fast.rows->w[h][e], right = (double)exact.rows->w[h][e];
            cr_expect_leq(fabs(got - right), right * N * 0x1p-24, "row %d, element %d: %a, not %a", h, e, got, right);
            rounded_ones += got != right;
        }
    cr_expect_gt(rounded_ones, 0, "all of them are exact");
    let_go(&fast);
    let_go(&exact);
}

enum { LARGE = 131 /* the record with large addends, which no sample takes */ };

// Of whole numbers.
static void make_samples_with_a_large_one(void)
{
    make_samples();
    for (int r = 0; r < N; r++) {
        samples[r].f = (float)(r % 9 + 1);
        samples[r].k = r == LARGE ? 100 : (uint32_t)r % 100;
        for (int e = 0; e < WIDE; e++) samples[r].x[e] = (float)((r + e) % 11 + 1);
    }
}

static __int128 sum_with_a_large_one(int h, int e)
{
    __int128 sum = 0;
    for (int r = 0; r < N; r++) {
        const __int128 by = h % 7 == 3 && r == LARGE ? (__int128)1 << 70 : h % 5;
        sum += (__int128)samples[r].f * (__int128)samples[r].x[e] * by;
    }
    return sum;
}

// Some turns of those that are made at once are made again, each for its own row.
Test(gradient_forms, turns_that_are_made_again_add_to_their_rows)
{
    make_samples_with_a_large_one();
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (form && !have_cpu()) return;
        gradient g = gradient_of(with_rows_of_their_own, context_of(forms[form]));
        for (int h = 0; h < UNITS; h++)
            for (int e = 0; e < WIDE; e++) {
                const float right = (float)sum_with_a_large_one(h, e);
                cr_assert_eq(g.rows->w[h][e], right, "%s, row %d, element %d: %a, not %a", forms[form], h, e, (double)g.rows->w[h][e], (double)right);
            }
        let_go(&g);
    }
}

// Sums of some turns fit no word. No addend is negative and none is rounded, so each addition costs a relative error of one rounding at most.
Test(gradient_forms, fast_sums_that_no_word_holds_stay_those_of_their_turns)
{
    if (!have_cpu()) return;
    make_samples_with_a_large_one();
    hdst_context *context = context_of("gpu-form");
    cr_assert(context->engine);
    context->engine->options.fast_sums = true;
    gradient fast = gradient_of(with_rows_of_their_own, context);
    cr_expect_gt(hdst_result_stats(fast.result).fast_sums, 1);
    for (int h = 0; h < UNITS; h++)
        for (int e = 0; e < WIDE; e++) {
            const double right = (double)sum_with_a_large_one(h, e), got = (double)fast.rows->w[h][e];
            cr_assert_leq(fabs(got - right), right * N * 0x1p-24, "row %d, element %d: %a, not %a", h, e, got, right);
        }
    let_go(&fast);
}
