// SPDX-License-Identifier: Apache-2.0
// Maps whose code the program gives apart, between operators of the kernel language, against plain C.
#include "support.h"

enum { RECORDS = 20011, WEIGHTS = 5 };

static const char kernels[] =
    "struct item { uint32_t key; float x; };\n"
    "struct score { uint32_t key; double y; };\n"
    "filter odd(item i) { return i.key % 2 == 1; }\n"
    "map weigh(item i, broadcast float w[]) -> score;\n"
    "map weigh_slowly(item i, broadcast float w[]) -> score { return (score){i.key, (double)i.x * (double)w[i.key % len(w)]}; }\n"
    "map value(score s) -> double { return s.y + 1; }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "map count(item i, accum uint64_t n) { n += 1; }\n";

static const char opencl[] =
    "__kernel void weigh(ulong first, ulong skip, ulong count, __global const item *in, __global const float *w, ulong w_rows, __global score *out)\n"
    "{\n"
    "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
    "        item it = in[skip + i];\n"
    "        out[i].key = it.key;\n"
    "        out[i].y = (double)it.x * (double)w[it.key % w_rows];\n"
    "    }\n"
    "}\n";

typedef struct item { uint32_t key; float x; } item;
typedef struct score { uint32_t key; double y; } score;

static const float weights[WEIGHTS] = {1, 0.5f, 2, -1, 4};

static item make_item(uint64_t i) { return (item){(uint32_t)(i * 7 % 1000), (float)(i % 64) / 8}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = make_item(first + i);
    return true;
}

static bool weigh(const hdst_part *part, char *message, void *user)
{
    (void)message;
    const item *in = part->records;
    score *out = part->output;
    const float *w = part->values[0];
    for (uint64_t i = 0; i < part->count; i++) out[i] = (score){in[i].key, (double)in[i].x * (double)w[in[i].key % part->value_rows[0]]};
    __atomic_fetch_add((uint64_t *)user, part->count, __ATOMIC_RELAXED);
    return true;
}

static double expected(void)
{
    double sum = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        item it = make_item(i);
        if (it.key % 2 == 1) sum += (double)it.x * (double)weights[it.key % WEIGHTS] + 1;      // eighths: exact
    }
    return sum;
}

typedef struct pipeline {
    hdst_context *context;
    hdst_module *module;
    hdst_source *source;
    hdst_value *value;
    hdst_map_spec *spec;
} pipeline;

static pipeline open_pipeline(const char *form, const char *function)
{
    pipeline p = {.context = context_in_form(form)};
    p.module = module_of(p.context, kernels);
    p.source = hdst_source_from_callback(p.context, RECORDS, fill, NULL);
    p.value = hdst_value_create(p.module, "float", WEIGHTS);
    cr_assert_eq(hdst_value_set(p.value, weights, WEIGHTS), HDST_OK);
    p.spec = hdst_map_spec_create(p.module, function);
    hdst_bind_value(p.spec, "w", p.value);
    return p;
}

static void close_pipeline(pipeline *p)
{
    hdst_map_spec_destroy(p->spec);
    hdst_value_destroy(p->value);
    hdst_source_destroy(p->source);
    hdst_module_destroy(p->module);
    hdst_context_destroy(p->context);
}

static double run(pipeline *p, hdst_layout layout)
{
    hdst_dataset *items = hdst_with_layout(hdst_read(p->source, p->module, "item"), layout);
    hdst_dataset *scores = hdst_map(hdst_filter_function(items, p->module, "odd"), p->spec);
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_map_function(scores, p->module, "value"), p->module, "add"));
    RUN(result);
    RUN(result);
    double sum = hdst_view_double(hdst_result_field(result, NULL, NULL), 0, 0);
    hdst_result_destroy(result);
    return sum;
}

