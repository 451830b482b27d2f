// SPDX-License-Identifier: Apache-2.0
// Errors stick to objects, pass on to what is made from them, and come out at the run with a hint.
#include "tests/hdst/support.h"

static const char kernels[] =
    "struct point { float x[2]; };\n"
    "struct total { float x[2]; uint32_t n; };\n"
    "map assign(point p, broadcast point c[], accum total t[]) { t[0].x[0] += p.x[0] * c[0].x[0]; t[0].n += 1; }\n"
    "map move(point p, broadcast point by) -> point { return (point){ .x = { p.x[0] + by.x[0], p.x[1] + by.x[1] } }; }\n"
    "struct keyed { uint32_t key; float v; };\n"
    "group scaled(key uint32_t k, stream keyed v, broadcast point by) -> float { float sum = 0.0f; for (keyed e : v) sum += e.v; return sum * by.x[1]; }\n"
    "filter all_of(point p) { return true; }\n";

static float table[8];
static hdst_context *context;
static hdst_module *module;

static void set_up(void)
{
    context = context_on("interp");
    module = module_of(context, kernels);
}

static void tear_down(void) { hdst_context_destroy(context); }

TestSuite(sticky_errors, .init = set_up, .fini = tear_down);

static hdst_error run_of(hdst_dataset *dataset)
{
    hdst_error error;
    hdst_run(hdst_result_create(dataset), &error);
    return error;
}

static hdst_dataset *points(void) { return hdst_read(hdst_source_from_floats(context, table, 4, 2), module, "point"); }

static void expect(hdst_error error, hdst_status code, const char *message, const char *hint)
{
    cr_assert_eq(error.code, code, "%d %s", error.code, error.message);
    cr_assert(strstr(error.message, message), "'%s' lacks '%s'", error.message, message);
    cr_assert(strstr(error.hint, hint), "'%s' lacks '%s'", error.hint, hint);
}

Test(sticky_errors, a_missing_file_comes_out_at_the_run)
{
    hdst_dataset *d = hdst_read(hdst_source_open(context, "no-such-file.npy"), module, "point");
    hdst_error error = run_of(hdst_cache(hdst_filter_function(d, module, "all_of")));
    expect(error, HDST_E_IO, "no-such-file.npy", "");
}

Test(sticky_errors, a_misspelt_record_has_a_near_name)
{
    hdst_dataset *d = hdst_read(hdst_source_from_floats(context, table, 4, 2), module, "pointt");
    expect(run_of(hdst_filter_function(d, module, "all_of")), HDST_E_USAGE, "no record 'pointt'", "did you mean 'point'?");
}

Test(sticky_errors, a_misspelt_function_has_a_near_name)
{
    expect(run_of(hdst_filter_function(points(), module, "all_off")), HDST_E_USAGE, "no function 'all_off'", "did you mean 'all_of'?");
}

Test(sticky_errors, the_wrong_kind_of_function)
{
    expect(run_of(hdst_map_function(points(), module, "all_of")), HDST_E_USAGE, "hdst_map was given 'all_of', which is a filter", "");
    expect(run_of(hdst_flat_map_function(points(), module, "all_of")), HDST_E_USAGE, "hdst_flat_map was given 'all_of', which is a filter", "");
}

Test(sticky_errors, a_parameter_that_is_not_bound)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    hdst_bind_accum(spec, "t", 2);
    expect(run_of(hdst_map(points(), spec)), HDST_E_USAGE, "parameter 'c' of 'assign' is not bound", "hdst_bind_value");
}

Test(sticky_errors, a_parameter_bound_the_wrong_way)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    cr_assert_eq(hdst_bind_accum(spec, "c", 2), HDST_E_USAGE);
    expect(run_of(hdst_map(points(), spec)), HDST_E_USAGE, "parameter 'c' of 'assign' is a broadcast", "hdst_bind_value");
}

Test(sticky_errors, a_parameter_that_there_is_not)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    cr_assert_eq(hdst_bind_accum(spec, "table", 2), HDST_E_USAGE);
    expect(run_of(hdst_map(points(), spec)), HDST_E_USAGE, "'assign' has no parameter 'table'", "its parameters are p, c, t");
}

Test(sticky_errors, a_value_of_another_record)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    hdst_bind_value(spec, "c", hdst_value_create(module, "total", 2));
    expect(run_of(hdst_map(points(), spec)), HDST_E_USAGE, "takes rows of 'point'; the value has rows of 'total'", "");
}

