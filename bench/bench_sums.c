// SPDX-License-Identifier: Apache-2.0
// hdst's side of the comparisons over pairs: sums of a line by least squares, and a chain of four operators. Pairs stay resident.
//   bench_sums [--problem linreg|chain] [--layout aos|soa|aosoa|aop] [--records N] [--digits 16|24] [--sums exact|fast] [--device DEVICE] [--kernels FOLDER]
//   [--explain]
#include "bench/hdst_side.h"

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    const bool *all_digits = user;
    (void)message;
    float *pair = records;
    for (uint64_t i = 0; i < count; i++) {
        pair[2 * i] = bench_pair_value(first + i, 0, *all_digits);
        pair[2 * i + 1] = bench_pair_value(first + i, 1, *all_digits);
    }
    return true;
}

static double sum_of(const hdst_result *result, const char *field)
{
    return hdst_view_double(hdst_result_field((hdst_result *)result, "s", field), 0, 0);
}

static size_t check(void *state, double *values, size_t limit)
{
    const double all[] = {sum_of(state, "x"), sum_of(state, "y"), sum_of(state, "n")};
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = all[i];
    return limit < 3 ? limit : 3;
}

static hdst_result *build(hdst_context *ctx, int argc, char **argv, uint64_t records, bool chain, bool *all_digits)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS), chain ? "chain" : "linreg");
    hdst_module *hk = hdst_module_load(ctx, path, HDST_NO_PARAMS);
    hdst_dataset *pairs =
        hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_callback(ctx, records, fill_pairs, all_digits), hk, "pair"), side_layout(argc, argv)));
    if (!chain) return hdst_result_create(hdst_map(pairs, hdst_map_spec_create(hk, "add")));
    pairs = hdst_filter(pairs, hdst_map_spec_create(hk, "inside"));
    pairs = hdst_map(pairs, hdst_map_spec_create(hk, "turn"));
    pairs = hdst_map(pairs, hdst_map_spec_create(hk, "bend"));
    return hdst_result_create(hdst_map(pairs, hdst_map_spec_create(hk, "total")));
}

int main(int argc, char **argv)
{
    const bool chain = !strcmp(side_option(argc, argv, "--problem", "linreg"), "chain");
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    bool all_digits = bench_option(argc, argv, "--digits", 16) > 16;     // significant bits of the values
    hdst_context *ctx = side_context(argc, argv);
    hdst_result *result = build(ctx, argc, argv, records, chain, &all_digits);
    const bench_case cases[] = {{"step", side_run, check, result}};
    const int status = bench_serve(cases, 1, records);
    side_explain(argc, argv, result);   // at the end, when shapes were tried
    hdst_context_destroy(ctx);
    return status;
}
