// SPDX-License-Identifier: Apache-2.0
// a * x + b over floats that stay resident, with the results brought back to the host, through the public interface. After each iteration it says how long the
// kernels themselves took (by the device's clock) and what part of the memory traffic of a copy that is.
//   bench_axpb [--layout aos|soa] [--records N] [--device DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"

typedef struct line { float a, b; } line;

typedef struct problem {
    uint64_t records;
    line line;
    hdst_value *value;
    hdst_result *result;
} problem;

static bool fill_numbers(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    float *x = records;
    for (uint64_t i = 0; i < count; i++) x[i] = bench_coordinate(first + i, 0, 1);
    return true;
}

static void run(void *state)
{
    problem *p = state;
    hdst_error error;
    if (hdst_run(p->result, &error) != HDST_OK) side_die(&error);
    hdst_run_stats stats = hdst_result_stats(p->result);
    const double busy = stats.device[0].busy_seconds;
    fprintf(stderr, "bench_axpb: kernels %.3f ms in %llu slices, %.0f GB/s read and written\n", busy * 1e3, (unsigned long long)stats.device[0].slices,
            busy > 0 ? 8e-9 * (double)p->records / busy : 0);
}

// A few results and the bits of all of them.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    hdst_view y = hdst_result_field(p->result, NULL, "y");
    uint64_t hash = 1469598103934665603u;
    for (uint64_t i = 0; i < p->records; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)y.base + i * y.stride, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    const double all[] = {hdst_view_double(y, 0, 0), hdst_view_double(y, p->records - 1, 0), (double)(hash >> 11)};
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = all[i];
    return limit < 3 ? limit : 3;
}

static void build(problem *p, hdst_context *ctx, const char *kernels, bool aos)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/axpb.hk", kernels);
    hdst_source *in = hdst_source_from_callback(ctx, p->records, fill_numbers, p);
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    hdst_dataset *numbers = hdst_cache(hdst_with_layout(hdst_read(in, hk, "number"), aos ? HDST_AOS : HDST_SOA));
    p->value = hdst_value_create(hk, "line", 1);
    p->line = (line){1.5f, -7.25f};
    hdst_value_set(p->value, &p->line, 1);
    hdst_map_spec *spec = hdst_map_spec_create(hk, "axpb");
    hdst_bind_value(spec, "l", p->value);
    p->result = hdst_result_create(hdst_map(numbers, spec));
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 50000000)};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    hdst_context *ctx = hdst_context_create(&options);
    build(&p, ctx, side_option(argc, argv, "--kernels", BENCH_KERNELS), !strcmp(side_option(argc, argv, "--layout", "soa"), "aos"));
    const bench_case cases[] = {{"step", run, check, &p}};
    int status = bench_serve(cases, 1, p.records);
    if (!strcmp(argv[argc - 1], "--explain")) {
        hdst_error error;
        fprintf(stderr, "%s", hdst_explain(p.result, &error));
    }
    hdst_context_destroy(ctx);
    return status;
}
