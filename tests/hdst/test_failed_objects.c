// SPDX-License-Identifier: Apache-2.0
// Objects in error, given to every call that takes one: its first error comes out, or goes on to what is made, and
// nothing else of the object is looked at. The objects failed for reasons of their own in a sound context, or stand
// in for what could not be made, or are those of a context that failed.
#include "tests/hdst/objects.h"

// Each for a reason of its own, beside sound ones of the same context.
static objects make_failed(const objects *sound)
{
    objects o = {.context = sound->context};
    o.source = hdst_source_open(o.context, "/nowhere/items.npy");
    o.schema = hdst_schema_parse(o.context, "bad.yaml", "record: [7]\n", NULL, 0);
    o.module = hdst_module_parse(o.context, "bad.hk", "map ?", NULL);
    o.dataset = hdst_read(sound->source, sound->module, "no_record");
    o.spec = hdst_map_spec_create(sound->module, "no_function");
    o.table = hdst_map_spec_create(sound->module, "no_table");
    o.value = hdst_value_create(sound->module, "no_value", 1);
    o.result = hdst_result_create(o.dataset);
    return o;
}

static hdst_error first, error;     // of the object that failed; of the call

static void expect_first(const char *call, hdst_status status)
{
    cr_assert_neq(first.code, HDST_OK, "%s", call);
    cr_expect_eq(status, first.code, "%s: %s: %s", call, hdst_status_text(status), error.message);
    cr_expect_eq(error.code, first.code, "%s", call);
    cr_expect_str_eq(error.message, first.message, "%s: %s", call, error.message);
}

