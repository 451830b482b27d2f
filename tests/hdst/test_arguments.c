// SPDX-License-Identifier: Apache-2.0
// All public functions with NULL for each object, with objects of another context, with objects in error and with
// those that stand in for none: never a crash, and an error that names the call and the argument.
// tests/package/arguments.py compares the list here and in test_arguments_of_joins.c with the headers.
#include "tests/hdst/argument_calls.h"

static bool never(uint64_t first, uint64_t count, void *records, char *message, void *user) { return first && count && records && message && user; }

static bool no_part(const hdst_part *part, char *message, void *user) { return part && message && user; }

static bool never_counted(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    return first && count && records && given && ended && message && user;
}

// --- NULL for each argument that is an object, a name or a place for an answer ---

static void null_in_contexts(const objects o)
{
    uint32_t devices;
    hdst_device_info info;
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    GIVES(hdst_context_status, "context", NULL, &error);
    GIVES(hdst_device_count, "context", NULL, &devices, &error), GIVES(hdst_device_count, "count", o.context, NULL, &error);
    GIVES(hdst_device_get, "context", NULL, 0, &info, &error), GIVES(hdst_device_get, "info", o.context, 0, NULL, &error);
    GIVES(hdst_device_chosen, "context", NULL, &info, &error);
    GIVES(hdst_device_chosen, "info", o.context, NULL, &error);
    GIVES(hdst_memory_usage, "context", NULL, &use, &error);
    GIVES(hdst_memory_usage, "use", o.context, NULL, &error);
    GIVES(hdst_memory_reset_peaks, "context", NULL, &error);
    cr_expect_str_eq(hdst_memory_owner_name((hdst_memory_owner)-1), "?");
    ENDS(hdst_context_destroy, "context", NULL);
    ENDS(hdst_context_cancel, "context", NULL);
}

static void null_in_sources(const objects o)
{
    hdst_type type;
    MAKES(hdst_source_open, "context", NULL, "a.npy"), MAKES(hdst_source_open, "path", o.context, NULL);
    MAKES(hdst_source_open_columns, "context", NULL, "a.npy", NULL), MAKES(hdst_source_open_columns, "path", o.context, NULL, NULL);
    MAKES(hdst_source_open_all, "context", NULL, (const char *[]){"a.npy"}, 1, NULL);
    MAKES(hdst_source_open_all, "paths", o.context, NULL, 1, NULL), MAKES(hdst_source_open_all, "paths", o.context, (const char *[]){"a.npy", NULL}, 2, NULL);
    MAKES(hdst_source_open_lines, "context", NULL, "a.txt"), MAKES(hdst_source_open_lines, "path", o.context, NULL);
    MAKES(hdst_source_open_all_lines, "context", NULL, (const char *[]){"a.txt"}, 1, NULL),
        MAKES(hdst_source_open_all_lines, "paths", o.context, NULL, 1, NULL);
    MAKES(hdst_source_open_all_lines, "paths", o.context, (const char *[]){"a.txt", NULL}, 2, NULL);
    MAKES(hdst_source_open_edges, "context", NULL, "a.txt"), MAKES(hdst_source_open_edges, "path", o.context, NULL);
    MAKES(hdst_source_open_all_edges, "context", NULL, (const char *[]){"a.txt"}, 1, NULL);
    MAKES(hdst_source_open_all_edges, "paths", o.context, NULL, 1, NULL);
    MAKES(hdst_source_open_raw, "context", NULL, "a.raw");
    MAKES(hdst_source_open_raw, "path", o.context, NULL);
    MAKES(hdst_source_from_memory, "context", NULL, objects_rows, 3, 8);
    MAKES(hdst_source_from_memory, "rows", o.context, NULL, 3, 8);
    MAKES(hdst_source_from_floats, "context", NULL, (const float *)objects_rows, 3, 2);
    MAKES(hdst_source_from_floats, "table", o.context, NULL, 3, 2);
    MAKES(hdst_source_from_range, "context", NULL, 0, 1);
    MAKES(hdst_source_from_callback, "context", NULL, 1, never, NULL);
    MAKES(hdst_source_from_callback, "fill", o.context, 1, NULL, NULL);
    MAKES(hdst_source_from_concurrent_callback, "context", NULL, 1, never, NULL);
    MAKES(hdst_source_from_concurrent_callback, "fill", o.context, 1, NULL, NULL);
    MAKES(hdst_source_from_uncounted_callback, "context", NULL, never_counted, false, NULL);
    MAKES(hdst_source_from_uncounted_callback, "fill", o.context, NULL, false, NULL);
    GIVES(hdst_memory_register, "context", NULL, objects_rows, 8, &error);
    GIVES(hdst_memory_register, "memory", o.context, NULL, 8, &error);
    GIVES(hdst_memory_unregister, "context", NULL, objects_rows, &error);
    GIVES(hdst_memory_unregister, "memory", o.context, NULL, &error);
    ASKS(hdst_source_rows, "source", NULL);
    ASKS(hdst_source_vertices, "source", NULL);
    ASKS(hdst_source_columns, "source", NULL);
    ASKS(hdst_source_column_name, "source", NULL, 0);
    ASKS(hdst_source_column_type, "source", NULL, 0, &type);
    ASKS(hdst_source_column_type, "type", hdst_source_from_floats(o.context, (const float *)objects_rows, 3, 2), 0, NULL);
    ASKS(*hdst_source_note, "source", NULL);
    ASKS(hdst_source_file, "source", NULL, 0);
    GIVES(hdst_source_status, "source", NULL, &error);
    ENDS(hdst_source_destroy, "source", NULL);
}

