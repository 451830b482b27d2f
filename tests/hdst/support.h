// SPDX-License-Identifier: Apache-2.0
// What the tests of the public interface share.
#ifndef TESTS_HDST_SUPPORT_H
#define TESTS_HDST_SUPPORT_H

#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static inline hdst_context *context_on(const char *device)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    return hdst_context_create(&options);
}

static inline void expect_usage_error(hdst_dataset *dataset, const char *words)
{
    hdst_error error;
    cr_assert_eq(hdst_dataset_status(dataset, &error), HDST_E_USAGE, "%s", words);
    cr_assert_not_null(strstr(error.message, words), "%s", error.message);
}

// What is wrong is noticed when it is planned.
static inline void expect_run_usage_error(hdst_dataset *dataset, const char *words)
{
    hdst_error error;
    hdst_result *result = hdst_result_create(dataset);
    cr_assert_eq(hdst_run(result, &error), HDST_E_USAGE, "%s", words);
    cr_expect(strstr(error.message, words), "'%s' has no '%s'", error.message, words);
}

static inline bool has_cpu(void)
{
    hdst_context *context = context_on("cpu");
    hdst_device_info info;
    const bool has = hdst_device_chosen(context, &info, NULL) == HDST_OK;
    hdst_context_destroy(context);
    if (!has) cr_log_warn("skipped: no OpenCL CPU device");
    return has;
}

// Both halves of the CPU and the interpreter share each run, however small it is.
static inline hdst_context *context_of_team(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "0,1,2";
    options.cpu_parts = 2;
    hdst_context *context = hdst_context_create(&options);
    if (context->engine) hdst__engine_limits(context->engine)->share_bytes = 0;
    return context;
}

static inline bool have_team(void)
{
    hdst_context *team = context_of_team();
    hdst_device_info info;
    const bool have = hdst_device_chosen(team, &info, NULL) == HDST_OK;
    if (!have) cr_log_warn("no OpenCL CPU device that can be halved: skipped");
    hdst_context_destroy(team);
    return have;
}

// Two halves of the CPU as GPUs, which share each run; `local_bytes` of local memory each, `overflow_cells` (0: enough).
static inline hdst_context *pair_of_gpus(uint64_t local_bytes, uint64_t overflow_cells)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "0,1";
    options.cpu_parts = 2;
    hdst_context *context = hdst_context_create(&options);
    cr_assert_not_null(context->engine);
    hdst__engine_limits(context->engine)->share_bytes = 0;
    context->engine->options.gpu_form_on_cpu = true;
    context->engine->options.local_bytes = local_bytes;
    context->engine->options.overflow_cells = overflow_cells;
    return context;
}

// "gpu-form" is the CPU device with kernels as a GPU gets them, and memory that is not shared with the host; "team" is context_of_team.
static inline hdst_context *context_in_form(const char *form)
{
    bool gpu = !strcmp(form, "gpu-form");
    if (!strcmp(form, "team")) return context_of_team();
    hdst_context *context = context_on(gpu ? "cpu" : form);
    if (context->engine) context->engine->options.gpu_form_on_cpu = gpu;       // no device is open yet
    return context;
}

// Whether tests can run on an OpenCL CPU device here; says so when not.
static inline bool have_cpu(void)
{
    hdst_context *context = context_on("cpu");
    hdst_device_info info;
    hdst_error error;
    bool have = hdst_device_chosen(context, &info, &error) == HDST_OK;
    if (!have) cr_log_warn("no OpenCL CPU device: skipped (%s)", error.message);
    hdst_context_destroy(context);
    return have;
}

static inline hdst_module *module_of(hdst_context *context, const char *text)
{
    hdst_module *module = hdst_module_parse(context, "test.hk", text, NULL);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_OK, "%s", hdst_module_diagnostics(module));
    return module;
}

#define RUN(result)                                                                             \
    do {                                                                                        \
        hdst_error run_error;                                                                   \
        char run_text[4096];                                                                    \
        if (hdst_run(result, &run_error) != HDST_OK) {                                          \
            hdst_error_format(&run_error, run_text, sizeof run_text);                           \
            cr_assert_fail("%s", run_text);                                                     \
        }                                                                                       \
        cr_assert_eq(run_error.code, HDST_OK, "what went well has an error: %s", run_error.message); \
    } while (0)

#endif