// A call that makes an object; one that gives an error; one that gives a status, and leaves the error to the object.
#define MAKES(failed, function, ...) (STATUS(failed, &first), expect_first(#function, STATUS(function(__VA_ARGS__), &error)))
#define GIVES(failed, function, ...) (STATUS(failed, &first), error = (hdst_error)HDST_ERROR_INIT, expect_first(#function, function(__VA_ARGS__)))
#define SETS(failed, object, function, ...)                                                                                     \
    do {                                                                                                                        \
        STATUS(failed, &first);                                                                                                 \
        const hdst_status given = function(object, __VA_ARGS__);                                                                \
        cr_expect_eq(given, first.code, "%s: %s", #function, hdst_status_text(given));                                          \
        expect_first(#function, STATUS(object, &error));                                                                        \
    } while (0)

static bool no_part(const hdst_part *part, char *message, void *user) { return part && message && user; }

static void give_schema(const objects *bad, const objects *good)
{
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = (hdst_schema *const[]){bad->schema};
    options.schema_count = 1;
    GIVES(bad->schema, hdst_schema_add_record, bad->schema, "a", HDST_AOS, 0, 0, &error);
    GIVES(bad->schema, hdst_schema_add_record, bad->schema, NULL, HDST_AOS, 0, 0, &error);
    GIVES(bad->schema, hdst_schema_add_field, bad->schema, "x", HDST_INT8, 1, &error);
    GIVES(bad->schema, hdst_schema_add_nested, bad->schema, "x", "a", 1, &error);
    cr_expect_eq(hdst_schema_record_size(bad->schema, "a"), 0);
    MAKES(bad->schema, hdst_module_parse, good->context, "a.hk", "", &options);
}

static void give_module(const objects *bad, const objects *good)
{
    MAKES(bad->module, hdst_read, good->source, bad->module, "item");
    MAKES(bad->module, hdst_map_spec_create, bad->module, "twice");
    MAKES(bad->module, hdst_value_create, bad->module, "item", 1);
    MAKES(bad->module, hdst_map_function, good->dataset, bad->module, "twice");
    MAKES(bad->module, hdst_filter_function, good->dataset, bad->module, "odd");
    MAKES(bad->module, hdst_flat_map_function, good->dataset, bad->module, "both");
    MAKES(bad->module, hdst_reduce, good->dataset, bad->module, "total");
    MAKES(bad->module, hdst_reduce_dense, good->dataset, bad->module, "total", 3);
    MAKES(bad->module, hdst_reduce_by_key, good->dataset, bad->module, "total");
    MAKES(bad->module, hdst_group_function, good->dataset, "key", bad->module, "one");
    MAKES(bad->module, hdst_count_by_key, good->dataset, bad->module, "count");
    MAKES(bad->module, hdst_partition, good->dataset, bad->module, "part", 3);
    MAKES(bad->module, hdst_zip_with_index, good->dataset, bad->module, "numbered");
    cr_expect_eq(hdst_module_record_size(bad->module, "item"), 0);
    cr_expect_not_null(hdst_module_diagnostics(bad->module));
}

static void give_spec(const objects *bad, const objects *good)
{
    SETS(bad->spec, bad->spec, hdst_bind_value, "b", good->value);
    SETS(bad->spec, bad->spec, hdst_bind_accum, "s", 1);
    SETS(bad->spec, bad->spec, hdst_map_spec_set_opencl, HDST_DEVICE_CPU, "", "k", 0);
    SETS(bad->spec, bad->spec, hdst_map_spec_set_function, HDST_DEVICE_CPU, no_part, NULL);
    MAKES(bad->spec, hdst_map, good->dataset, bad->spec);
    MAKES(bad->spec, hdst_filter, good->dataset, bad->spec);
    MAKES(bad->spec, hdst_flat_map, good->dataset, bad->spec);
    MAKES(bad->spec, hdst_group, good->dataset, "key", bad->spec);
    MAKES(bad->spec, hdst_partition_by, good->dataset, bad->spec, 3);
}

static void give_value(const objects *bad, const objects *good)
{
    hdst_map_spec *spec = hdst_map_spec_create(good->module, "look");
    SETS(bad->value, bad->value, hdst_value_set, objects_rows, 1);
    SETS(bad->value, spec, hdst_bind_value, "b", bad->value);
    GIVES(bad->value, hdst_value_set_result, bad->value, good->result, NULL, &error);
    hdst_map_spec_destroy(spec);
}

static void give_result(const objects *bad, const objects *good)
{
    uint64_t count = 7;
    GIVES(bad->result, hdst_run, bad->result, &error);
    GIVES(bad->result, hdst_value_set_result, good->value, bad->result, NULL, &error);
    cr_expect_str_eq(hdst_explain(bad->result, &error), "");
    expect_first("hdst_explain", error.code);
    cr_expect_null(hdst_result_field(bad->result, NULL, "key").base);
    cr_expect_null(hdst_result_rows(bad->result, NULL, &count));
    cr_expect_eq(count, 0);
    cr_expect_null(hdst_result_parts(bad->result, &count));
    cr_expect_eq(hdst_result_stats(bad->result).records, 0);
}

static void give_dataset(hdst_dataset *bad, const objects *good)
{
    MAKES(bad, hdst_with_layout, bad, HDST_SOA);
    MAKES(bad, hdst_cache, bad);
    hdst_uncache(bad);
    MAKES(bad, hdst_slice, bad, 0, 1);
    MAKES(bad, hdst_sample, bad, 0.5, 1);
    MAKES(bad, hdst_union, bad, good->dataset);
    MAKES(bad, hdst_union, good->dataset, bad);
    MAKES(bad, hdst_union_all, (hdst_dataset *[]){bad, good->dataset}, 2);
    MAKES(bad, hdst_union_all, (hdst_dataset *[]){good->dataset, bad}, 2);
    MAKES(bad, hdst_arrange, bad, "v");
    MAKES(bad, hdst_scan, bad, "v", NULL);
    MAKES(bad, hdst_window, bad, good->module, "item", 1, 0, NULL);
    MAKES(bad, hdst_scan_function, bad, good->module, "total", NULL);
    MAKES(bad, hdst_dictionary, bad, "key", good->module, "item");
    MAKES(bad, hdst_renumber, bad, "key", good->dataset, good->module, "item");
    MAKES(bad, hdst_renumber, good->dataset, "key", bad, good->module, "item");
    MAKES(bad, hdst_sort, bad, "key");
    MAKES(bad, hdst_zip_with_index, bad, good->module, "numbered");
    MAKES(bad, hdst_map, bad, good->spec);
    MAKES(bad, hdst_filter, bad, good->spec);
    MAKES(bad, hdst_flat_map, bad, good->spec);
    MAKES(bad, hdst_map_function, bad, good->module, "twice");
    MAKES(bad, hdst_filter_function, bad, good->module, "odd");
    MAKES(bad, hdst_flat_map_function, bad, good->module, "both");
    MAKES(bad, hdst_reduce, bad, good->module, "total");
    MAKES(bad, hdst_reduce_dense, bad, good->module, "total", 3);
    MAKES(bad, hdst_reduce_by_key, bad, good->module, "total");
    MAKES(bad, hdst_group, bad, "key", good->spec);
    MAKES(bad, hdst_group_function, bad, "key", good->module, "one");
    MAKES(bad, hdst_partition, bad, good->module, "part", 3);
    MAKES(bad, hdst_partition_by, bad, good->spec, 3);
    MAKES(bad, hdst_with_container, bad, HDST_CONTAINER_TABLE);
    MAKES(bad, hdst_count_by_key, bad, good->module, "count");
    MAKES(bad, hdst_distinct, bad);
    MAKES(bad, hdst_min_by, bad, "v");
    MAKES(bad, hdst_max_by, bad, "v");
    MAKES(bad, hdst_top, bad, 1, "v");
    MAKES(bad, hdst_result_create, bad);
}

static void act_on(hdst_dataset *bad)
{
    uint64_t count = 7, left[3];
    void *taken = left;
    GIVES(bad, hdst_dataset_take, bad, 0, 1, left, &error);
    GIVES(bad, hdst_take, bad, 1, left, &count, &error);
    cr_expect_eq(count, 0);
    count = 7;
    GIVES(bad, hdst_collect, bad, &taken, &count, &error);
    cr_expect(!taken && !count);
    count = 7;
    GIVES(bad, hdst_count, bad, &count, &error);
    cr_expect_eq(count, 0);
    GIVES(bad, hdst_save, bad, "/dev/null/a.npy", &error);
    GIVES(bad, hdst_save, bad, "no ending", &error);
}

static void give_all(const objects *bad, const objects *good)
{
    MAKES(bad->source, hdst_read, bad->source, good->module, "item");
    cr_expect_eq(hdst_source_rows(bad->source), 0);
    cr_expect_eq(hdst_source_columns(bad->source), 0);
    cr_expect_null(hdst_source_column_name(bad->source, 0));
    cr_expect_str_eq(hdst_source_note(bad->source), "");
    give_schema(bad, good);
    give_module(bad, good);
    give_spec(bad, good);
    give_value(bad, good);
    give_result(bad, good);
    give_dataset(bad->dataset, good);
    act_on(bad->dataset);
}

static void expect_sound(const objects *good)
{
    cr_assert_eq(STATUS(good->value, NULL), HDST_OK);
    cr_assert_eq(STATUS(good->spec, NULL), HDST_OK);
    RUN(good->result);
}

Test(failed_objects, for_reasons_of_their_own)
{
    const objects good = make_objects(context_on("interp")), bad = make_failed(&good);
    give_all(&bad, &good);
    MAKES(bad.spec, hdst_partition, good.dataset, good.module, "no_function", 3);       // the map inside of it
    expect_sound(&good);
    hdst_context_destroy(good.context);
}

Test(failed_objects, what_stands_in_for_them)
{
    const objects good = make_objects(context_on("interp")), bad = make_objects(NULL);
    give_all(&bad, &good);
    expect_sound(&good);
    hdst_context_destroy(good.context);
}

// A schema may be wrong only once it is whole.
Test(failed_objects, a_record_without_fields)
{
    hdst_context *context = context_on("interp");
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    hdst_schema *empty = hdst_schema_create(context);
    options.schemas = &empty;
    options.schema_count = 1;
    cr_assert_eq(hdst_schema_add_record(empty, "empty", HDST_AOS, 0, 0, NULL), HDST_OK);
    cr_assert_eq(hdst_module_status(hdst_module_parse(context, "a.hk", "", &options), &error), HDST_E_SCHEMA);
    cr_assert(strstr(error.message, "'empty'"), "%s", error.message);
    hdst_context_destroy(context);
}

static void use_context(hdst_context *bad)
{
    uint32_t count = 7;
    hdst_device_info info;
    GIVES(bad, hdst_device_count, bad, &count, &error);
    cr_expect_eq(count, 0);
    GIVES(bad, hdst_device_get, bad, 0, &info, &error);
    GIVES(bad, hdst_device_chosen, bad, &info, &error);
    MAKES(bad, hdst_source_open, bad, "/nowhere/items.npy");
    MAKES(bad, hdst_source_open_all, bad, (const char *[]){"/nowhere/items.npy"}, 1, NULL);
    MAKES(bad, hdst_source_open_raw, bad, "/nowhere/items.raw");
    MAKES(bad, hdst_source_from_memory, bad, objects_rows, 3, 8);
    MAKES(bad, hdst_source_from_range, bad, 0, 3);
    MAKES(bad, hdst_schema_load, bad, "/nowhere/items.yaml", NULL, 0);
    MAKES(bad, hdst_schema_parse, bad, "a.yaml", "7", NULL, 0);
    MAKES(bad, hdst_schema_create, bad);
    MAKES(bad, hdst_module_load, bad, "/nowhere/items.hk", NULL, 0);
    MAKES(bad, hdst_module_parse, bad, "a.hk", "?", NULL);
    hdst_context_cancel(bad);
    hdst_rows_destroy(bad, NULL);
}

Test(failed_objects, of_a_context_that_failed)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "toaster";
    hdst_context *bad = hdst_context_create(&options);
    use_context(bad);
    hdst_context_destroy(bad);
}

static void *no_memory(size_t bytes, void *user) { return bytes ? user : NULL; }
static void *no_more_memory(void *pointer, size_t bytes, void *user) { return pointer && bytes ? user : NULL; }
static void nothing_to_release(void *pointer, void *user) { cr_expect(!pointer && !user); }

// No memory for the context itself: what stands in for it is a context to every call.
Test(failed_objects, of_what_stands_in_for_a_context)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.allocator = (hdst_allocator){no_memory, no_more_memory, nothing_to_release, NULL};
    hdst_context *bad = hdst_context_create(&options);
    cr_assert_eq(hdst_context_status(bad, &error), HDST_E_MEMORY);
    use_context(bad);
    hdst_rows_destroy(bad, (void *)objects_rows);       // which it did not give
    hdst_context_destroy(bad);
}
