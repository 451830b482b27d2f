// SPDX-License-Identifier: Apache-2.0
// A result that runs again over other data than before: what the first run left must neither be lost twice nor be taken for the second one's.
#include "tests/hdst/support.h"

static const char kernels[] =
    "struct pair { uint32_t key; float v; };\n"
    "filter below(pair p, broadcast uint32_t most) { return p.key < most; }\n"
    "reduce add(float a, float b) { return a + b; }\n";

typedef struct pair { uint32_t key; float v; } pair;

enum { N = 1 << 19 };

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((pair *)records)[i] = (pair){(uint32_t)((first + i) * 7919 % N), 1.5f};
    return true;
}

// The budget has no room for the first result, which lies in a file that is read like memory; the next ones have hardly a record, or none.
Test(second_runs, few_or_no_keys_behind_a_result_in_a_file)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 2 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_value *most = hdst_value_create(module, "uint32_t", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "below");
    hdst_bind_value(spec, "most", most);
    hdst_dataset *pairs = hdst_read(hdst_source_from_callback(context, N, fill_pairs, NULL), module, "pair");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_filter(pairs, spec), module, "add"));
    const uint32_t wanted[] = {N, 0, N, 1, N, 2, 0, 1};
    for (size_t turn = 0; turn < sizeof wanted / sizeof *wanted; turn++) {
        uint64_t n;
        cr_assert_eq(hdst_value_set(most, &wanted[turn], 1), HDST_OK);
        RUN(r);
        const pair *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, wanted[turn], "turn %zu: %llu", turn, (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++) cr_assert(got[i].key < wanted[turn] && got[i].v == 1.5f);
        cr_assert_eq(strstr(hdst_explain(r, NULL), "result: over the memory budget, in a temporary file") != NULL, n == N, "%s", hdst_explain(r, NULL));
    }
    hdst_context_destroy(context);
}

// What a cache's maps totalled when it was filled is each result's own: it stays as it is when the cache is given up and filled again.
Test(second_runs, accumulators_of_a_cache_stay_with_the_result)
{
    enum { RECORDS = 100 };
    static float x[RECORDS];
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "map tally(float x, broadcast uint64_t by, accum uint64_t n) -> float { n += by; return x + (float)by; }\n");
    hdst_value *by = hdst_value_create(module, "uint64_t", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "tally");
    hdst_bind_value(spec, "by", by);
    hdst_dataset *cached = hdst_cache(hdst_map(hdst_read(hdst_source_from_floats(context, x, RECORDS, 1), module, "float"), spec));
    hdst_result *r[4];
    for (uint64_t turn = 0; turn < 4; turn++) {
        cr_assert_eq(hdst_value_set(by, &(uint64_t){turn + 1}, 1), HDST_OK);
        r[turn] = hdst_result_create(cached);
        RUN(r[turn]);
        for (uint64_t before = 0; before <= turn; before++) {
            cr_assert_eq(hdst_view_int64(hdst_result_field(r[before], "n", NULL), 0, 0), (int64_t)(RECORDS * (before + 1)),
                         "turn %d, result %d: %d", (int)turn, (int)before,
                         (int)hdst_view_int64(hdst_result_field(r[before], "n", NULL), 0, 0));
            cr_assert_eq(hdst_view_double(hdst_result_field(r[before], NULL, NULL), RECORDS - 1, 0), (double)(before + 1));
        }
        hdst_uncache(cached);
    }
    hdst_context_destroy(context);
}