static void null_in_schemas(const objects o)
{
    MAKES(hdst_schema_load, "context", NULL, "a.yaml", NULL, 0);
    MAKES(hdst_schema_load, "path", o.context, NULL, NULL, 0);
    MAKES(hdst_schema_load, "params", o.context, "a.yaml", NULL, 1);
    MAKES(hdst_schema_parse, "context", NULL, "a", "", NULL, 0);
    MAKES(hdst_schema_parse, "name", o.context, NULL, "", NULL, 0);
    MAKES(hdst_schema_parse, "yaml", o.context, "a", NULL, NULL, 0);
    MAKES(hdst_schema_parse, "params", o.context, "a", "", NULL, 1);
    MAKES(hdst_schema_parse, "params[].name", o.context, "a", "", HDST_PARAM(NULL, 1));
    MAKES(hdst_schema_create, "context", NULL);
    GIVES(hdst_schema_add_record, "schema", NULL, "a", HDST_AOS, 0, 0, &error);
    GIVES(hdst_schema_add_record, "name", hdst_schema_create(o.context), NULL, HDST_AOS, 0, 0, &error);
    GIVES(hdst_schema_add_field, "schema", NULL, "x", HDST_INT8, 1, &error);
    GIVES(hdst_schema_add_field, "name", hdst_schema_create(o.context), NULL, HDST_INT8, 1, &error);
    GIVES(hdst_schema_add_nested, "schema", NULL, "x", "a", 1, &error);
    GIVES(hdst_schema_add_nested, "name", hdst_schema_create(o.context), NULL, "a", 1, &error);
    GIVES(hdst_schema_add_nested, "record", hdst_schema_create(o.context), "x", NULL, 1, &error);
    ASKS(hdst_schema_record_size, "schema", NULL, "a");
    ASKS(hdst_schema_record_size, "record", o.schema, NULL);
    GIVES(hdst_schema_status, "schema", NULL, &error);
    ENDS(hdst_schema_destroy, "schema", NULL);
}

static void null_in_modules(const objects o)
{
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schema_count = 1;
    MAKES(hdst_module_load, "context", NULL, "a.hk", NULL, 0);
    MAKES(hdst_module_load, "path", o.context, NULL, NULL, 0);
    MAKES(hdst_module_load, "params", o.context, "a.hk", NULL, 1);
    MAKES(hdst_module_parse, "context", NULL, "a", "", NULL);
    MAKES(hdst_module_parse, "name", o.context, NULL, "", NULL);
    MAKES(hdst_module_parse, "text", o.context, "a", NULL, NULL);
    MAKES(hdst_module_parse, "schemas", o.context, "a", "", &options);
    options.schemas = (hdst_schema *const[]){NULL};
    MAKES(hdst_module_parse, "schemas", o.context, "a", "", &options);
    MAKES(hdst_module_load, "params[].name", o.context, "a.hk", HDST_PARAM(NULL, 1));
    ASKS(*hdst_module_diagnostics, "module", NULL);
    ASKS(*hdst_module_diagnostics, "", hdst_module_load(o.context, "/nowhere/a.hk", NULL, 0));
    GIVES(hdst_module_status, "module", NULL, &error);
    ASKS(hdst_module_record_size, "module", NULL, "item");
    ASKS(hdst_module_record_size, "record", o.module, NULL);
    ENDS(hdst_module_destroy, "module", NULL);
}

