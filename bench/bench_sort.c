// SPDX-License-Identifier: Apache-2.0
// Sorting, through the public interface: numbers alone, and numbers with a float that goes with each.
//   bench_sort [--problem number|pair] [--records N] [--device DEVICE] [--explain]      case: sort
#include "bench/hdst_side.h"

static bool pairs;

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    uint32_t *at = records;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t number = (uint32_t)(bench_random(first + i) >> 32);
        if (!pairs) at[i] = number;
        else at[2 * i] = number, at[2 * i + 1] = (uint32_t)(first + i);
    }
    return true;
}

static size_t check(void *state, double *values, size_t limit)
{
    uint64_t records;
    const uint32_t *sorted = hdst_result_rows(state, NULL, &records);
    const uint64_t step = pairs ? 2 : 1;
    double sums[3] = {0, 0, 1};
    if (limit < 3) return 0;
    for (uint64_t i = 0; i < records; i++) {
        sums[0] += sorted[i * step];
        sums[1] += (double)sorted[i * step] * (double)i;
        if (i && sorted[(i - 1) * step] > sorted[i * step]) sums[2] = 0;
    }
    memcpy(values, sums, sizeof sums);
    return 3;
}

int main(int argc, char **argv)
{
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    pairs = !strcmp(side_option(argc, argv, "--problem", "number"), "pair");
    hdst_context *ctx = side_context(argc, argv);
    hdst_module *hk = hdst_module_parse(ctx, "sort.hk", "struct number { uint32_t key; };\nstruct pair { uint32_t key; float value; };\n", NULL);
    hdst_dataset *numbers = hdst_read(hdst_source_from_callback(ctx, records, fill, NULL), hk, pairs ? "pair" : "number");
    hdst_result *result = hdst_result_create(hdst_sort(hdst_cache(numbers), "key"));
    side_explain(argc, argv, result);
    const bench_case cases[] = {{"sort", side_run, check, result}};
    const int status = bench_serve(cases, 1, records);
    hdst_context_destroy(ctx);
    return status;
}
