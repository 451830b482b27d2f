// SPDX-License-Identifier: Apache-2.0
// As test_arguments.c, for joins, loops and tables.
#include "tests/hdst/argument_calls.h"

static const char pairs_text[] =
    "struct item { uint32_t key; uint32_t v; };\n"
    "join both(item a, item b) -> item { item r; r.key = a.key; r.v = b.v; return r; }\n"
    "group meet(key uint32_t k, stream item a, stream item b) -> item\n"
    "{\n"
    "    item r = { .key = k };\n"
    "    for (item e : a) r.v += e.v;\n"
    "    for (item e : b) r.v += e.v;\n"
    "    return r;\n"
    "}\n";

static objects o, other;
static hdst_module *pairs;
static hdst_map_spec *both, *meet, *other_both, *other_meet;
static hdst_loop_step step;

static void open_all(void)
{
    o = make_objects(hdst_context_create(NULL));
    other = make_objects(hdst_context_create(NULL));
    pairs = hdst_module_parse(o.context, "pairs.hk", pairs_text, NULL);
    cr_assert_eq(hdst_module_status(pairs, NULL), HDST_OK, "%s", hdst_module_diagnostics(pairs));
    both = hdst_map_spec_create(pairs, "both");
    meet = hdst_map_spec_create(pairs, "meet");
    hdst_module *others = hdst_module_parse(other.context, "pairs.hk", pairs_text, NULL);
    other_both = hdst_map_spec_create(others, "both");
    other_meet = hdst_map_spec_create(others, "meet");
    step = (hdst_loop_step){.dataset = o.dataset, .value = o.value};
}

static void close_all(void)
{
    hdst_context_destroy(o.context);
    hdst_context_destroy(other.context);
}

Test(arguments_of_joins, null)
{
    open_all();
    MAKES(hdst_join, "left", NULL, "key", o.dataset, "key", pairs, "both"), MAKES(hdst_join, "right", o.dataset, "key", NULL, "key", pairs, "both");
    MAKES(hdst_join, "left_key", o.dataset, NULL, o.dataset, "key", pairs, "both");
    MAKES(hdst_join, "right_key", o.dataset, "key", o.dataset, NULL, pairs, "both");
    MAKES(hdst_join, "module", o.dataset, "key", o.dataset, "key", NULL, "both"), MAKES(hdst_join, "function", o.dataset, "key", o.dataset, "key", pairs, NULL);
    MAKES(hdst_join_by, "left", NULL, "key", o.dataset, "key", both), MAKES(hdst_join_by, "right", o.dataset, "key", NULL, "key", both);
    MAKES(hdst_join_by, "spec", o.dataset, "key", o.dataset, "key", NULL);
    MAKES(hdst_semi_join, "left", NULL, "key", o.dataset, "key"), MAKES(hdst_semi_join, "right", o.dataset, "key", NULL, "key");
    MAKES(hdst_anti_join, "left", NULL, "key", o.dataset, "key"), MAKES(hdst_anti_join, "right", o.dataset, "key", NULL, "key");
    MAKES(hdst_cross, "left", NULL, o.dataset, pairs, "both"), MAKES(hdst_cross, "right", o.dataset, NULL, pairs, "both");
    MAKES(hdst_cross, "module", o.dataset, o.dataset, NULL, "both"), MAKES(hdst_cross, "function", o.dataset, o.dataset, pairs, NULL);
    MAKES(hdst_cross_by, "left", NULL, o.dataset, both), MAKES(hdst_cross_by, "right", o.dataset, NULL, both);
    MAKES(hdst_cross_by, "spec", o.dataset, o.dataset, NULL);
    close_all();
}

Test(arguments_of_co_groups, null)
{
    open_all();
    MAKES(hdst_co_group, "left", NULL, "key", o.dataset, "key", pairs, "meet"), MAKES(hdst_co_group, "right", o.dataset, "key", NULL, "key", pairs, "meet");
    MAKES(hdst_co_group, "left_key", o.dataset, NULL, o.dataset, "key", pairs, "meet");
    MAKES(hdst_co_group, "right_key", o.dataset, "key", o.dataset, NULL, pairs, "meet");
    MAKES(hdst_co_group, "module", o.dataset, "key", o.dataset, "key", NULL, "meet");
    MAKES(hdst_co_group, "function", o.dataset, "key", o.dataset, "key", pairs, NULL);
    MAKES(hdst_co_group_by, "left", NULL, "key", o.dataset, "key", meet), MAKES(hdst_co_group_by, "right", o.dataset, "key", NULL, "key", meet);
    MAKES(hdst_co_group_by, "spec", o.dataset, "key", o.dataset, "key", NULL);
    close_all();
}

