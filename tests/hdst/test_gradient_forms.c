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

// On a GPU of 48 KiB of local memory, where the table has no room.
static hdst_context *context_of(const char *form)
{
    hdst_context *context = context_in_form(form);
    if (context->engine) context->engine->options.local_bytes = 48 << 10;
    return context;
}

static __int128 whole(float v) { return v == 0 ? 0 : (__int128)(int64_t)ldexpf(v, 24 - ilogbf(v)) * ((__int128)1 << (ilogbf(v) - 24 - LEAST)); }
static float rounded(__int128 sum) { return ldexpf((float)sum, LEAST); }

// Numbers of few bits, so that no product is rounded. Of three records one is small, and one takes back what the other large one gave.
static void make_samples(void)
{
    srand(5);
    memset(sums, 0, sizeof sums), memset(biases, 0, sizeof biases);
    for (int r = 0; r < N; r++) {
        samples[r].k = (uint32_t)rand() % 100;
        samples[r].f = ldexpf((float)(rand() % 255 - 127), r % 3 ? rand() % 30 - 14 : -14);
        for (int e = 0; e < WIDE; e++) samples[r].x[e] = rand() % 4 ? ldexpf((float)(rand() % 255 - 127), rand() % 28 - 14) : 0;
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

// Addends of which nothing is left when they are added to each other first: large ones that cancel, and others that are 2^200 times smaller.
Test(gradient_forms, what_no_word_holds_is_added_all_the_same)
{
    make_samples();
    for (int r = 0; r < N; r++) samples[r].f = r % 30 == 1 ? 0x1p100f : r % 30 == 2 ? -0x1p100f : r % 30 == 4 ? 0x1p-100f : 0;
    float first[UNITS][WIDE];
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (form && !have_cpu()) return;
        hdst_context *context = context_of(forms[form]);
        hdst_module *module = module_of(context, text);
        hdst_map_spec *spec = hdst_map_spec_create(module, "f");
        hdst_source *source = hdst_source_from_memory(context, samples, N, sizeof *samples);
        hdst_result *result = hdst_result_create(hdst_map(hdst_read(source, module, "sample"), spec));
        RUN(result);
        const net *g = hdst_result_rows(result, "g", NULL);
        if (!form) memcpy(first, g->w, sizeof first);       // the interpreter adds in superaccumulators alone
        cr_expect(!memcmp(first, g->w, sizeof first), "%s", forms[form]);
        hdst_result_destroy(result);
        hdst_map_spec_destroy(spec);
        hdst_source_destroy(source);
        hdst_module_destroy(module);
        hdst_context_destroy(context);
    }
}
