// SPDX-License-Identifier: Apache-2.0
// What hdst's sides of the benchmarks share: options, the end on an error, results as numbers.
#ifndef HDST_BENCH_HDST_SIDE_H
#define HDST_BENCH_HDST_SIDE_H

#include "bench/bench.h"
#include "hdst/hdst.h"

static inline void side_die(const hdst_error *error)
{
    char text[4096];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "bench: %s\n", text);
    exit(hdst_status_exit_code(error->code));
}

static inline void side_log(hdst_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    fprintf(stderr, "bench: %s\n", message);
}

// "--name VALUE" from the command line, or `otherwise`.
static inline const char *side_option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return argv[i + 1];
    return otherwise;
}

static inline hdst_layout side_layout(int argc, char **argv)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    const char *name = side_option(argc, argv, "--layout", "soa");
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return (hdst_layout)i;
    fprintf(stderr, "bench: no layout '%s'\n", name);
    exit(2);
}

static inline hdst_context *side_context(int argc, char **argv)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    options.fast_sums = !strcmp(side_option(argc, argv, "--sums", "exact"), "fast");
    options.trace = side_option(argc, argv, "--trace", NULL);
    options.log = side_log;
    return hdst_context_create(&options);
}

// Runs the result's graph (a case of bench_serve whose state is the result). With BENCH_TIMES in the environment it
// says how long the kernels took by the device's clock.
static inline void side_run(void *result)
{
    hdst_error error;
    if (hdst_run(result, &error) != HDST_OK) side_die(&error);
    if (!getenv("BENCH_TIMES")) return;
    const hdst_run_stats stats = hdst_result_stats(result);
    fprintf(stderr, "bench: kernels %.3f ms in %llu slices, %.0f million records a second\n", stats.device[0].busy_seconds * 1e3,
            (unsigned long long)stats.device[0].slices, (double)stats.device[0].records / stats.device[0].busy_seconds * 1e-6);
}

static inline void side_explain(int argc, char **argv, hdst_result *result)
{
    hdst_error error;
    if (strcmp(argv[argc - 1], "--explain")) return;
    side_run(result);
    fprintf(stderr, "%s", hdst_explain(result, &error));
}

#endif
