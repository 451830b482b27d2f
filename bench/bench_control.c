// SPDX-License-Identifier: Apache-2.0
// hdst's side of the comparisons about control flow: a loop that records leave at different turns, a record of four kinds. The points stay resident.
//   bench_control [--problem mandelbrot|branchy] [--layout aos|soa|aosoa|aop] [--records N] [--device DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"

typedef struct problem {
    bool branchy;
    uint64_t records;
    hdst_result *result;
} problem;

typedef struct deal {
    float x, y;
    uint32_t kind;
} deal;

static bool fill_pixels(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    float *x = records;
    for (uint64_t i = 0; i < count; i++) bench_pixel(first + i, ((const problem *)user)->records, &x[2 * i], &x[2 * i + 1]);
    return true;
}

static bool fill_deals(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    deal *d = records;
    for (uint64_t i = 0; i < count; i++)
        d[i] = (deal){bench_coordinate(first + i, 0, 2), bench_coordinate(first + i, 1, 2), bench_kind(first + i)};
    return true;
}

static void run(void *state)
{
    hdst_error error;
    if (hdst_run(((problem *)state)->result, &error) != HDST_OK) side_die(&error);
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const hdst_view view = hdst_result_field(p->result, p->branchy ? "bits" : "turns", NULL);
    const uint64_t total = (uint64_t)hdst_view_int64(view, 0, 0);
    const double halves[] = {(double)(total >> 32), (double)(total & 0xffffffff), (double)total};
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = p->branchy ? halves[i] : (double)total;
    return limit < 3 ? limit : 3;
}

static hdst_layout layout_of(const char *name)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return (hdst_layout)i;
    fprintf(stderr, "bench_control: no layout '%s'\n", name);
    exit(2);
}

static void build(problem *p, hdst_context *ctx, const char *kernels, const char *layout)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.hk", kernels, p->branchy ? "branchy" : "mandelbrot");
    hdst_source *in = hdst_source_from_callback(ctx, p->records, p->branchy ? fill_deals : fill_pixels, p);
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    hdst_dataset *rows = hdst_cache(hdst_with_layout(hdst_read(in, hk, p->branchy ? "deal" : "pixel"), layout_of(layout)));
    p->result = hdst_result_create(hdst_map(rows, hdst_map_spec_create(hk, p->branchy ? "price" : "escape")));
}

int main(int argc, char **argv)
{
    problem p = {.branchy = !strcmp(side_option(argc, argv, "--problem", "mandelbrot"), "branchy"), .records = bench_option(argc, argv, "--records", 20000000)};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    options.log = side_log;
    hdst_context *ctx = hdst_context_create(&options);
    build(&p, ctx, side_option(argc, argv, "--kernels", BENCH_KERNELS), side_option(argc, argv, "--layout", "soa"));
    if (!strcmp(argv[argc - 1], "--explain")) {
        run(&p);
        hdst_error error;
        fprintf(stderr, "%s", hdst_explain(p.result, &error));
    }
    const bench_case cases[] = {{"step", run, check, &p}};
    int status = bench_serve(cases, 1, p.records);
    hdst_context_destroy(ctx);
    return status;
}
