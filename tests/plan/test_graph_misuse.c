// SPDX-License-Identifier: Apache-2.0
// What users get wrong with operators and actions: every mistake has a message that says what, and a hint.
#include "tests/hdst/support.h"

#include <unistd.h>

static const char kernels[] =
    "struct one_way { uint32_t a; float b; };\n"
    "struct other_way { uint32_t a; int32_t b; };\n"
    "struct point { float x[2]; };\n"
    "struct cell { int32_t a; };\n"
    "struct late { float x[2]; uint64_t i; };\n"
    "struct numbered { uint64_t i; double x[2]; };\n"
    "map count(point p, accum uint64_t n) { n += 1; }\n"
    "map tag(point p) -> (key float f, double v) { return (p.x[0], p.x[1]); }\n"
    "map good(point p) -> (key uint32_t k, double v) { return ((uint32_t)p.x[0], p.x[1]); }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "reduce both(cell a, cell b) { return (cell){ .a = a.a + b.a }; }\n"
    "associative reduce last(double a, double b) { return b; }\n"
    "filter all_of(point p) { return true; }\n";

static float table[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static hdst_context *context;
static hdst_module *module;
static hdst_dataset *points;

static void set_up(void)
{
    context = context_on("interp");
    module = module_of(context, kernels);
    points = hdst_read(hdst_source_from_floats(context, table, 4, 2), module, "point");
}

static void tear_down(void) { hdst_context_destroy(context); }

TestSuite(graph_misuse, .init = set_up, .fini = tear_down);

static void expect(hdst_dataset *dataset, hdst_status code, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    cr_assert_eq(hdst_count(dataset, &n, &error), code, "%d %s", error.code, error.message);
    cr_assert(strstr(error.message, message), "'%s' lacks '%s'", error.message, message);
    cr_assert(strstr(error.hint, hint), "'%s' lacks '%s'", error.hint, hint);
    // It sticks to everything behind, also to actions.
    void *rows;
    cr_assert_eq(hdst_collect(hdst_slice(hdst_cache(dataset), 0, 1), &rows, &n, &error), code);
    cr_assert(strstr(error.message, message) && !rows);
    cr_assert_eq(hdst_take(dataset, 1, table, &n, NULL), code);
    cr_assert_eq(hdst_save(dataset, "/tmp/never-written.npy", &error), code);
    cr_assert_neq(access("/tmp/never-written.npy", F_OK), 0);
}

Test(graph_misuse, keys)
{
    expect(hdst_reduce_dense(points, module, "add", 3), HDST_E_USAGE, "needs records with a key; 'point' has none", "key uint32_t");
    expect(hdst_reduce_dense(hdst_map_function(points, module, "tag"), module, "add", 3), HDST_E_USAGE, "key 'f' of 'tag' is no integer", "");
    expect(hdst_reduce_dense(hdst_map_function(points, module, "good"), module, "both", 3), HDST_E_USAGE,
           "'both' reduces 'cell'; 'good' has other fields", "in order");
    expect(hdst_reduce_dense(hdst_map_function(points, module, "good"), module, "last", 3), HDST_E_USAGE, "'last' needs its identity",
           "declare it: reduce last(T a, T b) identity");
    expect(hdst_reduce_dense(hdst_map_function(points, module, "good"), module, "ad", 3), HDST_E_USAGE, "no function 'ad'", "did you mean 'add'?");
    expect(hdst_reduce_dense(hdst_map_function(points, module, "good"), module, "all_of", 3), HDST_E_USAGE,
           "hdst_reduce_dense was given 'all_of', which is a filter", "");
}

Test(graph_misuse, records_that_are_not_there)
{
    hdst_dataset *none = hdst_map_function(points, module, "count");
    expect(hdst_cache(none), HDST_E_USAGE, "hdst_cache needs records", "-> record");
    expect(hdst_slice(none, 0, 1), HDST_E_USAGE, "hdst_slice needs records", "-> record");
    expect(hdst_sample(none, 0.5, 1), HDST_E_USAGE, "hdst_sample needs records", "-> record");
    expect(hdst_union(points, none), HDST_E_USAGE, "hdst_union needs records", "-> record");
    expect(hdst_with_layout(none, HDST_SOA), HDST_E_USAGE, "hdst_with_layout needs records", "-> record");
    expect(hdst_zip_with_index(none, module, "late"), HDST_E_USAGE, "hdst_zip_with_index needs records", "-> record");
    uint64_t n;
    hdst_error error;
    cr_assert_eq(hdst_count(none, &n, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "hdst_count needs records"), "%s", error.message);
}

Test(graph_misuse, records_that_do_not_fit)
{
    expect(hdst_zip_with_index(points, module, "late"), HDST_E_USAGE, "record 'late' does not hold an index",
           "first field is a uint64_t for the index; 'x' is an array of float");
    expect(hdst_zip_with_index(points, module, "numbered"), HDST_E_USAGE, "record 'numbered'", "'x' (double) stands where 'x' (float) comes");
    expect(hdst_zip_with_index(points, module, "numberd"), HDST_E_USAGE, "no record 'numberd'", "did you mean 'numbered'?");
    expect(hdst_union(points, hdst_map_function(points, module, "good")), HDST_E_USAGE, "a union of records of 'point' and of 'good'", "the same fields");
    expect(hdst_union_all(NULL, 0), HDST_E_USAGE, "a union of no datasets", "at least");
    expect(hdst_union(hdst_read(hdst_source_from_memory(context, "", 0, 8), module, "one_way"),
                      hdst_read(hdst_source_from_memory(context, "", 0, 8), module, "other_way")), HDST_E_USAGE,
           "a union of records of 'one_way' and of 'other_way'", "the same fields");
    expect(hdst_union(points, hdst_sample(points, 2, 0)), HDST_E_USAGE, "a sample of the fraction 2", "from 0");
    expect(hdst_sample(points, -0.5, 0), HDST_E_USAGE, "a sample of the fraction -0.5", "from 0");
    expect(hdst_with_layout(points, (hdst_layout)9), HDST_E_USAGE, "layout 9", "");
}

Test(graph_misuse, more_records_than_there_are)
{
    hdst_error error;
    float rows[8];
    cr_assert_eq(hdst_dataset_take(points, 2, 3, rows, &error), HDST_E_USAGE);
    cr_assert(!strcmp(error.message, "3 records from number 2 on are asked for, there are 4 in all"), "%s", error.message);
    cr_assert_eq(hdst_dataset_take(hdst_filter_function(points, module, "all_of"), 4, 1, rows, &error), HDST_E_USAGE);
    cr_assert_eq(hdst_dataset_take(points, 2, 2, rows, &error), HDST_OK);
    cr_assert(rows[0] == 4 && rows[3] == 7);
}

Test(graph_misuse, files_that_cannot_be)
{
    hdst_error error;
    cr_assert_eq(hdst_save(points, "/tmp/points.xlsx", &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "names no format") && strstr(error.hint, ".npy"), "%s", error.hint);
    cr_assert_eq(hdst_save(points, "/tmp/no-such-folder-here/points.npy", &error), HDST_E_IO);
}

Test(graph_misuse, caches_below_caches_end_somewhere)
{
    hdst_dataset *d = points;
    for (int i = 0; i < 150; i++) d = hdst_cache(d);
    uint64_t n;
    float row[2];
    cr_assert_eq(hdst_take(d, 1, row, &n, NULL), HDST_OK);
    for (int i = 0; i < 150; i++) d = hdst_cache(d);
    expect(d, HDST_E_USAGE, "caches below one another", "collect");
}

Test(graph_misuse, a_graph_may_be_deep)
{
    hdst_dataset *d = points;
    for (int i = 0; i < 20000; i++) d = hdst_filter_function(d, module, "all_of");
    d = hdst_slice(d, 1, 3);
    uint64_t n;
    hdst_error error;
    cr_assert_eq(hdst_count(hdst_with_layout(d, HDST_SOA), &n, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(n, 3);
}