Test(arguments_of_loops, null)
{
    open_all();
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    MAKES(hdst_read_value, "value", NULL);
    MAKES(hdst_loop, "start", NULL, o.value, &step, 1, NULL), MAKES(hdst_loop, "state", o.dataset, NULL, &step, 1, NULL);
    MAKES(hdst_loop, "steps", o.dataset, o.value, NULL, 1, NULL);
    step.dataset = NULL;
    MAKES(hdst_loop, "steps[].dataset", o.dataset, o.value, &step, 1, NULL);
    step = (hdst_loop_step){.dataset = o.dataset};
    MAKES(hdst_loop, "steps[].value", o.dataset, o.value, &step, 1, NULL);
    step = (hdst_loop_step){.dataset = o.dataset, .value = o.value};
    MAKES(hdst_delta_loop, "start", NULL, o.value, o.dataset, o.value, &step, 1, NULL);
    MAKES(hdst_delta_loop, "state", o.dataset, NULL, o.dataset, o.value, &step, 1, NULL);
    MAKES(hdst_delta_loop, "first", o.dataset, o.value, NULL, o.value, &step, 1, NULL);
    MAKES(hdst_delta_loop, "work", o.dataset, o.value, o.dataset, NULL, &step, 1, NULL);
    MAKES(hdst_delta_loop, "steps", o.dataset, o.value, o.dataset, o.value, NULL, 1, NULL);
    GIVES(hdst_loop_read_report, "loop", NULL, &report, &error);
    GIVES(hdst_loop_read_report, "report", o.dataset, NULL, &error);
    close_all();
}

Test(arguments_of_tables, null)
{
    open_all();
    GIVES(hdst_schema_add_time, "schema", NULL, "day", HDST_DAYS, 1, &error);
    GIVES(hdst_schema_add_time, "name", o.schema, NULL, HDST_DAYS, 1, &error);
    GIVES(hdst_schema_set_missing, "schema", NULL, HDST_MISSING_ZERO, NULL, &error);
    GIVES(hdst_schema_set_null_values, "schema", NULL, (const char *const[]){"NA"}, 1, &error);
    close_all();
    open_all();
    GIVES(hdst_schema_set_null_values, "words", o.schema, NULL, 1, &error);
    close_all();
}

Test(arguments_of_joins, of_another_context)
{
    open_all();
    MIXES(hdst_join, "right", o.dataset, "key", other.dataset, "key", pairs, "both");
    MIXES(hdst_join, "module", o.dataset, "key", o.dataset, "key", other.module, "both");
    MIXES(hdst_join_by, "right", o.dataset, "key", other.dataset, "key", both);
    MIXES(hdst_join_by, "spec", o.dataset, "key", o.dataset, "key", other_both);
    MIXES(hdst_semi_join, "right", o.dataset, "key", other.dataset, "key");
    MIXES(hdst_anti_join, "right", o.dataset, "key", other.dataset, "key");
    MIXES(hdst_cross, "right", o.dataset, other.dataset, pairs, "both");
    MIXES(hdst_cross, "module", o.dataset, o.dataset, other.module, "both");
    MIXES(hdst_cross_by, "right", o.dataset, other.dataset, both);
    MIXES(hdst_cross_by, "spec", o.dataset, o.dataset, other_both);
    close_all();
}

Test(arguments_of_co_groups, of_another_context)
{
    open_all();
    MIXES(hdst_co_group, "right", o.dataset, "key", other.dataset, "key", pairs, "meet");
    MIXES(hdst_co_group, "module", o.dataset, "key", o.dataset, "key", other.module, "meet");
    MIXES(hdst_co_group_by, "right", o.dataset, "key", other.dataset, "key", meet);
    MIXES(hdst_co_group_by, "spec", o.dataset, "key", o.dataset, "key", other_meet);
    close_all();
}

Test(arguments_of_loops, of_another_context)
{
    open_all();
    MIXES(hdst_loop, "state", o.dataset, other.value, &step, 1, NULL);
    MIXES(hdst_delta_loop, "state", o.dataset, other.value, o.dataset, o.value, &step, 1, NULL);
    MIXES(hdst_delta_loop, "first", o.dataset, o.value, other.dataset, o.value, &step, 1, NULL);
    MIXES(hdst_delta_loop, "work", o.dataset, o.value, o.dataset, other.value, &step, 1, NULL);
    step.dataset = other.dataset;
    MIXES(hdst_loop, "steps[].dataset", o.dataset, o.value, &step, 1, NULL);
    step = (hdst_loop_step){.dataset = o.dataset, .value = other.value};
    MIXES(hdst_loop, "steps[].value", o.dataset, o.value, &step, 1, NULL);
    close_all();
}