static void null_in_values(const objects o)
{
    MAKES(hdst_value_create, "module", NULL, "item", 1);
    MAKES(hdst_value_create, "type", o.module, NULL, 1);
    call = "hdst_value_set";
    cr_assert_eq(hdst_value_set(NULL, objects_rows, 1), HDST_E_USAGE);
    hdst_value *value = hdst_value_create(o.module, "item", 1);
    cr_assert_eq(hdst_value_set(value, NULL, 1), HDST_E_USAGE);
    expect(hdst_value_status(value, &error), "data", "NULL");
    cr_assert_eq(hdst_value_set(o.value, NULL, 0), HDST_OK);
    GIVES(hdst_value_set_result, "value", NULL, o.result, NULL, &error);
    GIVES(hdst_value_set_result, "result", o.value, NULL, NULL, &error);
    GIVES(hdst_value_status, "value", NULL, &error);
    ENDS(hdst_value_destroy, "value", NULL);
}

static void null_in_datasets(const objects o)
{
    uint64_t left[6];
    MAKES(hdst_read, "source", NULL, o.module, "item");
    MAKES(hdst_read, "module", o.source, NULL, "item");
    MAKES(hdst_read, "record", o.source, o.module, NULL);
    MAKES(hdst_read_value, "value", NULL);
    GIVES(hdst_dataset_status, "dataset", NULL, &error);
    MAKES(hdst_with_layout, "dataset", NULL, HDST_SOA), MAKES(hdst_cache, "dataset", NULL);
    ENDS(hdst_uncache, "dataset", NULL);
    MAKES(hdst_slice, "dataset", NULL, 0, 1), MAKES(hdst_sample, "dataset", NULL, 0.5, 1);
    MAKES(hdst_arrange, "dataset", NULL, "v");
    MAKES(hdst_scan, "dataset", NULL, "v", NULL), MAKES(hdst_union, "first", NULL, o.dataset), MAKES(hdst_union, "second", o.dataset, NULL);
    MAKES(hdst_scan_function, "dataset", NULL, o.module, "total", NULL), MAKES(hdst_scan_function, "module", o.dataset, NULL, "total", NULL);
    MAKES(hdst_scan_function, "function", o.dataset, o.module, NULL, NULL);
    MAKES(hdst_window, "dataset", NULL, o.module, "item", 1, 0, NULL), MAKES(hdst_window, "module", o.dataset, NULL, "item", 1, 0, NULL);
    MAKES(hdst_window, "record", o.dataset, o.module, NULL, 1, 0, NULL);
    MAKES(hdst_union_all, "datasets", NULL, 1);
    MAKES(hdst_union_all, "datasets", (hdst_dataset *[]){NULL, o.dataset}, 2);
    MAKES(hdst_union_all, "datasets", (hdst_dataset *[]){o.dataset, NULL}, 2);
    MAKES(hdst_dictionary, "dataset", NULL, "key", o.module, "item"), MAKES(hdst_dictionary, "module", o.dataset, "key", NULL, "item");
    MAKES(hdst_renumber, "dataset", NULL, "key", o.dataset, o.module, "item"), MAKES(hdst_renumber, "module", o.dataset, "key", o.dataset, NULL, "item");
    MAKES(hdst_renumber, "dictionary", o.dataset, "key", NULL, o.module, "item"), MAKES(hdst_renumber, "record", o.dataset, "key", o.dataset, o.module, NULL);
    MAKES(hdst_sort, "dataset", NULL, "key");
    MAKES(hdst_zip_with_index, "dataset", NULL, o.module, "numbered");
    MAKES(hdst_zip_with_index, "module", o.dataset, NULL, "numbered");
    MAKES(hdst_zip_with_index, "record", o.dataset, o.module, NULL);
    GIVES(hdst_dataset_take, "dataset", NULL, 0, 1, left, &error);
    GIVES(hdst_dataset_take, "rows", o.dataset, 0, 1, NULL, &error);
}

static void null_in_specs(const objects o)
{
    MAKES(hdst_map_spec_create, "module", NULL, "twice");
    MAKES(hdst_map_spec_create, "function", o.module, NULL);
    BINDS(hdst_bind_value, "value", "NULL", "b", NULL);
    BINDS(hdst_bind_value, "parameter", "NULL", NULL, o.value);
    BINDS(hdst_bind_accum, "parameter", "NULL", NULL, 1);
    BINDS(hdst_bind_lookup, "records", "NULL", "b", NULL, "x");
    BINDS(hdst_bind_lookup, "parameter", "NULL", NULL, o.dataset, "x");
    cr_assert_eq(hdst_bind_lookup(NULL, "b", o.dataset, "x"), HDST_E_USAGE);
    cr_assert_eq(hdst_bind_value(NULL, "b", o.value), HDST_E_USAGE);
    cr_assert_eq(hdst_bind_accum(NULL, "s", 1), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_set_opencl(NULL, HDST_DEVICE_CPU, "", "key", 0), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_set_function(NULL, HDST_DEVICE_CPU, no_part, NULL), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_set_filter(NULL, HDST_DEVICE_CPU, NULL, NULL), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_set_opencl(hdst_map_spec_create(o.module, "twice"), HDST_DEVICE_CPU, NULL, NULL, 0), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_set_function(hdst_map_spec_create(o.module, "twice"), HDST_DEVICE_CPU, NULL, NULL), HDST_E_USAGE);
    GIVES(hdst_map_spec_status, "spec", NULL, &error);
    ENDS(hdst_map_spec_destroy, "spec", NULL);
}

