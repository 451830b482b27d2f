// SPDX-License-Identifier: Apache-2.0
// hdst's side of the KMeans comparisons: one step over points that stay resident, through the public interface.
//   bench_kmeans [--problem l2|l1|l2_plain|wide|k] [--columns D] [--layout aos|soa|aosoa|aop] [--records N] [--clusters K] [--device DEVICE] [--kernels FOLDER]
//   [--explain]
#include "bench/hdst_side.h"

#include <inttypes.h>

typedef struct problem {
    uint32_t clusters, columns;
    float *centers;
    hdst_value *value;
    hdst_result *result;
    bool explain;               // say what is behind the times, on standard error
} problem;

static bool fill_points(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    uint32_t columns = ((const problem *)user)->columns;
    float *x = records;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < columns; c++) x[i * columns + c] = bench_coordinate(first + i, c, columns);
    return true;
}

static void run(void *state)
{
    problem *p = state;
    hdst_error error;
    hdst_value_set(p->value, p->centers, p->clusters);
    if (hdst_run(p->result, &error) != HDST_OK) side_die(&error);
    if (p->explain) fprintf(stderr, "bench_kmeans: kernels %.3f ms\n", hdst_result_stats(p->result).device[0].busy_seconds * 1e3);
}

// All bits of all sums in one number, so that two devices can be compared.
static double digest(const problem *p)
{
    hdst_view x = hdst_result_field(p->result, "t", "x"), n = hdst_result_field(p->result, "t", "n");
    uint64_t hash = 1469598103934665603u;
    for (uint32_t j = 0; j < p->clusters; j++)
        for (uint32_t c = 0; c <= p->columns; c++) {
            double v = c < p->columns ? hdst_view_double(x, j, c) : hdst_view_double(n, j, 0);
            uint64_t bits;
            memcpy(&bits, &v, sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    return (double)(hash >> 11);
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint32_t j = p->clusters > 3 ? 3 : 0;
    hdst_view x = hdst_result_field(p->result, "t", "x"), n = hdst_result_field(p->result, "t", "n"), inertia = hdst_result_field(p->result, "inertia", NULL);
    const double all[] = {hdst_view_double(x, j, 0), hdst_view_double(x, j, p->columns - 1), hdst_view_double(n, j, 0), hdst_view_double(inertia, 0, 0),
                          digest(p)};
    for (size_t i = 0; i < 5 && i < limit; i++) values[i] = all[i];
    return limit < 5 ? limit : 5;
}

static hdst_layout layout_of(const char *name)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return (hdst_layout)i;
    fprintf(stderr, "bench_kmeans: no layout '%s'\n", name);
    exit(2);
}

// The graph is as in tutorial/kmeans.c.
static void build(problem *p, hdst_context *ctx, uint64_t records, const char *kernels, const char *name, const char *layout)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kmeans_%s.hk", kernels, name);
    hdst_source *in = hdst_source_from_callback(ctx, records, fill_points, p);
    const hdst_param params[] = {{"D", p->columns}, {"K", p->clusters}};
    hdst_module *hk = hdst_module_load(ctx, path, params, strcmp(name, "k") ? 1 : 2);
    hdst_dataset *points = hdst_cache(hdst_with_layout(hdst_read(in, hk, "point"), layout_of(layout)));
    p->value = hdst_value_create(hk, "center", p->clusters);
    hdst_map_spec *spec = hdst_map_spec_create(hk, "assign");
    hdst_bind_value(spec, "c", p->value);
    hdst_bind_accum(spec, "t", p->clusters);
    p->result = hdst_result_create(hdst_map(points, spec));
    p->centers = bench_allocate((size_t)p->clusters * p->columns * sizeof(float));
    for (uint32_t j = 0; j < p->clusters; j++)
        for (uint32_t c = 0; c < p->columns; c++) p->centers[j * p->columns + c] = bench_center(j, c, p->columns);
}

int main(int argc, char **argv)
{
    const char *name = side_option(argc, argv, "--problem", "l2");
    problem p = {.clusters = (uint32_t)bench_option(argc, argv, "--clusters", 50), };
    p.columns = (uint32_t)bench_option(argc, argv, "--columns", !strcmp(name, "l1") ? 5 : !strcmp(name, "wide") ? 784 : 2);
    uint64_t records = bench_option(argc, argv, "--records", 20000000);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    options.unchecked = bench_option(argc, argv, "--unchecked", 0) != 0;
    options.log = side_log;
    hdst_context *ctx = hdst_context_create(&options);
    build(&p, ctx, records, side_option(argc, argv, "--kernels", BENCH_KERNELS), name, side_option(argc, argv, "--layout", "soa"));
    p.explain = !strcmp(argv[argc - 1], "--explain");
    const bench_case cases[] = {{"step", run, check, &p}};
    int status = bench_serve(cases, 1, records);
    hdst_run_stats last = hdst_result_stats(p.result);
    hdst_error error;
    if (p.explain)      // at the end, when shapes were tried
        fprintf(stderr, "%sbench_kmeans: last step moved %" PRIu64 " bytes to the device, %" PRIu64 " back\n", hdst_explain(p.result, &error),
                last.bytes_to_device, last.bytes_from_device);
    hdst_context_destroy(ctx);
    return status;
}
