// SPDX-License-Identifier: Apache-2.0
// What the checks inside kernels cost that cannot be proved away: the same program with and without --unchecked, through the public interface.
//   bench_checks [--unchecked 1] [--records N] [--device DEVICE] [--kernels FOLDER]      cases: histogram, gather, divide, score (checks.hk)
#include "bench/hdst_side.h"

enum { ROWS = 256 };

typedef struct problem {
    hdst_result *result;
    const char *table, *number;     // accumulators, or NULL
} problem;

typedef struct entry { uint32_t key; int32_t divisor; } entry;

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    entry *at = records;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t r = bench_random(first + i);
        at[i] = (entry){(uint32_t)(r % ROWS), (int32_t)(r >> 40 & 1023) + 1};
    }
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
    if (limit < 3) return 0;
    values[0] = values[1] = values[2] = 0;
    if (p->table)
        values[0] = hdst_view_double(hdst_result_field(p->result, p->table, "n"), 3, 0),
        values[1] = hdst_view_double(hdst_result_field(p->result, p->table, "n"), ROWS - 1, 0);
    if (p->number) values[2] = hdst_view_double(hdst_result_field(p->result, p->number, NULL), 0, 0);
    return 3;
}

static problem make(hdst_dataset *entries, hdst_module *hk, const char *function, hdst_value *c, const char *table, const char *number)
{
    hdst_map_spec *spec = hdst_map_spec_create(hk, function);
    if (c) hdst_bind_value(spec, "c", c);
    if (table) hdst_bind_accum(spec, table, ROWS);
    return (problem){hdst_result_create(hdst_map(entries, spec)), table, number};
}

int main(int argc, char **argv)
{
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = side_option(argc, argv, "--device", "all");
    options.unchecked = bench_option(argc, argv, "--unchecked", 0) != 0;
    hdst_context *ctx = hdst_context_create(&options);
    char path[4096];
    snprintf(path, sizeof path, "%s/checks.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    hdst_dataset *entries = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_callback(ctx, records, fill, NULL), hk, "entry"), HDST_SOA));
    hdst_value *c = hdst_value_create(hk, "float", ROWS);
    float table[ROWS];
    for (int i = 0; i < ROWS; i++) table[i] = (float)i * 0.125f;
    hdst_value_set(c, table, ROWS);
    problem histogram = make(entries, hk, "histogram", NULL, "t", NULL), gather = make(entries, hk, "gather", c, NULL, "sum");
    problem divide = make(entries, hk, "divide", NULL, NULL, "sum"), score = make(entries, hk, "score", c, "t", "sum");
    const bench_case cases[] = {
        {"histogram", run, check, &histogram}, {"gather", run, check, &gather}, {"divide", run, check, &divide}, {"score", run, check, &score}};
    const int status = bench_serve(cases, 4, records);
    hdst_context_destroy(ctx);
    return status;
}