static void give(pipeline *p, const char *form, uint64_t *calls)
{
    if (!strcmp(form, "interp")) hdst_map_spec_set_function(p->spec, HDST_DEVICE_INTERP, weigh, calls);
    else if (!strcmp(form, "cpu")) hdst_map_spec_set_function(p->spec, HDST_DEVICE_CPU, weigh, calls);
    else hdst_map_spec_set_opencl(p->spec, HDST_DEVICE_CPU, opencl, "weigh", 64);
}

static void right_in(const char *form)
{
    static const char *const functions[] = {"weigh", "weigh_slowly"};
    for (int f = 0; f < 2; f++) {
        pipeline p = open_pipeline(form, functions[f]);
        uint64_t calls = 0;
        give(&p, form, &calls);
        for (hdst_layout layout = HDST_AOS; layout <= HDST_AOP; layout++) cr_assert_eq(run(&p, layout), expected(), "%s %d", form, layout);
        if (strcmp(form, "gpu-form")) cr_assert_gt(calls, 0);
        close_pipeline(&p);
    }
}

Test(separate_code, a_c_function_stands_between_fused_operators_on_the_interpreter) { right_in("interp"); }
Test(separate_code, a_c_function_stands_between_kernels_of_a_cpu) { if (have_cpu()) right_in("cpu"); }
Test(separate_code, opencl_text_stands_between_kernels) { if (have_cpu()) right_in("gpu-form"); }

Test(separate_code, a_body_runs_where_no_code_was_given)
{
    pipeline p = open_pipeline("interp", "weigh_slowly");
    hdst_map_spec_set_opencl(p.spec, HDST_DEVICE_GPU, opencl, "weigh", 0);
    cr_assert_eq(run(&p, HDST_SOA), expected());
    close_pipeline(&p);
}

static void expect_misuse(const hdst_map_spec *spec, hdst_status got, hdst_status want, const char *words)
{
    cr_assert_eq(got, want);
    hdst_error *error = ((const hdst__object *)spec)->error;
    cr_assert(error && strstr(error->message, words), "%s", error ? error->message : "no error");
}

Test(separate_code, what_cannot_be_given_is_said)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(module, "odd");
    expect_misuse(spec, hdst_map_spec_set_opencl(spec, HDST_DEVICE_CPU, opencl, "weigh", 0), HDST_E_USAGE, "code can be given apart for maps; 'odd' is none");
    hdst_map_spec_destroy(spec);
    spec = hdst_map_spec_create(module, "count");
    expect_misuse(spec, hdst_map_spec_set_function(spec, HDST_DEVICE_CPU, weigh, NULL), HDST_E_UNSUPPORTED, "accumulator 'n'");
    hdst_map_spec_destroy(spec);
    spec = hdst_map_spec_create(module, "weigh");
    expect_misuse(spec, hdst_map_spec_set_function(spec, HDST_DEVICE_GPU, weigh, NULL), HDST_E_USAGE, "GPUs cannot run C functions");
    hdst_map_spec_destroy(spec);
    spec = hdst_map_spec_create(module, "weigh");
    expect_misuse(spec, hdst_map_spec_set_opencl(spec, HDST_DEVICE_INTERP, opencl, "weigh", 0), HDST_E_USAGE, "the interpreter cannot run OpenCL C");
    hdst_map_spec_destroy(spec);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(separate_code, a_declared_map_without_code_is_an_error_with_a_hint)
{
    pipeline p = open_pipeline("interp", "weigh");
    hdst_error error;
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(p.source, p.module, "item"), p.spec));
    cr_assert_eq(hdst_run(result, &error), HDST_E_USAGE);
    cr_assert_str_eq(error.message, "'weigh' is only declared, and no code was given for it");
    hdst_result_destroy(result);
    hdst_map_spec_set_opencl(p.spec, HDST_DEVICE_GPU, opencl, "weigh", 0);
    result = hdst_result_create(hdst_map(hdst_read(p.source, p.module, "item"), p.spec));
    cr_assert_eq(hdst_run(result, &error), HDST_E_USAGE);
    cr_assert_not_null(strstr(error.message, "'weigh' has no code for interpreter"), "%s", error.message);
    hdst_result_destroy(result);
    close_pipeline(&p);
}
