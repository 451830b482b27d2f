// SPDX-License-Identifier: Apache-2.0
// Functions of mathematics over floats that stay resident, and the Black-Scholes formula, through the public
// interface. Cases: exp log sin tanh erf pow normal price.
//   bench_math [--records N] [--device DEVICE] [--kernels FOLDER] [--case NAME] [--explain]
#include "bench/hdst_side.h"

static bool fill_numbers(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    float *x = records;
    for (uint64_t i = 0; i < count; i++) x[i] = bench_coordinate(first + i, 0, 1);
    return true;
}

static bool fill_options(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) bench_option_at(first + i, (float *)records + 3 * i);
    return true;
}

// Some of the results.
static size_t check(void *state, double *values, size_t limit)
{
    hdst_result *result = state;
    hdst_view y = hdst_result_field(result, NULL, "x");
    for (size_t i = 0; i < 3 && i < limit; i++) values[i] = hdst_view_double(y, i * 1000, 0);
    return limit < 3 ? limit : 3;
}

static size_t check_prices(void *state, double *values, size_t limit)
{
    hdst_view call = hdst_result_field(state, NULL, "call"), put = hdst_result_field(state, NULL, "put");
    if (limit < 3) return 0;
    memset(values, 0, 3 * sizeof *values);
    for (uint64_t i = 0; i < call.rows; i++) bench_add_prices(i, hdst_view_double(call, i, 0), hdst_view_double(put, i, 0), values);
    return 3;
}

static const char *const names[] = {"exp", "log", "sin", "tanh", "erf", "pow", "normal", "price"};
enum { CASES = sizeof names / sizeof *names };

static hdst_result *build(hdst_context *context, hdst_module *module, uint64_t records, const char *name)
{
    const bool prices = !strcmp(name, "price");
    char function[32];
    snprintf(function, sizeof function, prices ? "%s" : "apply_%s", name);
    hdst_source *in = hdst_source_from_callback(context, records, prices ? fill_options : fill_numbers, NULL);
    hdst_dataset *rows = hdst_cache(hdst_with_layout(hdst_read(in, module, prices ? "option" : "number"), HDST_SOA));
    return hdst_result_create(hdst_map(rows, hdst_map_spec_create(module, function)));
}

int main(int argc, char **argv)
{
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    const char *only = side_option(argc, argv, "--case", NULL);
    hdst_context *context = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/math.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *module = hdst_module_load(context, path, NULL, 0);
    bench_case cases[CASES];
    size_t count = 0;
    for (size_t i = 0; i < CASES; i++) {
        if (only && strcmp(only, names[i])) continue;
        hdst_result *result = build(context, module, records, names[i]);
        side_explain(argc, argv, result);
        cases[count++] = (bench_case){names[i], side_run, strcmp(names[i], "price") ? check : check_prices, result};
    }
    int status = bench_serve(cases, count, records);
    hdst_context_destroy(context);
    return status;
}
