// SPDX-License-Identifier: Apache-2.0
// The gradient of a net of odd sizes, whose wide sums are a product of matrices in the form for GPUs: the bits of the interpreter, whatever the layout, with
// few records and where device memory has no room for what all records leave; close to them with fast sums.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 2500, D = 131, HIDDEN = 37, CLASSES = 9, LOCAL_BYTES = 16 << 10 };

typedef struct sample { float x[D]; uint32_t y; } sample;
typedef struct net { float w1[HIDDEN][D], b1[HIDDEN], w2[CLASSES][HIDDEN], b2[CLASSES]; } net;
enum { WEIGHTS = sizeof(net) / sizeof(float) };

static sample samples[N];
static net weights;

static const char text[] =
    "struct sample { float x[131]; uint32_t y; };\n"
    "struct net { float w1[37][131]; float b1[37]; float w2[9][37]; float b2[9]; };\n"
    "map train(sample s, broadcast net n, accum net gradient, accum uint64_t count, accum double loss)\n"
    "{\n"
    "    float hidden[37];\n"
    "    for (uint32_t h = 0; h < 37; h++) hidden[h] = tanh(n.b1[h] + dot(n.w1[h], s.x));\n"
    "    float score[9];\n"
    "    float total = 0;\n"
    "    for (uint32_t c = 0; c < 9; c++) { score[c] = exp(n.b2[c] + dot(n.w2[c], hidden)); total += score[c]; }\n"
    "    float back[37];\n"
    "    for (uint32_t c = 0; c < 9; c++) {\n"
    "        float delta = score[c] / total - (c == s.y ? 1.0f : 0.0f);\n"
    "        gradient.b2[c] += delta;\n"
    "        for (uint32_t h = 0; h < 37; h++) { gradient.w2[c][h] += delta * hidden[h]; back[h] += delta * n.w2[c][h]; }\n"
    "    }\n"
    "    for (uint32_t h = 0; h < 37; h++) {\n"
    "        float delta = back[h] * (1 - hidden[h] * hidden[h]);\n"
    "        gradient.b1[h] += delta;\n"
    "        for (uint32_t i = 0; i < 131; i++) gradient.w1[h][i] += delta * s.x[i];\n"
    "    }\n"
    "    count += 1;\n"
    "    loss += log(total);\n"
    "}\n";

static void make_samples(void)
{
    srand(11);
    for (int r = 0; r < N; r++) {
        for (int i = 0; i < D; i++) samples[r].x[i] = rand() % 3 ? (float)(rand() % 256) / 255 : 0;
        samples[r].y = (uint32_t)rand() % CLASSES;
    }
    float *w = &weights.w1[0][0];
    for (int i = 0; i < WEIGHTS; i++) w[i] = (float)(rand() % 2001 - 1000) / 4000;
}

typedef struct trial {
    const char *form;
    hdst_layout layout;
    uint64_t records, device_memory;
    bool fast;
} trial;

typedef struct answer {
    net gradient;
    uint64_t count, slices;
    double loss;
} answer;

static hdst_context *context_of(const trial *t)
{
    const bool gpu = !strcmp(t->form, "gpu-form");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu ? "cpu" : t->form;
    options.fast_sums = t->fast;
    options.device_memory = t->device_memory;
    hdst_context *context = hdst_context_create(&options);
    cr_assert(context->engine);
    context->engine->options.gpu_form_on_cpu = gpu;
    context->engine->options.local_bytes = LOCAL_BYTES;     // where the table has no room
    return context;
}

static answer run(const trial *t)
{
    answer a = {.count = 0};
    hdst_context *context = context_of(t);
    hdst_module *module = module_of(context, text);
    hdst_value *n = hdst_value_create(module, "net", 1);
    cr_assert_eq(hdst_value_set(n, &weights, 1), HDST_OK);
    hdst_map_spec *spec = hdst_map_spec_create(module, "train");
    hdst_bind_value(spec, "n", n);
    hdst_source *source = hdst_source_from_memory(context, samples, t->records, sizeof *samples);
    hdst_result *result = hdst_result_create(hdst_map(hdst_with_layout(hdst_read(source, module, "sample"), t->layout), spec));
    RUN(result);
    memcpy(&a.gradient, hdst_result_rows(result, "gradient", NULL), sizeof a.gradient);
    a.count = (uint64_t)hdst_view_int64(hdst_result_field(result, "count", NULL), 0, 0);
    a.loss = hdst_view_double(hdst_result_field(result, "loss", NULL), 0, 0);
    a.slices = hdst_result_stats(result).device[0].slices;
    hdst_error error;
    const char *why = hdst_explain(result, &error);
    if (!strcmp(t->form, "gpu-form")) cr_expect(strstr(why, "gradient.w1: a product of 37 factors by 131 elements of each record"), "%s", why);
    hdst_result_destroy(result);
    hdst_source_destroy(source);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(n);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    return a;
}

static answer expect_same(const trial *t)
{
    const answer expected = run(&(trial){.form = "interp", .records = t->records}), got = run(t);
    cr_expect(!memcmp(&expected.gradient, &got.gradient, sizeof got.gradient), "%s, layout %d, %d records", t->form, (int)t->layout, (int)t->records);
    cr_expect_eq(got.count, t->records);
    cr_expect_eq(got.loss, expected.loss);
    return got;
}

TestSuite(product_sums, .init = make_samples);

Test(product_sums, have_equal_bits_in_all_layouts)
{
    if (!have_cpu()) return;
    expect_same(&(trial){.form = "gpu-form", .layout = HDST_AOS, .records = 300});
    expect_same(&(trial){.form = "gpu-form", .layout = HDST_SOA, .records = 300});
}

Test(product_sums, of_few_records)
{
    if (!have_cpu()) return;
    expect_same(&(trial){.form = "gpu-form", .layout = HDST_AOS, .records = 65});       // more than a stretch, and than are in local memory
}

Test(product_sums, slices_have_room_for_what_their_records_leave)
{
    if (!have_cpu()) return;
    const answer a = expect_same(&(trial){.form = "gpu-form", .layout = HDST_AOS, .records = N, .device_memory = 3 << 20});
    cr_expect_geq(a.slices, 2);
}

// One of 300 records, left out or added twice, would change most sums by more than this.
Test(product_sums, fast_ones_are_close)
{
    if (!have_cpu()) return;
    const answer exact = run(&(trial){.form = "interp", .records = 300}), fast = run(&(trial){.form = "gpu-form", .records = 300, .fast = true});
    const float *right = &exact.gradient.w1[0][0], *got = &fast.gradient.w1[0][0];
    int other = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        cr_expect_leq(fabs((double)got[i] - (double)right[i]), 1e-4, "weight %d: %a, not %a", i, (double)got[i], (double)right[i]);
        other += got[i] != right[i];
    }
    cr_expect_gt(other, 0, "all of them are exact");
}
