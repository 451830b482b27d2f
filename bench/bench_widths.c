// SPDX-License-Identifier: Apache-2.0
// hdst's side of the comparison of sizes of numbers (widths.hk): bytes, 16-bit and 64-bit integers, doubles. The records stay resident.
//   bench_widths [--layout aos|soa|aosoa|aop] [--records N] [--device DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"
#include "bench/widths.h"

static bool fill_bytes(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((uint8_t *)records)[i] = width_byte(first + i);
    return true;
}

static bool fill_halves(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((int16_t *)records)[i] = width_half(first + i);
    return true;
}

static bool fill_wholes(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((int64_t *)records)[i] = width_whole(first + i);
    return true;
}

static bool fill_reals(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((double *)records)[i] = width_real(first + i);
    return true;
}

static size_t check(void *result, double *values, size_t limit)
{
    const uint64_t sum = (uint64_t)hdst_view_int64(hdst_result_field(result, "sum", NULL), 0, 0);
    if (limit < 2) return 0;
    values[0] = (double)(sum >> 32);
    values[1] = (double)(sum & 0xffffffff);
    return 2;
}

typedef struct size {
    const char *map, *record;
    hdst_source_callback fill;
} size;

static hdst_result *build(hdst_context *ctx, hdst_module *hk, const size *s, uint64_t records, hdst_layout layout)
{
    width_steps steps[WIDTHS_STEPS];
    for (uint64_t j = 0; j < WIDTHS_STEPS; j++) steps[j] = width_steps_of(j);
    hdst_value *table = hdst_value_create(hk, "steps", WIDTHS_STEPS);
    hdst_value_set(table, steps, WIDTHS_STEPS);
    hdst_map_spec *spec = hdst_map_spec_create(hk, s->map);
    hdst_bind_value(spec, "s", table);
    hdst_source *in = hdst_source_from_callback(ctx, records, s->fill, NULL);
    return hdst_result_create(hdst_map(hdst_cache(hdst_with_layout(hdst_read(in, hk, s->record), layout)), spec));
}

int main(int argc, char **argv)
{
    static const size sizes[] = {
        {"bytes", "byte", fill_bytes}, {"halves", "half", fill_halves}, {"wholes", "whole", fill_wholes}, {"reals", "real", fill_reals}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    hdst_context *ctx = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/widths.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    bench_case cases[SIZES];
    for (int i = 0; i < SIZES; i++) {
        hdst_result *result = build(ctx, hk, &sizes[i], records, side_layout(argc, argv));
        side_explain(argc, argv, result);
        cases[i] = (bench_case){sizes[i].map, side_run, check, result};
    }
    const int status = bench_serve(cases, SIZES, records);
    hdst_context_destroy(ctx);
    return status;
}
