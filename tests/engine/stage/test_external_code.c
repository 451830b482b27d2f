// SPDX-License-Identifier: Apache-2.0
// Maps whose code the program gives apart, as OpenCL C or as a C function, against plain C.
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 100003 };

static const char kernel_file[] =
    "struct tag { uint8_t colour; uint16_t size; };\n"
    "struct sample { float x; struct tag t; double y[2]; bool odd; };\n"
    "struct weight { float by; };\n"
    "struct pick { double sum; uint64_t index; uint16_t size; };\n"
    "map scale(sample s, broadcast weight w[], broadcast float shift) -> pick;\n"
    "map half(sample s, broadcast weight w[], broadcast float shift) -> pick { return (pick){.sum = s.x, .index = record_index()}; }\n";

static const char opencl[] =
    "__kernel void scale_all(ulong first, ulong skip, ulong count, __global const sample *in, __global const weight *w, ulong w_rows,\n"
    "                        __global const float *shift, __global pick *out)\n"
    "{\n"
    "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
    "        __global const sample *s = in + skip + i;\n"
    "        double sum = s->odd ? s->y[0] : s->y[1];\n"
    "        for (ulong r = 0; r < w_rows; r++) sum += s->x * w[r].by;\n"
    "        out[i].sum = sum + *shift;\n"
    "        out[i].index = first + i;\n"
    "        out[i].size = s->t.size + s->t.colour;\n"
    "    }\n"
    "}\n";

typedef struct sample { float x; struct { uint8_t colour; uint16_t size; } t; double y[2]; bool odd; } sample;
typedef struct weight { float by; } weight;
typedef struct pick { double sum; uint64_t index; uint16_t size; } pick;

// Small multiples of 1/4: every sum is exact.
static sample make_sample(uint64_t i)
{
    return (sample){.x = (float)(i % 1000) / 4, .t = {(uint8_t)i, (uint16_t)(i * 7)}, .y = {(double)i, -(double)i / 2}, .odd = i & 1};
}

static const weight weights[] = {{2}, {0.5f}, {-1}};
static const float shift = 3;

static pick expected(uint64_t i)
{
    sample s = make_sample(i);
    double sum = s.odd ? s.y[0] : s.y[1];
    for (int r = 0; r < 3; r++) sum += (double)(s.x * weights[r].by);
    return (pick){sum + (double)shift, i, (uint16_t)(s.t.size + s.t.colour)};
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)storage, (void)error;
    for (uint64_t i = 0; i < count; i++) ((sample *)buffers[0])[to_first + i] = make_sample(first + i);
    return HDST_OK;
}

static bool call_scale(const hdst__slice *slice, char *message, void *user)
{
    const sample *in = slice->records;
    pick *out = slice->output;
    const weight *w = slice->values[0];
    if (user && *(uint64_t *)user < slice->first + slice->count) {
        snprintf(message, 512, "no more than %d today", (int)*(uint64_t *)user);
        return false;
    }
    for (uint64_t i = 0; i < slice->count; i++) {
        double sum = in[i].odd ? in[i].y[0] : in[i].y[1];
        for (uint64_t r = 0; r < slice->value_rows[0]; r++) sum += (double)(in[i].x * w[r].by);
        out[i] = (pick){sum + (double)*(const float *)slice->values[1], slice->first + i, (uint16_t)(in[i].t.size + in[i].t.colour)};
    }
    return true;
}

typedef struct bench {
    hdst__arena arena;
    hdst__engine *engine;
    ast_module *module;
    hdst__stage *stage;
    hdst__stage_output output;
    hdst_error error;
} bench;

static jmp_buf out_of_memory;

static void open_bench(bench *b, const char *device, bool gpu_form, const char *function, const hdst__separate *separate, bool cached)
{
    *b = (bench){0};
    hdst__arena_init(&b->arena, NULL, &out_of_memory);
    b->engine = hdst__engine_create(&(hdst__engine_options){.device = device, .gpu_form_on_cpu = gpu_form});
    hdst__diags *diags = HDST__NEW(&b->arena, hdst__diags);
    hdst__diags_init(diags, &b->arena);
    b->module = hdst__module_compile(diags, "separate.hk", kernel_file, sizeof kernel_file - 1, &(hdst__front_options){0});
    cr_assert_eq(diags->errors, 0);
    const ast_function *f = hdst__module_function(b->module, function);
    ir_func *func = f->body ? hdst__lower(&b->arena, b->module, f) : hdst__lower_signature(&b->arena, b->module, f);
    if (f->body) cr_assert_null(hdst__passes_scalar(func));
    hdst__reader reader = {.fill = fill, .records = RECORDS, .record = func->params[0].record, .layout = HDST__AOS};
    hdst__stage_spec spec = {.kind = HDST__STAGE_MAP, .func = func, .reader = reader, .separate = separate, .only_declared = !f->body,
                             .cache = cached ? hdst__dataset_cache_create(hdst__engine_runtime(b->engine), &reader) : NULL};
    b->stage = hdst__stage_create(b->engine, &spec);
}

