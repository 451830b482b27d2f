// SPDX-License-Identifier: Apache-2.0
// A process that was forked after OpenCL was used has the drivers without their threads. It is told so, at once, and ends; the interpreter works there.
#include "engine/device/opencl_devices.h"
#include "tests/hdst/support.h"

#include <sys/wait.h>
#include <unistd.h>

static const char text[] = "map add(int64_t i, accum int64_t s) { s += i; }\n";

static hdst_result *sum_in(hdst_context *context)
{
    hdst_module *module = hdst_module_parse(context, "fork.hk", text, NULL);
    return hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(context, 0, 100000), module, "int64_t"), module, "add"));
}

static bool is_told(hdst_status status, const hdst_error *error)
{
    return status == HDST_E_DEVICE && strstr(error->message, "forked") && strstr(error->hint, "fork before");
}

// In the child; the number of the first step that went wrong.
static int child(hdst_context *parents, hdst_result *result)
{
    static const char *const devices[] = {"cpu", "all"};
    hdst_error error;
    uint32_t count;
    for (int i = 0; i < 2; i++) {
        hdst_context *context = context_on(devices[i]);
        if (!is_told(hdst_run(sum_in(context), &error), &error)) return 1 + i;
        if (!is_told(hdst_device_count(context, &count, &error), &error)) return 3 + i;
        hdst_context_destroy(context);
    }
    hdst_context *context = context_on("interp");
    hdst_result *sum = sum_in(context);
    if (hdst_run(sum, &error) != HDST_OK || hdst_view_int64(hdst_result_field(sum, "s", NULL), 0, 0) != INT64_C(4999950000)) return 5;
    hdst_context_destroy(context);
    if (!is_told(hdst_run(result, &error), &error)) return 6;
    hdst_context_destroy(parents);
    return 0;
}

Test(fork, a_child_is_told_and_ends)
{
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    hdst_result *result = sum_in(context);
    RUN(result);
    const pid_t process = fork();
    cr_assert(process >= 0);
    if (process == 0) _exit(child(context, result));
    int how;
    cr_assert_eq(waitpid(process, &how, 0), process);
    cr_assert(WIFEXITED(how));
    cr_assert_eq(WEXITSTATUS(how), 0, "step %d", WEXITSTATUS(how));
    RUN(result);                    // the parent's is as it was
    hdst_context_destroy(context);
}

// --- What lies on the parent's device ---

static void trap(void) { _exit(100); }

// From now on whoever calls the driver ends the process, where it might wait for ever.
static void trap_driver(hdst_context *context)
{
    void (*const to)(void) = trap;
    const hdst__opencl_devices *found = hdst__device_list_own(&context->engine->list, context->engine->worker[0].info);
    char *table = (char *)found->cl;
    for (size_t at = sizeof(void *); at < sizeof *found->cl; at += sizeof to) memcpy(table + at, &to, sizeof to);
}

typedef struct parents {
    hdst_context *context;
    hdst_dataset *cached;
    hdst_result *ran, *sum;
    hdst_value *value, *taker;
} parents;

static int child_of_records(parents *p)
{
    int64_t row;
    uint64_t count;
    void *rows;
    hdst_error error;
    trap_driver(p->context);
    if (!is_told(hdst_take(p->cached, 1, &row, NULL, &error), &error)) return 1;
    if (!is_told(hdst_collect(p->cached, &rows, &count, &error), &error)) return 2;
    if (hdst_result_rows(p->ran, NULL, &count) || !is_told(hdst_result_status(p->ran, &error), &error)) return 3;
    if (!is_told(hdst_value_set_result(p->taker, p->ran, NULL, &error), &error)) return 4;
    if (!is_told(hdst_run(p->sum, &error), &error)) return 5;
    hdst_value_destroy(p->value);
    hdst_uncache(p->cached);
    hdst_context_destroy(p->context);
    return 0;
}

static void check_records(const char *form)
{
    static const char kernels[] = "map next(int64_t i) -> int64_t { return i + 1; }\n"
                                  "map add(int64_t i, broadcast int64_t v[], accum int64_t s) { s += i + v[i % 7]; }\n";
    parents p = {.context = context_in_form(form)};
    hdst_module *module = module_of(p.context, kernels);
    p.cached = hdst_cache(hdst_map_function(hdst_read(hdst_source_from_range(p.context, 0, 100000), module, "int64_t"), module, "next"));
    p.value = hdst_value_create(module, "int64_t", 7);
    p.taker = hdst_value_create(module, "int64_t", 7);
    p.ran = hdst_result_create(hdst_map_function(p.cached, module, "next"));
    RUN(p.ran);
    cr_assert_eq(hdst_value_set_result(p.value, p.ran, NULL, NULL), HDST_OK);
    RUN(p.ran);                     // from now on its records stay on the device
    cr_assert_eq(hdst_value_set_result(p.value, p.ran, NULL, NULL), HDST_OK);
    hdst_map_spec *spec = hdst_map_spec_create(module, "add");
    hdst_bind_value(spec, "v", p.value);
    p.sum = hdst_result_create(hdst_map(p.cached, spec));
    RUN(p.sum);
    const pid_t process = fork();
    cr_assert(process >= 0);
    if (process == 0) _exit(child_of_records(&p));
    int how;
    cr_assert_eq(waitpid(process, &how, 0), process);
    cr_assert(WIFEXITED(how));
    cr_assert_eq(WEXITSTATUS(how), 0, "%s: step %d", form, WEXITSTATUS(how));
    RUN(p.sum);
    hdst_context_destroy(p.context);
}

Test(fork, a_child_gets_no_records_from_the_device)
{
    if (!have_cpu()) return;
    check_records("cpu");
    check_records("gpu-form");
}