static void null_in_operators(const objects o)
{
    MAKES(hdst_map, "dataset", NULL, o.spec);
    MAKES(hdst_map, "spec", o.dataset, NULL);
    MAKES(hdst_filter, "dataset", NULL, o.spec);
    MAKES(hdst_filter, "spec", o.dataset, NULL);
    MAKES(hdst_flat_map, "dataset", NULL, o.spec);
    MAKES(hdst_flat_map, "spec", o.dataset, NULL);
    MAKES(hdst_map_function, "dataset", NULL, o.module, "twice");
    MAKES(hdst_map_function, "module", o.dataset, NULL, "twice");
    MAKES(hdst_map_function, "function", o.dataset, o.module, NULL);
    MAKES(hdst_filter_function, "dataset", NULL, o.module, "odd");
    MAKES(hdst_filter_function, "module", o.dataset, NULL, "odd");
    MAKES(hdst_flat_map_function, "dataset", NULL, o.module, "both");
    MAKES(hdst_flat_map_function, "module", o.dataset, NULL, "both");
    MAKES(hdst_reduce, "dataset", NULL, o.module, "total");
    MAKES(hdst_reduce, "module", o.dataset, NULL, "total");
    MAKES(hdst_min_by, "dataset", NULL, "v");
    MAKES(hdst_max_by, "dataset", NULL, "v");
    MAKES(hdst_top, "dataset", NULL, 1, "v");
    MAKES(hdst_reduce_dense, "dataset", NULL, o.module, "total", 3);
    MAKES(hdst_reduce_dense, "module", o.dataset, NULL, "total", 3);
    MAKES(hdst_group, "dataset", NULL, "key", o.spec);
    MAKES(hdst_group, "spec", o.dataset, "key", NULL);
    MAKES(hdst_group_function, "dataset", NULL, "key", o.module, "one");
    MAKES(hdst_group_function, "module", o.dataset, "key", NULL, "one");
    MAKES(hdst_group_function, "function", o.dataset, "key", o.module, NULL);
    MAKES(hdst_reduce_by_key, "dataset", NULL, o.module, "total");
    MAKES(hdst_reduce_by_key, "module", o.dataset, NULL, "total");
    MAKES(hdst_reduce_by_key, "function", o.dataset, o.module, NULL);
    MAKES(hdst_partition, "dataset", NULL, o.module, "part", 3);
    MAKES(hdst_partition, "module", o.dataset, NULL, "part", 3);
    MAKES(hdst_partition, "function", o.dataset, o.module, NULL, 3);
    MAKES(hdst_partition_by, "dataset", NULL, o.spec, 3);
    MAKES(hdst_partition_by, "spec", o.dataset, NULL, 3);
    MAKES(hdst_with_container, "reduction", NULL, HDST_CONTAINER_TABLE);
    MAKES(hdst_count_by_key, "dataset", NULL, o.module, "count");
    MAKES(hdst_count_by_key, "module", o.dataset, NULL, "count");
    MAKES(hdst_count_by_key, "record", o.dataset, o.module, NULL);
    MAKES(hdst_distinct, "dataset", NULL);
}

