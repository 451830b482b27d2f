// SPDX-License-Identifier: Apache-2.0
// A process that was forked after OpenCL was used has the drivers without their threads. It is told so, at once, and ends; the interpreter works there.
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