static hdst_status run_bench(bench *b)
{
    const void *broadcast[] = {NULL, weights, &shift, NULL};
    const uint64_t rows[] = {0, 3, 1, 0}, versions[] = {0, 1, 1, 0};
    b->error = (hdst_error)HDST_ERROR_INIT;
    return hdst__stage_run(b->stage, &(hdst__stage_values){broadcast, rows, versions}, &b->output, &b->error);
}

static void close_bench(bench *b)
{
    hdst__stage_destroy(b->stage);
    hdst__engine_destroy(b->engine);
    hdst__arena_destroy(&b->arena);
}

static void expect_right(const char *device, bool gpu_form, const hdst__separate *separate)
{
    bench b;
    open_bench(&b, device, gpu_form, "scale", separate, false);
    for (int run = 0; run < 2; run++) {
        cr_assert_eq(run_bench(&b), HDST_OK, "%s: %s %s", device, b.error.message, b.error.cause);
        cr_assert_eq(b.output.record_count, RECORDS);
        const pick *got = b.output.records;
        for (uint64_t i = 0; i < RECORDS; i++) {
            pick want = expected(i);
            cr_assert(got[i].sum == want.sum && got[i].index == want.index && got[i].size == want.size, "%s: record %d: %g %d", device, (int)i,
                      got[i].sum, (int)got[i].index);
        }
    }
    close_bench(&b);
}

Test(separate, opencl_text_runs_in_both_forms_of_devices)
{
    const hdst__separate code[3] = {[HDST__DEVICE_CPU] = {.text = opencl, .name = "scale_all"}};
    expect_right("cpu", false, code);
    expect_right("cpu", true, code);
}

Test(separate, a_c_function_runs_on_the_interpreter_and_among_the_kernels_of_a_cpu)
{
    const hdst__separate code[3] = {[HDST__DEVICE_CPU] = {.call = call_scale}, [HDST__DEVICE_INTERP] = {.call = call_scale}};
    expect_right("interp", false, code);
    expect_right("cpu", false, code);
}

Test(separate, a_c_function_that_fails_ends_the_run_with_its_words)
{
    uint64_t most = 50000;
    const hdst__separate code[3] = {[HDST__DEVICE_CPU] = {.call = call_scale, .user = &most}, [HDST__DEVICE_INTERP] = {.call = call_scale, .user = &most}};
    for (int i = 0; i < 2; i++) {
        bench b;
        open_bench(&b, i ? "cpu" : "interp", false, "scale", code, false);
        cr_assert_eq(run_bench(&b), HDST_E_RECORD);
        cr_assert_not_null(strstr(b.error.message, "'scale' failed on the records from "));
        cr_assert_str_eq(b.error.cause, "no more than 50000 today");
        most = RECORDS;             // the same stage, afterwards
        cr_assert_eq(run_bench(&b), HDST_OK);
        most = 50000;
        close_bench(&b);
    }
}

Test(separate, a_class_of_devices_without_code_is_an_error_unless_there_is_a_body)
{
    const hdst__separate none[3] = {{0}};
    bench b;
    open_bench(&b, "interp", false, "scale", none, false);
    cr_assert_eq(run_bench(&b), HDST_E_USAGE);
    cr_assert_not_null(strstr(b.error.message, "'scale' has no code for "));
    close_bench(&b);
    open_bench(&b, "interp", false, "half", none, false);
    cr_assert_eq(run_bench(&b), HDST_OK, "%s", b.error.message);
    const pick *got = b.output.records;
    for (uint64_t i = 0; i < RECORDS; i++) cr_assert(got[i].sum == (double)make_sample(i).x && got[i].index == i);
    close_bench(&b);
}

Test(separate, what_the_compiler_refuses_is_told_with_its_log)
{
    const hdst__separate code[3] = {[HDST__DEVICE_CPU] = {.text = "__kernel void scale_all(ulong first) { first = nothing; }\n", .name = "scale_all"}};
    bench b;
    open_bench(&b, "cpu", false, "scale", code, false);
    cr_assert_neq(run_bench(&b), HDST_OK);
    cr_assert_not_null(strstr(b.error.cause, "nothing"), "%s | %s", b.error.message, b.error.cause);
    close_bench(&b);
}
