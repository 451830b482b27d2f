// SPDX-License-Identifier: Apache-2.0
// A histogram of each of the three bytes of pixels that stay resident: the kernel of examples/histogram.
//   bench_histogram [--skewed 0|1] [--layout aos|soa] [--records N] [--device DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"
#include "bench/histogram.h"

typedef struct problem {
    uint64_t records;
    bool skewed;
} problem;

static bool fill_pixels(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const problem *p = user;
    uint8_t *bytes = records;
    for (uint64_t i = 0; i < count; i++)
        for (unsigned c = 0; c < 3; c++) bytes[3 * i + c] = histogram_byte(first + i, c, p->skewed);
    return true;
}

static size_t check(void *result, double *values, size_t limit)
{
    const uint64_t *counts = hdst_result_rows(result, "t", NULL);
    return counts ? histogram_check(counts, values, limit) : 0;
}

int main(int argc, char **argv)
{
    char path[4096];
    problem p = {.records = bench_option(argc, argv, "--records", 33000000), .skewed = bench_option(argc, argv, "--skewed", 0)};
    hdst_context *ctx = side_context(argc, argv);
    snprintf(path, sizeof path, "%s/../examples/histogram/histogram.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_source *in = hdst_source_from_callback(ctx, p.records, fill_pixels, &p);
    hdst_module *hk = hdst_module_load(ctx, path, HDST_PARAM("D", 3));
    hdst_dataset *pixels = hdst_cache(hdst_with_layout(hdst_read(in, hk, "pixel"), side_layout(argc, argv)));
    hdst_result *result = hdst_result_create(hdst_map_function(pixels, hk, "count_bytes"));
    const bench_case cases[] = {{"count", side_run, check, result}};
    int status = bench_serve(cases, 1, p.records);
    side_explain(argc, argv, result);
    hdst_context_destroy(ctx);
    return status;
}
