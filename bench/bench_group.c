// SPDX-License-Identifier: Apache-2.0
// A function over the records of each key, in their order, of pairs (u32, f32), through the public interface: how
// many there are and a sum in which each earlier one counts half.
//   bench_group [--keys N] [--layout aos|soa] [--records N] [--device DEVICE] [--explain]      case: group
#include "bench/hdst_side.h"

typedef struct pair { uint32_t key; float value; } pair;
typedef struct decayed { uint32_t key, count; float sum; } decayed;

static const char kernels[] =
    "struct pair { uint32_t key; float value; };\n"
    "struct decayed { uint32_t key; uint32_t count; float sum; };\n"
    "group decay(key uint32_t key, stream pair s) -> decayed\n"
    "{\n"
    "    decayed d; d.key = key;\n"
    "    for (pair p : s) { d.sum = d.sum * 0.5f + p.value; d.count++; }\n"
    "    return d;\n"
    "}\n";

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    pair *pairs = records;
    const uint64_t keys = *(const uint64_t *)user;
    for (uint64_t i = 0; i < count; i++)
        pairs[i] = (pair){bench_spread_key((uint32_t)((bench_random(first + i) >> 32) * keys >> 32)), bench_pair_value(first + i, 0, false)};
    return true;
}

static size_t check(void *state, double *values, size_t limit)
{
    uint64_t count;
    const decayed *rows = hdst_result_rows(state, NULL, &count);
    if (limit < 3) return 0;
    values[0] = values[1] = values[2] = 0;
    for (uint64_t i = 0; i < count; i++) bench_add_group(rows[i].key, (double)rows[i].sum * rows[i].count, values);
    return 3;
}

int main(int argc, char **argv)
{
    uint64_t keys = bench_option(argc, argv, "--keys", 1000000);
    const uint64_t records = bench_option(argc, argv, "--records", 20000000);
    hdst_context *ctx = side_context(argc, argv);
    hdst_source *in = hdst_source_from_callback(ctx, records, fill_pairs, &keys);
    hdst_module *hk = hdst_module_parse(ctx, "group.hk", kernels, NULL);
    hdst_dataset *pairs = hdst_cache(hdst_with_layout(hdst_read(in, hk, "pair"), side_layout(argc, argv)));
    hdst_result *result = hdst_result_create(hdst_group_function(pairs, "key", hk, "decay"));
    const bench_case cases[] = {{"group", side_run, check, result}};
    int status = bench_serve(cases, 1, records);
    side_explain(argc, argv, result);
    hdst_context_destroy(ctx);
    return status;
}