Test(sticky_errors, columns_that_do_not_fit_the_record)
{
    hdst_dataset *d = hdst_read(hdst_source_from_floats(context, table, 2, 3), module, "point");
    expect(run_of(hdst_filter_function(d, module, "all_of")), HDST_E_FORMAT, "3 numbers in a row, record 'point' takes 2", "choose columns");
}

Test(sticky_errors, a_kernel_with_an_error_says_where)
{
    hdst_module *bad = hdst_module_parse(context, "bad.hk", "struct point { float x; };\nfilter f(point p) { return p.y > 0; }\n", NULL);
    hdst_error error = run_of(hdst_filter_function(hdst_read(hdst_source_from_floats(context, table, 8, 1), bad, "point"), bad, "f"));
    cr_assert_eq(error.code, HDST_E_KERNEL);
    cr_assert_str_eq(error.file, "bad.hk");
    cr_assert_eq(error.line, 2);
    cr_assert_eq(hdst_status_exit_code(error.code), 3);
}

Test(sticky_errors, a_device_that_is_not_there)
{
    hdst_context *other = context_on("99");
    hdst_module *m = hdst_module_parse(other, "test.hk", kernels, NULL);
    hdst_error error = run_of(hdst_filter_function(hdst_read(hdst_source_from_floats(other, table, 4, 2), m, "point"), m, "all_of"));
    cr_assert_eq(error.code, HDST_E_DEVICE);
    cr_assert_eq(hdst_status_exit_code(error.code), 4);
    hdst_context_destroy(other);
}

Test(sticky_errors, views_of_what_is_not_there)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    hdst_bind_accum(spec, "t", 2);
    hdst_bind_value(spec, "c", hdst_value_create(module, "point", 1));
    hdst_result *r = hdst_result_create(hdst_map(points(), spec));
    cr_assert_null(hdst_result_field(r, "t", "x").base);
    RUN(r);
    hdst_error error;
    cr_assert_null(hdst_result_field(r, "tt", "x").base);
    hdst_result_status(r, &error);
    expect(error, HDST_E_USAGE, "no accumulator 'tt'", "its accumulators are t");
    cr_assert_null(hdst_result_field(r, "t", "weight").base);
    hdst_result_status(r, &error);
    expect(error, HDST_E_USAGE, "record 'total' has no field 'weight'", "its fields are x, n");
    cr_assert_null(hdst_result_field(r, NULL, "x").base);
    hdst_result_status(r, &error);
    expect(error, HDST_E_USAGE, "no records", "");
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), 0, 0), 4);
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), 2, 0), 0, "out of range reads give 0");
}

// What is wrong with a value once it is bound comes out at the run, which would read what is not there, or not know that its rows are old ones.
static void check_value(hdst_dataset *(*made)(const hdst_map_spec *spec), const char *function)
{
    static const float two[2][2] = {{1, 2}, {3, 4}};
    hdst_value *value = hdst_value_create(module, "point", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    hdst_bind_value(spec, "by", value);
    hdst_result *r = hdst_result_create(made(spec));
    hdst_error error;
    RUN(r);
    for (uint64_t rows = 0; rows < 3; rows++) {
        cr_assert_eq(hdst_value_set(value, two, rows), HDST_OK);
        hdst_run(r, &error);
        if (rows == 1) cr_assert_eq(error.code, HDST_OK, "%s", error.message);
        else expect(error, HDST_E_USAGE, rows ? "is one row, the value has 2 now" : "is one row, the value has 0 now", "by[]");
    }
    cr_assert_eq(hdst_value_set(value, two, 1), HDST_OK);
    RUN(r);
    cr_assert_eq(hdst_value_set(value, NULL, 1), HDST_E_USAGE);
    hdst_run(r, &error);
    expect(error, HDST_E_USAGE, "NULL for 'data'", "");
}

static hdst_dataset *moved(const hdst_map_spec *spec) { return hdst_map(points(), spec); }

static hdst_dataset *grouped(const hdst_map_spec *spec)
{
    static const struct { uint32_t key; float v; } pairs[] = {{1, 2}, {2, 3}, {1, 4}};
    return hdst_group(hdst_read(hdst_source_from_memory(context, pairs, 3, sizeof *pairs), module, "keyed"), "key", spec);
}

Test(sticky_errors, a_value_that_went_wrong_after_it_was_bound)
{
    check_value(moved, "move");
    check_value(grouped, "scaled");
}
