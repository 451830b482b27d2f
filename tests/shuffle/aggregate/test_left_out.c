// SPDX-License-Identifier: Apache-2.0
// Keys that are no numbers of rows, where records come in slices and where memory is short: which one is told, how many are left out.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { N = 600000, ROWS = 1000, STRAY = 500003, OTHER = 560001 };

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "map given(item a) -> item;\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce halved(float a, float b) identity { 0.0 } { return a * 0.5f + b; }\n";

typedef struct item { uint32_t key; float v; } item;

static item items[N];

static bool copy_items(const hdst_part *part, char *message, void *user)
{
    (void)message, (void)user;
    memcpy(part->output, part->records, part->count * sizeof(item));
    return true;
}

static hdst_context *open_context(uint64_t memory, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = "";
    options.memory = memory;
    options.on_error = on_error;
    hdst_context *context = hdst_context_create(&options);
    context->engine->limits.by_key_least_cells = 1;
    return context;
}

// A map whose code is the program's own is a stage of its own, whose records go to the sums slice by slice: the
// number of a record counts those of the slices before.
Test(left_out, a_record_of_a_later_slice)
{
    for (uint32_t i = 0; i < N; i++) items[i] = (item){i == STRAY ? ROWS + 7 : i == OTHER ? UINT32_MAX : i * 7919 % ROWS, 0.5f};
    for (int skip = 0; skip < 2; skip++) {
        hdst_context *context = open_context(0, skip ? HDST_ON_ERROR_SKIP : HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_map_spec *spec = hdst_map_spec_create(module, "given");
        hdst_map_spec_set_function(spec, HDST_DEVICE_INTERP, copy_items, NULL);
        hdst_dataset *data = hdst_map(hdst_read(hdst_source_from_memory(context, items, N, sizeof *items), module, "item"), spec);
        hdst_result *r = hdst_result_create(hdst_reduce_dense(data, module, "add", ROWS));
        hdst_error error;
        hdst_run(r, &error);
        if (skip) cr_assert(error.code == HDST_OK && hdst_result_stats(r).records_skipped == 2 && hdst_result_stats(r).device[0].slices > 1);
        else cr_assert(error.code == HDST_E_RECORD && error.record == STRAY && strstr(error.message, "1007"), "record %llu: %s",
                       (unsigned long long)error.record, error.message);
        if (skip) cr_assert(strstr(hdst_explain(r, NULL), "output: slice by slice"), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

// Records are read for each part of the keys, those of the first part twice, as it has most of them and does not fit: each bad key counts once all the same.
Test(left_out, count_once_however_often_they_are_read)
{
    enum { FEW = 100000 };
    float expected[ROWS] = {0};
    uint64_t bad = 0;
    for (uint32_t i = 0; i < FEW; i++) {
        const uint32_t key = i % 11 == 5 ? ROWS + i : i % 10 ? i * 7919 % (ROWS / 50) : i * 7919 % ROWS;
        items[i] = (item){key, (float)(i % 100)};
        bad += key >= ROWS;
        if (key < ROWS) expected[key] = expected[key] * 0.5f + (float)(i % 100);
    }
    hdst_context *context = open_context(3 << 20, HDST_ON_ERROR_SKIP);
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_reduce_dense(hdst_read(hdst_source_from_memory(context, items, FEW, sizeof *items), module, "item"),
                                                          module, "halved", ROWS));
    RUN(r);
    uint64_t n;
    const float *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, ROWS);
    for (uint32_t k = 0; k < ROWS; k++) cr_assert_eq(got[k], expected[k], "key %u: %a, not %a", (unsigned)k, (double)got[k], (double)expected[k]);
    cr_assert(strstr(hdst_explain(r, NULL), "memory was short: keys in"), "%s", hdst_explain(r, NULL));
    cr_assert_eq(hdst_result_stats(r).records_skipped, bad, "%llu, not %llu", (unsigned long long)hdst_result_stats(r).records_skipped,
                 (unsigned long long)bad);
    hdst_context_destroy(context);
}