static void null_in_actions(const objects o)
{
    uint64_t count, left[6];
    void *taken;
    MAKES(hdst_result_create, "dataset", NULL);
    GIVES(hdst_run, "result", NULL, &error);
    call = "hdst_run_async";
    expect(hdst_job_wait(hdst_run_async(NULL), 0, NULL, &error), "result", "NULL");
    GIVES(hdst_job_wait, "job", NULL, 0, NULL, &error);
    ENDS(hdst_job_cancel, "job", NULL);
    ENDS(hdst_job_destroy, "job", NULL);
    ENDS(hdst_result_destroy, "result", NULL);
    cr_assert_null(hdst_result_field(NULL, NULL, NULL).base);
    ASKS(hdst_result_rows, "result", NULL, NULL, &count);
    ASKS(hdst_result_parts, "result", NULL, &count);
    GIVES(hdst_result_status, "result", NULL, &error);
    cr_assert_eq(hdst_result_stats(NULL).records, 0);
    ASKS(*hdst_explain, "result", NULL, &error);
    GIVES(hdst_count, "dataset", NULL, &count, &error);
    GIVES(hdst_count, "count", o.dataset, NULL, &error);
    GIVES(hdst_take, "dataset", NULL, 1, left, NULL, &error);
    GIVES(hdst_take, "rows", o.dataset, 1, NULL, NULL, &error);
    GIVES(hdst_collect, "dataset", NULL, &taken, &count, &error);
    count = 7;
    GIVES(hdst_collect, "rows", o.dataset, NULL, &count, &error);
    cr_assert_eq(count, 0);
    taken = left;
    GIVES(hdst_collect, "count", o.dataset, &taken, NULL, &error);
    cr_assert_null(taken);
    ENDS(hdst_rows_destroy, "context", NULL, NULL);
    GIVES(hdst_save, "dataset", NULL, "a.npy", &error);
    GIVES(hdst_save, "dataset", NULL, "no ending", &error);
    GIVES(hdst_save, "path", o.dataset, NULL, &error);
    GIVES(hdst_view_save, "path", (hdst_view){objects_rows, 8, 3, 1, HDST_UINT32}, NULL, &error);
    // No rows need no room.
    cr_assert_eq(hdst_dataset_take(o.dataset, 0, 0, NULL, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_take(o.dataset, 0, NULL, NULL, &error), HDST_OK, "%s", error.message);
}

static hdst_partial *some_partial(const objects o)
{
    hdst_map_spec *sums = hdst_map_spec_create(o.module, "sums");
    hdst_bind_accum(sums, "t", 1);
    hdst_result *result = hdst_result_create(hdst_map(o.dataset, sums));
    cr_assert_eq(hdst_result_keep_partial(result, &error), HDST_OK, "%s", error.message);
    RUN(result);
    return hdst_partial_from_result(result);
}

static void null_in_partials(const objects o)
{
    uint64_t count;
    const void *bytes;
    hdst_partial *partial = some_partial(o);
    GIVES(hdst_result_keep_partial, "result", NULL, &error);
    GIVES(hdst_result_keep_partial_at, "result", NULL, 0, &error);
    MAKES(hdst_partial_from_result, "result", NULL);
    MAKES(hdst_partial_from_bytes, "context", NULL, objects_rows, 8);
    MAKES(hdst_partial_from_bytes, "bytes", o.context, NULL, 8);
    GIVES(hdst_partial_merge, "partial", NULL, partial, &error);
    GIVES(hdst_partial_merge, "from", partial, NULL, &error);
    GIVES(hdst_partial_write, "partial", NULL, &bytes, &count, &error);
    GIVES(hdst_partial_write, "bytes", partial, NULL, &count, &error);
    GIVES(hdst_partial_write, "size", partial, &bytes, NULL, &error);
    cr_assert_null(hdst_partial_field(NULL, NULL, NULL).base);
    ASKS(hdst_partial_rows, "partial", NULL, NULL, &count);
    cr_assert_eq(hdst_partial_range(NULL, 0, &count, &count), 0);
    cr_assert_eq(hdst_partial_range(partial, 0, NULL, NULL), 0);
    GIVES(hdst_partial_status, "partial", NULL, &error);
    ENDS(hdst_partial_destroy, "partial", NULL);
    cr_assert_eq(hdst_partial_status(partial, &error), HDST_OK, "%s", error.message);
}

typedef void section(const objects o);

Test(arguments, null)
{
    static section *const sections[] = {null_in_contexts, null_in_sources, null_in_schemas, null_in_modules, null_in_values,
                                        null_in_datasets, null_in_specs, null_in_operators, null_in_actions, null_in_partials};
    const objects o = make_objects(context_on("interp"));
    cr_assert_eq(STATUS(o.result, &error), HDST_OK);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        sections[i](o);
        RUN(o.result);                      // what was sound before is sound still
    }
    hdst_context_destroy(o.context);
}

