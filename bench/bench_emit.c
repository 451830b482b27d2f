// SPDX-License-Identifier: Apache-2.0
// hdst's side of the comparisons of filters and flat_maps: resident columns in, C structs out, in input order, through the public interface.
//   bench_emit [--records N] [--layout aos|soa|aosoa|aop] [--device DEVICE] [--kernels FOLDER]      cases: half, tenth, both, steps (expert_emit.c)
#include "bench/hdst_side.h"

typedef struct problem {
    hdst_value *limit;
    float limit_value;
    hdst_result *result;
} problem;

static bool fill_points(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    float *x = records;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < 2; c++) x[2 * i + c] = bench_coordinate(first + i, c, 2);
    return true;
}

static bool fill_edges(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    uint32_t *at = records;
    for (uint64_t i = 0; i < count; i++) {
        at[2 * i] = (uint32_t)(bench_random(first + i) & 255);
        at[2 * i + 1] = (uint32_t)(bench_random(first + i) >> 32 & 255);
    }
    return true;
}

static void run(void *state)
{
    problem *p = state;
    hdst_error error;
    if (p->limit) hdst_value_set(p->limit, &p->limit_value, 1);
    if (hdst_run(p->result, &error) != HDST_OK) side_die(&error);
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint64_t count, sum = 0;
    const uint32_t *rows = hdst_result_rows(p->result, NULL, &count);
    if (limit < 3) return 0;
    for (uint64_t i = 0; i < count; i++) sum += (rows[2 * i] ^ rows[2 * i + 1]) * (i % 1000 + 1);
    values[0] = (double)count;
    values[1] = (double)(sum >> 11);
    values[2] = count ? (double)rows[2 * count - 2] : 0;
    return 3;
}

static hdst_layout layout_of(const char *name)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return (hdst_layout)i;
    fprintf(stderr, "bench_emit: no layout '%s'\n", name);
    exit(2);
}

static hdst_result *below(problem *p, hdst_dataset *points, hdst_module *hk, float limit)
{
    hdst_map_spec *spec = hdst_map_spec_create(hk, "below");
    p->limit_value = limit;
    p->limit = hdst_value_create(hk, "float", 1);
    hdst_bind_value(spec, "limit", p->limit);
    return p->result = hdst_result_create(hdst_filter(points, spec));
}

int main(int argc, char **argv)
{
    uint64_t records = bench_option(argc, argv, "--records", 20000000);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    hdst_context *ctx = hdst_context_create(&options);
    char path[4096];
    snprintf(path, sizeof path, "%s/emit.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    const hdst_layout layout = layout_of(side_option(argc, argv, "--layout", "soa"));
    hdst_dataset *points = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_callback(ctx, records, fill_points, NULL), hk, "point"), layout));
    hdst_dataset *edges = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_callback(ctx, records, fill_edges, NULL), hk, "edge"), layout));
    problem half = {0}, tenth = {0}, both = {0}, steps = {0};
    below(&half, points, hk, 500);
    below(&tenth, points, hk, 100);
    both.result = hdst_result_create(hdst_flat_map_function(edges, hk, "both_ways"));
    steps.result = hdst_result_create(hdst_flat_map_function(edges, hk, "steps"));
    const bench_case cases[] = {{"half", run, check, &half}, {"tenth", run, check, &tenth}, {"both", run, check, &both}, {"steps", run, check, &steps}};
    const int status = bench_serve(cases, 4, records);
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--explain")) {
            hdst_error error;
            fprintf(stderr, "%s\n%s", hdst_explain(half.result, &error), hdst_explain(steps.result, &error));
        }
    hdst_context_destroy(ctx);
    return status;
}
