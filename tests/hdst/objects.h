// SPDX-License-Identifier: Apache-2.0
// One object of each kind of the public interface, of one context.
#ifndef TESTS_HDST_OBJECTS_H
#define TESTS_HDST_OBJECTS_H

#include "tests/hdst/support.h"

typedef struct objects {
    hdst_context *context;
    hdst_source *source;
    hdst_schema *schema;
    hdst_module *module;
    hdst_dataset *dataset;
    hdst_map_spec *spec, *table;
    hdst_value *value;
    hdst_result *result;
} objects;

static const char objects_text[] =
    "struct item { uint32_t key; uint32_t v; };\nstruct count { uint32_t key; uint64_t n; };\nstruct numbered { uint64_t i; uint32_t key; uint32_t v; };\n"
    "map twice(item a) -> item { return a; }\nfilter odd(item a) { return a.v % 2 == 1; }\nmap part(item a) -> uint32_t { return a.key; }\n"
    "flat_map both(item a) -> item { emit(a); }\nmap look(item a, broadcast item b[], accum uint64_t s) { s += b[0].v; }\n"
    "map sums(item a, accum uint64_t t[]) { t[0] += a.v; }\nreduce total(uint32_t a, uint32_t b) { return a + b; }\n"
    "group one(key uint32_t key, stream item s) -> item { item r; r.key = key; r.v = 0; for (item e : s) { r.v += e.v; } return r; }\n";

static const uint32_t objects_rows[] = {0, 1, 1, 2, 2, 3};

static inline objects make_objects(hdst_context *context)
{
    objects o = {.context = context};
    o.source = hdst_source_from_memory(context, objects_rows, 3, 8);
    o.schema = hdst_schema_create(context);
    hdst_schema_add_record(o.schema, "other", HDST_AOS, 0, 0, NULL);
    hdst_schema_add_field(o.schema, "x", HDST_UINT32, 1, NULL);
    o.module = hdst_module_parse(context, "objects.hk", objects_text, NULL);
    if (context && !hdst_context_status(context, NULL)) cr_assert_eq(hdst_module_status(o.module, NULL), HDST_OK, "%s", hdst_module_diagnostics(o.module));
    o.dataset = hdst_read(o.source, o.module, "item");
    o.spec = hdst_map_spec_create(o.module, "twice");
    o.table = hdst_map_spec_create(o.module, "look");
    o.value = hdst_value_create(o.module, "item", 1);
    o.result = hdst_result_create(o.dataset);
    return o;
}

// The status of an object of any kind; `error` may be NULL.
#define STATUS(made, error)                                                                                                                     \
    _Generic((made), hdst_context *: hdst_context_status, hdst_source *: hdst_source_status, hdst_schema *: hdst_schema_status,                  \
             hdst_module *: hdst_module_status, hdst_dataset *: hdst_dataset_status, hdst_map_spec *: hdst_map_spec_status,                      \
             hdst_value *: hdst_value_status, hdst_result *: hdst_result_status, hdst_partial *: hdst_partial_status)((made), error)

#endif
