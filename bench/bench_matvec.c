// SPDX-License-Identifier: Apache-2.0
// hdst's side of the matrix-vector product, y = A x over rows that stay resident, and of steps of
// examples/matrix-vector (x becomes A x / |A x|), through the public interface. Cases: product, iterate.
//   bench_matvec [--problem product|iterate] [--records N] [--columns D] [--device DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"

#include <math.h>

typedef struct problem {
    uint32_t columns;
    uint64_t records;
    float *vector;
    hdst_value *value;
    hdst_result *result;
    double norm;                // of the last step, in iterate
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

// --- Iterated, as the example does ---

static void iterate(void *state)
{
    problem *p = state;
    run(p);
    const float *y = hdst_result_rows(p->result, NULL, NULL);
    p->norm = sqrt(hdst_view_double(hdst_result_field(p->result, "squares", NULL), 0, 0));
    for (uint32_t i = 0; i < p->columns; i++) p->vector[i] = (float)((double)y[i] / p->norm);
}

// |A x| of the last step, the first and the last coordinate of x after it.
static size_t check_iterate(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 3) return 0;
    values[0] = p->norm;
    values[1] = (double)p->vector[0];
    values[2] = (double)p->vector[p->columns - 1];
    return 3;
}

int main(int argc, char **argv)
{
    problem p = {.columns = (uint32_t)bench_option(argc, argv, "--columns", 784), .records = bench_option(argc, argv, "--records", 20000)};
    const bool iterated = !strcmp(side_option(argc, argv, "--problem", "product"), "iterate");
    hdst_context *ctx = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", side_option(argc, argv, "--kernels", BENCH_KERNELS),
             iterated ? "../examples/matrix-vector/matrix-vector.hk" : "matvec.hk");
    hdst_module *hk = hdst_module_load(ctx, path, HDST_PARAM("D", p.columns));
    hdst_dataset *rows = hdst_cache(hdst_read(hdst_source_from_callback(ctx, p.records, fill_rows, &p), hk, "row"));
    p.value = hdst_value_create(hk, iterated ? "vector" : "row", 1);
    hdst_map_spec *spec = hdst_map_spec_create(hk, iterated ? "multiply" : "matvec");
    hdst_bind_value(spec, "v", p.value);
    p.result = hdst_result_create(hdst_map(rows, spec));
    p.vector = bench_allocate(p.columns * sizeof(float));
    for (uint32_t c = 0; c < p.columns; c++) p.vector[c] = bench_center(0, c, p.columns);
    const bench_case cases[] = {iterated ? (bench_case){"iterate", iterate, check_iterate, &p} : (bench_case){"product", run, check, &p}};
    const int status = bench_serve(cases, 1, p.records);
    side_explain(argc, argv, p.result);
    hdst_context_destroy(ctx);
    return status;
}