// Each second object of a call; the context that it came from ends first, and what was made is still told, and freed, without it.
Test(arguments, of_another_context)
{
    const objects o = make_objects(context_on("interp")), other = make_objects(context_on("interp"));
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &other.schema;
    options.schema_count = 1;
    MIXES(hdst_module_parse, "schemas", o.context, "a", "", &options);
    MIXES(hdst_read, "module", o.source, other.module, "item");
    MIXES(hdst_zip_with_index, "module", o.dataset, other.module, "numbered");
    MIXES(hdst_dictionary, "module", o.dataset, "key", other.module, "item");
    MIXES(hdst_renumber, "dictionary", o.dataset, "key", other.dataset, o.module, "item");
    MIXES(hdst_renumber, "module", o.dataset, "key", o.dataset, other.module, "item");
    MIXES(hdst_scan_function, "module", o.dataset, other.module, "total", NULL);
    MIXES(hdst_window, "module", o.dataset, other.module, "item", 1, 0, NULL);
    MIXES(hdst_union, "second", o.dataset, other.dataset);
    MIXES(hdst_union_all, "datasets", (hdst_dataset *[]){o.dataset, other.dataset}, 2);
    MIXES(hdst_map, "spec", o.dataset, other.spec); MIXES(hdst_filter, "spec", o.dataset, other.spec);
    MIXES(hdst_flat_map, "spec", o.dataset, other.spec);
    MIXES(hdst_map_function, "module", o.dataset, other.module, "twice");
    MIXES(hdst_filter_function, "module", o.dataset, other.module, "odd");
    MIXES(hdst_flat_map_function, "module", o.dataset, other.module, "both");
    MIXES(hdst_reduce, "module", o.dataset, other.module, "total");
    MIXES(hdst_reduce_dense, "module", o.dataset, other.module, "total", 3);
    MIXES(hdst_group, "spec", o.dataset, "key", other.spec);
    MIXES(hdst_group_function, "module", o.dataset, "key", other.module, "one");
    MIXES(hdst_reduce_by_key, "module", o.dataset, other.module, "total");
    MIXES(hdst_partition, "module", o.dataset, other.module, "part", 3);
    MIXES(hdst_partition_by, "spec", o.dataset, other.spec, 3);
    MIXES(hdst_count_by_key, "module", o.dataset, other.module, "count");
    BINDS(hdst_bind_value, "value", "another context", "b", other.value);
    BINDS(hdst_bind_lookup, "records", "another context", "b", other.dataset, "x");
    call = "hdst_value_set_result";
    expect(hdst_value_set_result(o.value, other.result, NULL, &error), "result", "another context");
    call = "hdst_partial_merge";
    hdst_partial *ours = some_partial(o);
    expect(hdst_partial_merge(ours, some_partial(other), &error), "from", "another context");      // MIXES(hdst_partial_merge, "from"
    hdst_result *mixed = hdst_result_create(hdst_map(o.dataset, other.spec));
    hdst_context_destroy(other.context);
    cr_assert_eq(hdst_run(mixed, &error), HDST_E_USAGE);
    RUN(o.result);
    hdst_context_destroy(o.context);
}

static hdst_status run_of(hdst_dataset *dataset)
{
    hdst_result *result = hdst_result_create(dataset);
    const hdst_status status = hdst_run(result, &error);
    hdst_result_destroy(result);
    return status;
}

// Objects that stand in for none, made of one another through everything there is: the first error comes out at the end.
static void expect_all(const objects *o, const char *message, const char *of_module)
{
    cr_assert_eq(run_of(hdst_distinct(hdst_reduce_by_key(hdst_map(hdst_cache(hdst_sort(hdst_slice(o->dataset, 0, 1), "key")), o->spec),
                                                         o->module, "total"))), HDST_E_USAGE);
    cr_assert_str_eq(error.message, message);
    cr_assert_eq(run_of(hdst_top(hdst_partition(hdst_union(hdst_with_layout(o->dataset, HDST_SOA), o->dataset), o->module, "part", 2), 1, "v")), HDST_E_USAGE);
    cr_assert_str_eq(error.message, message);
    cr_assert_eq(hdst_value_status(o->value, &error), HDST_E_USAGE);
    cr_assert_str_eq(error.message, of_module);
    cr_assert_eq(hdst_map_spec_status(o->spec, &error), HDST_E_USAGE);
    cr_assert_str_eq(error.message, of_module);
    cr_assert_eq(hdst_result_status(o->result, &error), HDST_E_USAGE);
    cr_assert_str_eq(error.message, message);
    uint64_t count;
    cr_assert_eq(hdst_count(o->dataset, &count, NULL), HDST_E_USAGE);
    cr_assert_eq(hdst_save(o->dataset, "/dev/null/a.npy", NULL), HDST_E_USAGE);
    cr_assert_eq(hdst_value_set(o->value, objects_rows, 1), HDST_E_USAGE);
    cr_assert_eq(hdst_bind_value(o->table, "b", o->value), HDST_E_USAGE);
    cr_assert_eq(hdst_bind_accum(o->table, "s", 1), HDST_E_USAGE);
    cr_assert(!hdst_source_rows(o->source) && !hdst_source_vertices(o->source));
    cr_assert_eq(hdst_module_record_size(o->module, "item"), 0);
    cr_assert_null(hdst_result_rows(o->result, NULL, NULL));
    hdst_uncache(o->dataset);
    hdst_result_destroy(o->result);
    hdst_value_destroy(o->value);
    hdst_map_spec_destroy(o->spec);
    hdst_map_spec_destroy(o->table);
    hdst_module_destroy(o->module);
    hdst_schema_destroy(o->schema);
    hdst_source_destroy(o->source);
}

