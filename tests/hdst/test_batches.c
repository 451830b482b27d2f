// SPDX-License-Identifier: Apache-2.0
// Batches: runs of so few wide records that one strip takes them as one block, whose sums are rounded as they leave its registers (accum/first_level.h).
// Against sums of whole units in C, and against the interpreter, whose sums are all in superaccumulators, where a double does not hold them.
#include "tests/hdst/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 65, UNITS = 20, COLUMNS = 67, OWN = 43, CLASSES = 3, RUNS = 10 };       // rows and own arrays that fill no vectors

static const char text[] =
    "struct sample { uint32_t y; float f[20]; float x[67]; };\n"
    "struct sums { float w[20][67]; float b[20]; float v[3][43]; uint32_t n; float most; double z; float both[67]; };\n"
    "map train(sample s, accum sums g, accum double spread, accum uint64_t all)\n"
    "{\n"
    "    float own[43];\n"
    "    for (uint32_t i = 0; i < 43; i++) own[i] = s.x[i] * 0.5f;\n"
    "    for (uint32_t c = 0; c < 3; c++)\n"
    "        for (uint32_t i = 0; i < 43; i++) g.v[c][i] += s.f[c] * own[i];\n"
    "    for (uint32_t h = 0; h < 20; h++) {\n"
    "        float delta = s.f[h];\n"
    "        g.b[h] += delta;\n"
    "        for (uint32_t i = 0; i < 67; i++) g.w[h][i] += delta * s.x[i];\n"
    "    }\n"
    "    for (uint32_t i = 0; i < 67; i++) g.both[i] += s.x[i];\n"       // something else adds to it, too
    "    g.both[5] += s.f[1];\n"
    "    g.n += 1;\n"
    "    acc_max(g.most, s.x[2]);\n"
    "    g.z += s.f[0];\n"
    "    spread += s.x[1] - s.x[2];\n"         // in registers, not in a strip's table
    "    all += 2;\n"
    "}\n";

typedef struct sample { uint32_t y; float f[UNITS]; float x[COLUMNS]; } sample;
typedef struct sums {
    float w[UNITS][COLUMNS], b[UNITS], v[CLASSES][OWN];
    uint32_t n;
    float most;
    double z;
    float both[COLUMNS];
} sums;

static sample samples[MOST];
static uint64_t state;

static uint64_t random_bits(void)       // xorshift64*
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

// Multiples of `unit` below 2^23 of them, of either sign; one in `zeros` is none (0: all are).
static float number(float unit, unsigned zeros)
{
    const float v = (float)((int64_t)(random_bits() >> 40) - (INT64_C(1) << 23)) * unit;
    return zeros && random_bits() % zeros ? 0 : v;
}

static void make_numbers(unsigned zeros)
{
    state = 77 + zeros;
    for (int r = 0; r < MOST; r++) {
        for (int h = 0; h < UNITS; h++) samples[r].f[h] = number(0x1p-20f, 0);
        for (int i = 0; i < COLUMNS; i++) samples[r].x[i] = number(0x1p-16f, zeros);
    }
}

// What a double does not hold, in the last of `count` records; the kinds come in turn.
static void make_hostile(int kind, int count)
{
    sample *s = &samples[count - 1], *t = &samples[count / 2];
    make_numbers(kind % 2 ? 5 : 0);
    switch (kind) {
    case 0: s->x[3] = NAN, s->x[COLUMNS - 1] = INFINITY, t->x[COLUMNS - 1] = -INFINITY; break;
    case 1: s->f[7] = 1e30f, t->f[7] = 1e-30f; break;               // one unit alone
    case 2: s->x[11] = 1e-38f, s->f[2] = 1e-6f; break;              // denormal products
    case 3: s->f[19] = INFINITY, s->x[66] = 0; break;
    case 4: s->x[0] = s->f[4] = 1.8e19f, t->x[0] = t->f[4] = 1.8e19f; break;       // near FLT_MAX each
    case 5:                                                         // all cancels but the smallest
        memset(samples, 0, sizeof samples);
        for (int h = 0; h < UNITS; h++) s->f[h] = 1, t->f[h] += -1, samples[0].f[h] += 1;
        for (int i = 0; i < COLUMNS; i++) s->x[i] = t->x[i] = 0x1p100f, samples[0].x[i] = count > 2 ? 0x1p-100f : 0;
        break;
    case 6:                                                         // zero times what is not finite
        memset(s->f, 0, sizeof s->f);
        s->x[3] = NAN, s->x[COLUMNS - 1] = INFINITY;
        break;
    default: s->f[0] = -0.0f, t->x[1] = -0.0f; break;
    }
}

