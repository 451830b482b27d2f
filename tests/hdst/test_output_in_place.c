// SPDX-License-Identifier: Apache-2.0
// Records that a device with memory of its own makes: from the second run of a result on it copies them right to where they stay. Every run has every record
// in its place, alone and shared, whatever was there before.
#include "engine/memory/registered.h"
#include "tests/hdst/support.h"

enum { RECORDS = 2200000, SLICE = 1 << 18, RUNS = 4 };

typedef struct item { uint32_t a, b; } item;

static const char kernels[] = "struct item { uint32_t a, b; };\n"
                              "map turn(item i, broadcast uint32_t by[]) -> item { return (item){ .a = i.b ^ by[0], .b = i.a * 3 }; }\n"
                              "filter odd(item i) { return i.a % 2 == 1; }\n";

static item *items;

static void make_items(void)
{
    items = malloc(RECORDS * sizeof *items);
    for (uint32_t i = 0; i < RECORDS; i++) items[i] = (item){i * 2654435761u, i};
}

static uint64_t pinned(const hdst_context *context) { return hdst__registered_bytes(context->engine->runtime.outputs); }

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    hdst_source *source = hdst_source_from_memory(context, items, RECORDS, sizeof *items);
    hdst_dataset *data = hdst_read(source, module, "item");
    hdst_source_destroy(source);
    return data;
}

static void expect_turned(hdst_result *result, uint32_t by)
{
    uint64_t count;
    const item *rows = hdst_result_rows(result, NULL, &count);
    cr_assert(rows && count == RECORDS);
    for (uint32_t i = 0; i < RECORDS; i++) cr_assert(rows[i].a == (i ^ by) && rows[i].b == items[i].a * 3, "record %u", i);
}

static void run_again_and_again(hdst_context *context)
{
    hdst_module *module = module_of(context, kernels);
    hdst_value *by = hdst_value_create(module, "uint32_t", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "turn");
    cr_assert_eq(hdst_bind_value(spec, "by", by), HDST_OK);
    hdst_result *result = hdst_result_create(hdst_map(read_items(context, module), spec));
    hdst_error error;
    hdst__engine_limits(context->engine)->slice_records = SLICE;
    for (uint32_t run = 0; run < RUNS; run++) {
        const uint32_t value = run * 77777;
        hdst_value_set(by, &value, 1);
        cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s", error.message);
        expect_turned(result, value);
        if (run == 0) cr_assert_eq(pinned(context), 0, "one run does not pay for it");
        else cr_assert_geq(pinned(context), RECORDS * sizeof(item));
    }
    hdst_result_destroy(result);
    cr_assert_eq(pinned(context), 0);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(by);
    hdst_module_destroy(module);
}

Test(output_in_place, a_device_copies_records_to_where_they_stay)
{
    if (!has_cpu()) return;
    make_items();
    hdst_context *context = context_in_form("gpu-form");
    run_again_and_again(context);
    hdst_context_destroy(context);
    free(items);
}

Test(output_in_place, so_do_several_devices)
{
    if (!have_team()) return;
    make_items();
    hdst_context *context = pair_of_gpus(0, 0);
    run_again_and_again(context);
    hdst_context_destroy(context);
    free(items);
}

// Records whose places are known only when they were made, in the same memory.
Test(output_in_place, records_without_a_place_of_their_own_are_copied)
{
    if (!has_cpu()) return;
    make_items();
    hdst_context *context = context_in_form("gpu-form");
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_filter_function(read_items(context, module), module, "odd"));
    hdst_error error;
    for (int run = 0; run < 2; run++) {
        uint64_t count, at = 0;
        cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s", error.message);
        const item *rows = hdst_result_rows(result, NULL, &count);
        for (uint32_t i = 0; i < RECORDS; i++)
            if (items[i].a % 2) cr_assert(at < count && !memcmp(&rows[at++], &items[i], sizeof(item)), "record %u", i);
        cr_assert_eq(at, count);
    }
    hdst_result_destroy(result);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    free(items);
}
