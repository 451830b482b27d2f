// SPDX-License-Identifier: Apache-2.0
// What tests of accumulators with more rows than there is room for have in common: records, contexts with little memory, the words of an error.
#ifndef TESTS_PLAN_LARGE_TABLES_H
#define TESTS_PLAN_LARGE_TABLES_H

#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 20000, ROWS = 150001, FEW = 30000, OTHERS = 70000, DEVICE = 3 << 20 };

typedef struct item { uint32_t key; float v; } item;
typedef struct pair { uint32_t key; double half; } pair;

static item items[RECORDS];

static void make_items(uint32_t rows)
{
    for (uint32_t i = 0; i < RECORDS; i++) items[i] = (item){(uint32_t)(i * UINT64_C(2654435761) % rows), (float)(i * 40503 % 4096)};
}

// A form as context_in_form has them; the memories in bytes, 0: as much as there is. Tables that would take more passes than `most_passes` go as tuples.
static hdst_context *context_with(const char *form, uint64_t device_memory, uint64_t memory, hdst_on_error on_error, uint32_t most_passes)
{
    const bool team = !strcmp(form, "team");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = team ? "0,1" : !strcmp(form, "gpu-form") ? "cpu" : form;
    options.cpu_parts = team ? 2 : 0;
    options.device_memory = device_memory;
    options.memory = memory;
    options.on_error = on_error;
    hdst_context *context = hdst_context_create(&options);
    if (!context->engine) return context;
    context->engine->options.gpu_form_on_cpu = team || !strcmp(form, "gpu-form");
    hdst__engine_limits(context->engine)->most_row_passes = most_passes;
    if (team) hdst__engine_limits(context->engine)->share_bytes = 0;
    return context;
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *m)
{
    return hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item");
}

// Of the kernels' map "gather": t has ROWS rows, o has OTHERS.
static hdst_result *gather(hdst_context *context, const char *kernels)
{
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_bind_accum(spec, "o", OTHERS);
    return hdst_result_create(hdst_map(read_items(context, m), spec));
}

static void expect_peaks(hdst_result *r, const char *form, uint64_t device_memory, uint64_t memory)
{
    if (device_memory) cr_assert_leq(hdst_result_stats(r).device_peak_bytes, device_memory, "%s", form);
    if (memory) cr_assert_leq(hdst_result_stats(r).host_peak_bytes, memory + memory / 10, "%s", form);
}

// The row is beside all rows, not beside those of a pass or a piece.
static void expect_same_error(const char *kernels, uint32_t most_passes)
{
    char words[2][4096];
    make_items(ROWS);
    items[RECORDS - 7].key = ROWS + 5;
    for (int little = 0; little < 2; little++) {
        hdst_error error;
        hdst_context *context = context_with("gpu-form", little ? DEVICE : 0, 0, HDST_ON_ERROR_FAIL, most_passes);
        cr_assert_eq(hdst_run(gather(context, kernels), &error), HDST_E_RECORD, "%s", error.message);
        hdst_error_format(&error, words[little], sizeof words[little]);
        hdst_context_destroy(context);
    }
    cr_assert_str_eq(words[0], words[1]);
    cr_assert(strstr(words[0], "0..150000"), "%s", words[0]);
}

#endif
