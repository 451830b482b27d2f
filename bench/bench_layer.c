// SPDX-License-Identifier: Apache-2.0
// Products of records' rows with rows of a broadcast whose sums are written as loops, over rows that stay resident: a layer with its relu
// (--problem layer), the nearest of many points (nearest).
//   bench_layer [--problem layer|nearest] [--records N] [--columns D] [--units H] [--layout aos|soa|aosoa|aop] [--device DEVICE] [--kernels FOLDER]
//   [--explain]
#include "bench/hdst_side.h"

typedef struct problem {
    uint32_t columns, units;
    uint64_t records;
    bool nearest;
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

// The first and the last record's numbers, and the sum of some.
static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const uint32_t words = p->nearest ? 2 : p->units;
    uint64_t rows = 0;
    const float *y = hdst_result_rows(p->result, NULL, &rows);
    if (!y || rows != p->records || limit < 3) return 0;
    values[0] = (double)y[words - 1];
    values[1] = (double)y[rows * words - 1];
    values[2] = 0;
    for (uint64_t i = 0; i < rows; i++) values[2] += (double)y[i * words + words - 1];
    return 3;
}

static void run(void *state) { side_run(((problem *)state)->result); }

static hdst_value *make_value(const problem *p, hdst_module *hk)
{
    const uint64_t rows = p->nearest ? p->units : 1;
    const size_t count = (size_t)p->units * (p->columns + (p->nearest ? 0 : 1));
    float *numbers = bench_allocate(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = bench_center((uint32_t)(i / p->columns), (uint32_t)(i % p->columns), p->columns);
    hdst_value *value = hdst_value_create(hk, p->nearest ? "row" : "weights", rows);
    hdst_value_set(value, numbers, rows);
    free(numbers);
    return value;
}

int main(int argc, char **argv)
{
    problem p = {.columns = (uint32_t)bench_option(argc, argv, "--columns", 512), .units = (uint32_t)bench_option(argc, argv, "--units", 256),
                 .records = bench_option(argc, argv, "--records", 4096), .nearest = !strcmp(side_option(argc, argv, "--problem", "layer"), "nearest")};
    hdst_context *ctx = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/layer.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    const hdst_param params[] = {{"D", p.columns}, {"H", p.units}};
    hdst_module *hk = hdst_module_load(ctx, path, params, 2);
    hdst_dataset *rows = hdst_read(hdst_source_from_callback(ctx, p.records, fill_rows, &p), hk, "row");
    hdst_map_spec *spec = hdst_map_spec_create(hk, p.nearest ? "nearest" : "layer");
    hdst_bind_value(spec, p.nearest ? "c" : "n", make_value(&p, hk));
    p.result = hdst_result_create(hdst_map(hdst_cache(hdst_with_layout(rows, side_layout(argc, argv))), spec));
    const bench_case cases[] = {{"step", run, check, &p}};
    const int status = bench_serve(cases, 1, p.records);
    side_explain(argc, argv, p.result);
    hdst_context_destroy(ctx);
    return status;
}
