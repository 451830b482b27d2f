// SPDX-License-Identifier: Apache-2.0
// The records with the largest values of pairs (u32, f32) that stay resident, through the public interface.
//   bench_pick [--count N] [--layout aos|soa] [--records N] [--device DEVICE] [--explain]      cases: top, largest (by hdst_max_by)
#include "bench/hdst_side.h"

typedef struct pair { uint32_t key; float value; } pair;

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    pair *pairs = records;
    for (uint64_t i = 0; i < count; i++) pairs[i] = (pair){(uint32_t)(first + i), bench_pair_value(first + i, 0, true)};
    return true;
}

static size_t check(void *state, double *values, size_t limit)
{
    uint64_t count;
    const pair *rows = hdst_result_rows(state, NULL, &count);
    size_t n = 0;
    for (uint64_t i = 0; i < count && n + 2 <= limit && i < 8; i++) values[n++] = rows[i].key, values[n++] = (double)rows[i].value;
    return n;
}

int main(int argc, char **argv)
{
    const uint64_t records = bench_option(argc, argv, "--records", 100000000), wanted = bench_option(argc, argv, "--count", 10);
    hdst_context *ctx = side_context(argc, argv);
    hdst_source *in = hdst_source_from_callback(ctx, records, fill_pairs, NULL);
    hdst_module *hk = hdst_module_parse(ctx, "pick.hk", "struct pair { uint32_t key; float value; };\n", NULL);
    hdst_dataset *pairs = hdst_cache(hdst_with_layout(hdst_read(in, hk, "pair"), side_layout(argc, argv)));
    hdst_result *top = hdst_result_create(hdst_top(pairs, wanted, "value")), *largest = hdst_result_create(hdst_max_by(pairs, "value"));
    const bench_case cases[] = {{"top", side_run, check, top}, {"largest", side_run, check, largest}};
    int status = bench_serve(cases, 2, records);
    side_explain(argc, argv, top);
    hdst_context_destroy(ctx);
    return status;
}
