// SPDX-License-Identifier: Apache-2.0
// hdst's side of the Monte Carlo comparison: the kernel of examples/monte-carlo over a range of paths, through the public interface. Case: paths.
//   bench_monte_carlo [--records N] [--seed N] [--device DEVICE] [--sums exact|fast] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"

#include <math.h>

typedef struct drawn_option {       // `option` of monte-carlo.hk
    double spot, strike, rate, dividend, volatility, years, sign, center;
    uint64_t seed;
} drawn_option;

static size_t check(void *state, double *values, size_t limit)
{
    if (limit < 2) return 0;
    values[0] = hdst_view_double(hdst_result_field(state, "sum", NULL), 0, 0);
    values[1] = hdst_view_double(hdst_result_field(state, "squares", NULL), 0, 0);
    return 2;
}

int main(int argc, char **argv)
{
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    const drawn_option option = {100, 100, 0.05, 0, 0.2, 1, 1, 100 - 100 * exp(-0.05), bench_option(argc, argv, "--seed", 7)};
    hdst_context *ctx = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/../examples/monte-carlo/monte-carlo.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *module = hdst_module_load(ctx, path, HDST_NO_PARAMS);
    hdst_value *terms = hdst_value_create(module, "option", 1);
    hdst_value_set(terms, &option, 1);
    hdst_map_spec *total = hdst_map_spec_create(module, "total");
    hdst_bind_value(total, "o", terms);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(hdst_source_from_range(ctx, 0, (int64_t)records), module, "int64_t"), total));
    const bench_case cases[] = {{"paths", side_run, check, result}};
    const int status = bench_serve(cases, 1, records);
    side_explain(argc, argv, result);
    hdst_context_destroy(ctx);
    return status;
}