static hdst_result *result_on(hdst_context *context, int count)
{
    hdst_module *m = module_of(context, text);
    hdst_source *in = hdst_source_from_memory(context, samples, (uint64_t)count, sizeof *samples);
    return hdst_result_create(hdst_map(hdst_read(in, m, "sample"), hdst_map_spec_create(m, "train")));
}

static const sums *run(hdst_result *r)
{
    uint64_t rows;
    RUN(r);
    const sums *g = hdst_result_rows(r, "g", &rows);
    cr_assert(g && rows == 1);
    return g;
}

static const char told[] = "of up to 64 records: one strip, whose sums are rounded";

// --- Against C ---

// The sum of (float)(f * x): multiples of 2^-36, of which less than 2^53 come together.
static float expected_sum(int count, int h, int i)
{
    int64_t all = 0;
    for (int r = 0; r < count; r++) all += (int64_t)ldexp((double)(samples[r].f[h] * samples[r].x[i]), 36);
    return (float)ldexp((double)all, -36);
}

Test(batches, sums_are_rounded_once)
{
    static const int counts[] = {1, 2, 50, 63, 64, 65};
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        hdst_result *r = result_on(context, counts[n]);
        for (unsigned zeros = 0; zeros <= 5; zeros += 5) {
            make_numbers(zeros);
            const sums *g = run(r);
            cr_expect_eq(g->n, (uint32_t)counts[n]);
            for (int h = 0; h < UNITS; h++)
                for (int i = 0; i < COLUMNS; i++)
                    cr_assert_eq(g->w[h][i], expected_sum(counts[n], h, i), "%d records, %u, w[%d][%d]: %a", counts[n], zeros, h, i, (double)g->w[h][i]);
        }
        cr_expect(strstr(hdst_explain(r, NULL), told), "%s", hdst_explain(r, NULL));
        hdst_result_destroy(r);
    }
    hdst_context_destroy(context);
}

// A batch brings no low words to the host; of one record more the whole table of first-level words comes.
Test(batches, are_runs_of_at_most_64_records)
{
    uint64_t back[2];
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    make_numbers(0);
    for (int n = 0; n < 2; n++) {
        hdst_result *r = result_on(context, 64 + n);
        run(r);
        back[n] = hdst_result_stats(r).bytes_from_device;
    }
    cr_expect_lt(back[0], back[1] - UNITS * COLUMNS * sizeof(int64_t), "%llu, %llu", (unsigned long long)back[0], (unsigned long long)back[1]);
    hdst_context_destroy(context);
}

// What a kernel on the host's cores adds up is read where it lies: the host has no table beside the device's, a third of all. A quarter is for pages that
// begin somewhere.
Test(batches, the_table_is_there_once)
{
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    make_numbers(0);
    for (int n = 50; n <= MOST; n += 15) {
        hdst_memory_use use = HDST_MEMORY_USE_INIT;
        hdst_result *r = result_on(context, n);
        run(r);
        cr_assert_eq(hdst_memory_usage(context, &use, NULL), HDST_OK);
        const uint64_t host = use.host.owner_used[HDST_MEMORY_ACCUMULATORS], device = use.device[0].owner_used[HDST_MEMORY_ACCUMULATORS];
        cr_expect_gt(device, UNITS * COLUMNS * sizeof(int64_t));
        cr_expect_lt(host, device + device / 4, "%llu, %llu", (unsigned long long)host, (unsigned long long)device);
        hdst_result_destroy(r);
    }
    hdst_context_destroy(context);
}

// --- Against the interpreter ---

static sums of_interpreter(int count)
{
    hdst_context *context = context_on("interp");
    const sums g = *run(result_on(context, count));
    hdst_context_destroy(context);
    return g;
}

static void expect_same(hdst_result *r, int count, int run_number)
{
    const sums *g = run(r);
    cr_expect_eq(hdst_view_int64(hdst_result_field(r, "all", NULL), 0, 0), 2 * count);
    const sums right = of_interpreter(count);
    const uint32_t *a = (const uint32_t *)(const void *)g, *b = (const uint32_t *)(const void *)&right;
    for (size_t i = 0; i < sizeof right / sizeof *a; i++)
        cr_assert_eq(a[i], b[i], "%d records, run %d, word %zu: %08x in place of %08x", count, run_number, i, a[i], b[i]);
}