Test(arguments, what_is_made_of_nothing)
{
    const objects o = make_objects(NULL);
    expect_all(&o, "hdst_source_from_memory was given NULL for 'context'", "hdst_module_parse was given NULL for 'context'");
}

Test(arguments, what_is_made_in_a_context_that_failed)
{
    hdst_context_options options = {0};
    hdst_context *context = hdst_context_create(&options);
    cr_assert_eq(hdst_context_status(context, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "hdst_context_options of size 0"), "%s", error.message);
    cr_assert(strstr(error.hint, "HDST_CONTEXT_OPTIONS_INIT"));
    char message[512];
    strcpy(message, error.message);
    const objects o = make_objects(context);
    expect_all(&o, message, message);
    hdst_context_destroy(context);
}

// --- Options ---

// Options of `size` bytes, of which those behind the ones known here are zeroes but for the last one.
static hdst_status create_with(size_t size, const char *device, char last)
{
    static union { hdst_context_options options; char bytes[1 << 21]; } given;
    memset(&given, 0, sizeof given);
    given.options = (hdst_context_options)HDST_CONTEXT_OPTIONS_INIT;
    given.options.size = size;
    given.options.device = device;
    if (last) given.bytes[size - 1] = last;
    hdst_context *context = hdst_context_create(&given.options);
    const hdst_status status = hdst_context_status(context, &error);
    hdst_context_destroy(context);
    return status;
}

Test(arguments, the_size_of_options)
{
    const size_t whole = sizeof(hdst_context_options), bad[] = {0, 3, 8, whole - 1, whole + 1, 4096 + 8, 1 << 20}, newer[] = {whole + 16, 2048, 4096};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) cr_expect_eq(create_with(bad[i], "interp", 0), HDST_E_USAGE, "size %zu", bad[i]);
    cr_expect_eq(create_with(whole, "interp", 0), HDST_OK);
    cr_expect_eq(create_with(offsetof(hdst_context_options, unchecked), "interp", 0), HDST_OK, "an older program");
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        cr_expect_eq(create_with(newer[i], "interp", 0), HDST_OK, "a newer program that asks for nothing new, %zu", newer[i]);
        cr_expect_eq(create_with(newer[i], "interp", 1), HDST_E_USAGE, "a newer program, %zu", newer[i]);
        cr_expect(strstr(error.message, "ask for something that this version"), "%s", error.message);
    }
    hdst_context *context = context_on("interp");
    hdst_module_options options = {0};
    cr_assert_eq(hdst_module_status(hdst_module_parse(context, "a", "", &options), &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "hdst_module_options of size 0"), "%s", error.message);
    hdst_context_destroy(context);
}

// What an older program does not know of has its default, whatever lies there.
Test(arguments, options_that_are_not_there_are_not_read)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.tuning = (hdst_tuning)99;
    options.size = offsetof(hdst_context_options, unchecked);
    hdst_context *context = hdst_context_create(&options);
    cr_assert_eq(hdst_context_status(context, &error), HDST_OK, "%s", error.message);
    hdst_context_destroy(context);
}

static void *never_allocated(size_t bytes, void *user) { return bytes ? user : NULL; }
static void never_released(void *pointer, void *user) { cr_expect(!pointer && user); }

static void expect_refused(hdst_context_options options, const char *words)
{
    hdst_context *context = hdst_context_create(&options);
    cr_expect_eq(hdst_context_status(context, &error), HDST_E_USAGE, "%s", words);
    cr_expect(strstr(error.message, words), "%s: %s", words, error.message);
    hdst_context_destroy(context);
}

