// SPDX-License-Identifier: Apache-2.0
// hdst's side of the matrix-vector product: y = A x over rows that stay resident, through the public interface.
//   bench_matvec [--records N] [--columns D] [--device DEVICE] [--kernels FOLDER]
#include "bench/hdst_side.h"

typedef struct problem {
    uint32_t columns;
    uint64_t records;
    float *vector;
    hdst_value *value;
    hdst_result *result;
} problem;

static bool fill_rows(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const uint32_t columns = ((const problem *)user)->columns;
    float *x = records;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < columns; c++) x[i * columns + c] = bench_coordinate(first + i, c, columns);
    return true;
}

static void run(void *state)
{
    problem *p = state;
    hdst_error error;
    hdst_value_set(p->value, p->vector, 1);
    if (hdst_run(p->result, &error) != HDST_OK) side_die(&error);
}

// Two elements of y and the sum of all.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    uint64_t rows = 0;
    const float *y = hdst_result_rows(p->result, NULL, &rows);
    if (!y || rows != p->records || limit < 3) return 0;
    values[0] = (double)y[0];
    values[1] = (double)y[rows - 1];
    values[2] = 0;
    for (uint64_t i = 0; i < rows; i++) values[2] += (double)y[i];
    return 3;
}

int main(int argc, char **argv)
{
    problem p = {.columns = (uint32_t)bench_option(argc, argv, "--columns", 784), .records = bench_option(argc, argv, "--records", 20000)};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    hdst_context *ctx = hdst_context_create(&options);
    char path[4096];
    snprintf(path, sizeof path, "%s/matvec.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *hk = hdst_module_load(ctx, path, HDST_PARAM("D", p.columns));
    hdst_dataset *rows = hdst_cache(hdst_read(hdst_source_from_callback(ctx, p.records, fill_rows, &p), hk, "row"));
    p.value = hdst_value_create(hk, "row", 1);
    hdst_map_spec *spec = hdst_map_spec_create(hk, "matvec");
    hdst_bind_value(spec, "v", p.value);
    p.result = hdst_result_create(hdst_map(rows, spec));
    p.vector = bench_allocate(p.columns * sizeof(float));
    for (uint32_t c = 0; c < p.columns; c++) p.vector[c] = bench_center(0, c, p.columns);
    const bench_case cases[] = {{"product", run, check, &p}};
    const int status = bench_serve(cases, 1, p.records);
    hdst_context_destroy(ctx);
    return status;
}