// With memory of its own, to which the host's is copied and back, as for a GPU: its tables have no first-level words, so no run is a batch.
static hdst_context *context_apart(bool apart)
{
    hdst_context *context = context_on("cpu");
    context->engine->options.no_mapping = apart;        // no device is open yet
    return context;
}

// One result for all runs: none sees what the one before left in marks, words and cells.
Test(batches, what_a_double_does_not_hold_is_as_in_the_interpreter)
{
    static const int counts[] = {1, 50, 64};
    for (int apart = 0; apart < 2 && have_cpu(); apart++) {
        hdst_context *context = context_apart(apart);
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            hdst_result *r = result_on(context, counts[n]);
            for (int t = 0; t < RUNS; t++) {
                make_hostile(t % 8, counts[n]);
                expect_same(r, counts[n], t);
            }
        }
        hdst_context_destroy(context);
    }
}

// Addends that do not fit the words that the first run chose: those of b and both, which no batch rounds, in low words and cells.
Test(batches, words_beside_rounded_sums_hold_what_they_did)
{
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    hdst_result *r = result_on(context, 50);
    for (int t = 0; t < 4; t++) {
        make_numbers(0);
        for (int k = 0; k < 50; k++) samples[k].f[9] = t % 2 ? ldexpf(1, k * 2 - 60) : ldexpf(3, -70 - k % 30);
        for (int k = 0; k < 50; k++) samples[k].x[9] = t % 2 ? ldexpf(1, -40) : ldexpf(3, 30);
        expect_same(r, 50, t);
    }
    hdst_context_destroy(context);
}

// A batch rounds all sums that it may, so low words are asked for by b alone, in every other run: its addends have bits below the unit of the first run.
Test(batches, low_words_come_where_only_other_sums_have_some)
{
    for (int apart = 0; apart < 2 && have_cpu(); apart++) {
        hdst_context *context = context_apart(apart);
        hdst_result *r = result_on(context, 50);
        for (int t = 0; t < 4; t++) {
            make_numbers(0);
            for (int k = 0; k < 50 && t % 2; k++) samples[k].f[9] = ldexpf(samples[k].f[9], -25);
            expect_same(r, 50, t);
        }
        hdst_context_destroy(context);
    }
}

Test(batches, unfinished_sums_stay_words)
{
    if (!have_cpu()) return;
    const void *bytes[2];
    uint64_t size[2];
    hdst_context *contexts[2];
    make_hostile(1, 50);
    for (int n = 0; n < 2; n++) {
        contexts[n] = context_on(n ? "cpu" : "interp");
        hdst_result *r = result_on(contexts[n], 50);
        cr_assert_eq(hdst_result_keep_partial(r, NULL), HDST_OK);
        run(r);
        hdst_partial *partial = hdst_partial_from_result(r);
        cr_assert_eq(hdst_partial_write(partial, &bytes[n], &size[n], NULL), HDST_OK);
        cr_expect(!strstr(hdst_explain(r, NULL), told));
    }
    cr_expect(size[0] == size[1] && !memcmp(bytes[0], bytes[1], size[0]));
    for (int n = 0; n < 2; n++) hdst_context_destroy(contexts[n]);
}

Test(batches, fast_sums_are_near)
{
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.fast_sums = true;
    hdst_context *context = hdst_context_create(&options);
    hdst_result *r = result_on(context, 50);
    make_numbers(0);
    const sums *g = run(r);
    for (int h = 0; h < UNITS; h++)
        for (int i = 0; i < COLUMNS; i++) cr_assert_float_eq(g->w[h][i], expected_sum(50, h, i), 0.05, "w[%d][%d]: %a", h, i, (double)g->w[h][i]);
    make_hostile(0, 50);
    const sums *wild = run(r);
    const uint32_t nan = 0x7fc00000;
    for (int h = 0; h < UNITS; h++) {
        cr_expect(!memcmp(&wild->w[h][3], &nan, sizeof nan), "there is one NaN");
        cr_expect(!isfinite(wild->w[h][COLUMNS - 1]));
        cr_expect_float_eq(wild->w[h][4], expected_sum(50, h, 4), 0.05);
    }
    hdst_context_destroy(context);
}
