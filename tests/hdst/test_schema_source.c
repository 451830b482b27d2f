// SPDX-License-Identifier: Apache-2.0
// Schemas made in C or parsed from memory, modules that use them without an import, and sources other than files, through the public interface.
#include "tests/hdst/support.h"

static hdst_context *context;

static void set_up(void) { context = context_on("interp"); }
static void tear_down(void) { hdst_context_destroy(context); }

TestSuite(schema_source, .init = set_up, .fini = tear_down);

static const char kernels[] = "map total(sample s, accum double sum, accum int64_t n) { sum += s.x[0] + s.x[1]; n += s.k; }\n";

typedef struct sample { int16_t k; double x[2]; } sample;       // what gcc makes of the record

static hdst_module *module_with(hdst_schema *schema)
{
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &schema;
    options.schema_count = 1;
    hdst_module *module = hdst_module_parse(context, "total.hk", kernels, &options);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_OK, "%s", hdst_module_diagnostics(module));
    return module;
}

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    sample *s = records;
    for (uint64_t i = 0; i < count; i++) s[i] = (sample){(int16_t)(first + i), {0.5, (double)(first + i)}};
    return true;
}

static bool refuse(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)first, (void)count, (void)records, (void)user;
    strcpy(message, "the sensor is off");
    return false;
}

// 1,000 samples with k = i and x = {0.5, i}.
static void expect_totals(hdst_dataset *samples, hdst_module *module)
{
    hdst_result *r = hdst_result_create(hdst_map_function(samples, module, "total"));
    for (int run = 0; run < 3; run++) {
        RUN(r);
        cr_assert_eq(hdst_view_double(hdst_result_field(r, "sum", NULL), 0, 0), 500 + 999 * 500);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), 999 * 500);
        hdst_uncache(samples);      // of no effect where nothing is cached; else the next run reads again
    }
    hdst_result_destroy(r);
}

Test(schema_source, a_schema_made_in_c_serves_a_callback)
{
    hdst_schema *schema = hdst_schema_create(context);
    cr_assert_eq(hdst_schema_add_record(schema, "sample", HDST_SOA, 0, 0, NULL), HDST_OK);
    cr_assert_eq(hdst_schema_add_field(schema, "k", HDST_INT16, 1, NULL), HDST_OK);
    cr_assert_eq(hdst_schema_add_field(schema, "x", HDST_FLOAT64, 2, NULL), HDST_OK);
    cr_assert_eq(hdst_schema_record_size(schema, "sample"), sizeof(sample));
    hdst_module *module = module_with(schema);
    hdst_schema_destroy(schema);    // the module keeps what it uses
    hdst_dataset *samples = hdst_read(hdst_source_from_callback(context, 1000, fill, NULL), module, "sample");
    expect_totals(samples, module);
    expect_totals(hdst_cache(samples), module);
}

Test(schema_source, a_schema_from_memory_serves_rows_in_memory)
{
    static sample rows[1000];
    fill(0, 1000, rows, NULL, NULL);
    hdst_schema *schema = hdst_schema_parse(context, "sample.yaml",
                                            "record: sample\nfields:\n  - {name: k, type: int16}\n  - {name: x, type: float64, count: 2}\n", HDST_NO_PARAMS);
    hdst_error error;
    cr_assert_eq(hdst_schema_status(schema, &error), HDST_OK, "%s", error.message);
    hdst_module *module = module_with(schema);
    expect_totals(hdst_read(hdst_source_from_memory(context, rows, 1000, sizeof(sample)), module, "sample"), module);
}

Test(schema_source, a_mistake_in_a_schema_sticks_to_what_is_made_with_it)
{
    hdst_schema *schema = hdst_schema_create(context);
    hdst_error error;
    hdst_schema_add_record(schema, "sample", HDST_AOS, 3, 0, &error);
    cr_assert_eq(error.code, HDST_E_SCHEMA, "%s", error.message);
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &schema;
    options.schema_count = 1;
    cr_assert_eq(hdst_module_status(hdst_module_parse(context, "total.hk", kernels, &options), NULL), HDST_E_SCHEMA);
}

Test(schema_source, a_callback_that_fails_fails_the_run_with_its_words)
{
    hdst_module *module = module_with(hdst_schema_parse(context, "s.yaml",
                                                        "record: sample\nfields:\n  - {name: k, type: int16}\n"
                                                        "  - {name: x, type: float64, count: 2}\n", HDST_NO_PARAMS));
    hdst_dataset *samples = hdst_read(hdst_source_from_callback(context, 1000, refuse, NULL), module, "sample");
    hdst_error error;
    cr_assert_neq(hdst_run(hdst_result_create(hdst_map_function(samples, module, "total")), &error), HDST_OK);
    cr_assert(strstr(error.message, "the sensor is off") || strstr(error.cause, "the sensor is off"), "%s / %s", error.message, error.cause);
}

Test(schema_source, a_range_of_numbers_is_never_stored)
{
    hdst_module *module = module_of(context, "struct number { int64_t i; };\nreduce add(number a, number b) { return (number){ .i = a.i + b.i }; }\n");
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_read(hdst_source_from_range(context, -10, 100001), module, "number"), module, "add"));
    RUN(r);
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, NULL, "i"), 0, 0), 100000LL * 100001 / 2 - 55);
}