Test(arguments, options_that_mean_nothing)
{
    const hdst_context_options none = HDST_CONTEXT_OPTIONS_INIT;
    hdst_context_options options = none;
    options.log_level = (hdst_log_level)(HDST_LOG_DEBUG + 1);
    expect_refused(options, "log_level is");
    options = none;
    options.on_error = (hdst_on_error)(HDST_ON_ERROR_SKIP + 1);
    expect_refused(options, "on_error is");
    options = none;
    options.tuning = (hdst_tuning)(HDST_TUNING_FULL + 1);
    expect_refused(options, "tuning is");
    options = none;
    options.hpr = (hdst_hpr)(HDST_HPR_CLUSTER + 1);
    expect_refused(options, "hpr is");
    options = (hdst_context_options)HDST_CONTEXT_OPTIONS_INIT;
    options.policy = (hdst_policy)(HDST_POLICY_DYNAMIC + 1);
    expect_refused(options, "policy is");
    options = (hdst_context_options)HDST_CONTEXT_OPTIONS_INIT;
    options.cpu_parts = 17;
    expect_refused(options, "cpu_parts is 17, the most is 16");
    // The context that tells it takes its memory elsewhere.
    options = none;
    options.allocator.allocate = never_allocated;
    expect_refused(options, "only some of allocate, reallocate and release");
    options = none;
    options.allocator.release = never_released;
    expect_refused(options, "only some of allocate, reallocate and release");
}

Test(arguments, the_name_of_a_device)
{
    static const char *const bad[] = {"gpuu", "0,", ",1", "1;2", "-1", "interpreter", "0x1"}, *const good[] = {"", "all", "interp", "cpu", "0", "7", "0,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) cr_expect_eq(create_with(sizeof(hdst_context_options), bad[i], 0), HDST_E_USAGE, "%s", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) cr_expect_eq(create_with(sizeof(hdst_context_options), good[i], 0), HDST_OK, "%s", good[i]);
    create_with(sizeof(hdst_context_options), "gpuu", 0);
    cr_assert_str_eq(error.message, "'gpuu' does not name a device");
    cr_assert(strstr(error.hint, "did you mean 'gpu'?"), "%s", error.hint);
}

Test(arguments, the_position_of_a_device)
{
    hdst_context *context = context_on("interp");
    hdst_device_info info;
    uint32_t count = 0;
    cr_assert_eq(hdst_device_count(context, &count, NULL), HDST_OK);
    cr_assert_geq(count, 1);
    cr_assert_eq(hdst_device_get(context, count - 1, &info, &error), HDST_OK);
    cr_assert_eq(info.device_class, HDST_DEVICE_INTERP);
    cr_assert_eq(hdst_device_get(context, count, &info, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "device position"), "%s", error.message);
    hdst_context_destroy(context);
}

// Functions without objects: hdst_version, hdst_status_text, hdst_status_exit_code, hdst_error_format, hdst_nearest_name, hdst_view_double, hdst_view_int64,
// hdst_view_text, hdst_result_text, hdst_context_create.
Test(arguments, functions_without_objects)
{
    hdst_error none = HDST_ERROR_INIT;
    cr_assert_not_null(hdst_version());
    cr_assert_not_null(hdst_status_text((hdst_status)999));
    cr_assert(hdst_status_exit_code((hdst_status)999) >= 0);
    cr_assert(hdst_error_format(&none, NULL, 0) > 0);
    cr_assert_eq(hdst_error_format(&none, NULL, 100), hdst_error_format(&none, NULL, 0));
    cr_assert_eq(hdst_error_format(NULL, NULL, 0), 0);
    char formatted[8] = "before";
    cr_assert_eq(hdst_error_format(NULL, formatted, sizeof formatted), 0);
    cr_assert_str_eq(formatted, "");
    cr_assert_null(hdst_nearest_name(NULL, (const char *const[]){"a"}, 1));
    cr_assert_null(hdst_nearest_name("points", NULL, 0));
    cr_assert_eq(hdst_view_save((hdst_view){0}, "/nowhere/a.npy", &none), HDST_E_USAGE);
    cr_assert(strstr(none.message, "the view is empty"), "%s", none.message);
    cr_assert_eq(hdst_view_save((hdst_view){objects_rows, 8, 3, 1, HDST_TEXT}, "/nowhere/a.npy", &none), HDST_E_UNSUPPORTED);
    cr_assert_eq(hdst_view_double((hdst_view){0}, 0, 0), 0);
    cr_assert_eq(hdst_view_int64((hdst_view){0}, 0, 0), 0);
    cr_assert_eq(hdst_view_text((hdst_view){0}, 0, 0).length, 0);
    cr_assert_str_eq(hdst_view_text((hdst_view){objects_rows, 8, 3, 1, HDST_FLOAT64}, 0, 0).data, "");
    cr_assert_str_eq(hdst_result_text(NULL, NULL, "word", 0).data, "");
    hdst_context *context = hdst_context_create(NULL);
    cr_assert_eq(hdst_context_status(context, NULL), HDST_OK);
    hdst_context_destroy(context);
}
