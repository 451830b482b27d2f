// SPDX-License-Identifier: Apache-2.0
// Functions whose output comes from a loop: on GPUs the lanes of a work-group share the turns of all records. What comes out, and in which order, is that of
// the same loops in C: of records with no turns, with few and with more than a work-group has lanes.
#include "tests/hdst/support.h"

typedef struct item { uint32_t id, turns; int32_t low, high; } item;
typedef struct made { uint32_t id, value; } made;

static const char kernels[] =
    "struct item { uint32_t id; uint32_t turns; int32_t low; int32_t high; };\n"
    "struct made { uint32_t id; uint32_t value; };\n"
    "flat_map look(item i, lookup uint32_t table[], accum uint64_t turns) -> made\n"
    "{\n"
    "    turns += i.turns;\n"
    "    for (uint32_t t = 0; t < i.turns; t++) {\n"
    "        uint32_t v = table[(i.id * 7919u + t) % 4096u];\n"
    "        if (v % 3u == 0u) emit(i.id, v);\n"
    "        if (v % 7u == 0u) emit(i.id, t);\n"
    "    }\n"
    "}\n"
    "filter some(item i) { return i.id % 5u != 2u; }\n"
    "flat_map count(item i) -> made { for (int32_t t = i.low; t < i.high; t++) emit(i.id, (uint32_t)t); }\n"
    "flat_map chain(item i) -> made\n"
    "{\n"
    "    uint32_t x = i.id;\n"
    "    for (uint32_t t = 0; t < i.turns; t++) {\n"
    "        x = x * 1664525u + 1013904223u;\n"
    "        if (x >> 31 != 0u) emit(i.id, x);\n"
    "    }\n"
    "}\n"
    "flat_map stop(item i) -> made { for (uint32_t t = 0; t < i.turns; t++) { if ((i.id + t) % 53u == 9u) break; emit(i.id, t); } }\n"
    "flat_map leave(item i) -> made { for (uint32_t t = 0; t < i.turns; t++) { if ((i.id + t) % 53u == 9u) return; emit(i.id, t); } }\n";

enum { ITEMS = 1300, ROWS = 4096, LONG = 20011, MOST = 200000 };
static item items[ITEMS];
static uint32_t table[ROWS];
static made want[MOST];
static size_t wanted;
static const char *const forms[] = {"interp", "cpu", "gpu-form"};
static const char shared[] = "turns of its loop are shared by the lanes of a work-group";

static void set_up(void)
{
    for (uint32_t r = 0; r < ROWS; r++) table[r] = r * 2654435761u >> 7;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t turns = i == 700 ? LONG : i == ITEMS - 1 ? 3000 : i % 97 == 5 ? 300 : i / 256 == 3 ? 0 : i * 31 % 5;
        items[i] = (item){i, turns, (int32_t)(i % 11) - 5, i == 900 ? 2000 : (int32_t)(i % 4) - 2};
    }
}

static void look(const item *p)
{
    for (uint32_t t = 0; t < p->turns; t++) {
        const uint32_t v = table[(p->id * 7919u + t) % 4096u];
        if (v % 3 == 0) want[wanted++] = (made){p->id, v};
        if (v % 7 == 0) want[wanted++] = (made){p->id, t};
    }
}

static void count(const item *p)
{
    for (int32_t t = p->low; t < p->high && p->id % 5 != 2; t++) want[wanted++] = (made){p->id, (uint32_t)t};
}

static void chain(const item *p)
{
    uint32_t x = p->id;
    for (uint32_t t = 0; t < p->turns; t++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 31) want[wanted++] = (made){p->id, x};
    }
}

static void stop(const item *p)
{
    for (uint32_t t = 0; t < p->turns && (p->id + t) % 53 != 9; t++) want[wanted++] = (made){p->id, t};
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    return hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item");
}

static hdst_dataset *looked(hdst_context *context, hdst_module *module, uint64_t rows)
{
    hdst_value *t = hdst_value_create(module, "uint32_t", rows);
    hdst_value_set(t, table, rows);
    hdst_map_spec *spec = hdst_map_spec_create(module, "look");
    hdst_bind_value(spec, "table", t);
    hdst_dataset *dataset = hdst_flat_map(read_items(context, module), spec);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(t);
    return dataset;
}

static void expect_made(hdst_result *r, const char *form)
{
    uint64_t rows = 0;
    const made *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, wanted, "%s: %llu records, not %zu", form, (unsigned long long)rows, wanted);
    for (size_t i = 0; i < wanted; i++)
        cr_assert(got[i].id == want[i].id && got[i].value == want[i].value, "%s: record %zu is of %u, not %u", form, i, got[i].id, want[i].id);
}

static void expect_shared(hdst_result *r, const char *form, bool is)
{
    const char *why = hdst_explain(r, NULL);
    cr_assert(why);
    cr_expect_eq(strstr(why, shared) != NULL, is && !strcmp(form, "gpu-form"), "%s: %s", form, why);
}

static void check(const char *form, hdst_context *context, hdst_dataset *dataset, void (*loop)(const item *), bool is_shared)
{
    hdst_result *r = hdst_result_create(dataset);
    wanted = 0;
    for (uint32_t i = 0; i < ITEMS; i++) loop(&items[i]);
    RUN(r);
    expect_made(r, form);
    expect_shared(r, form, is_shared);
    hdst_context_destroy(context);
}

Test(shared_loops, records_come_out_as_from_one_loop_after_another, .init = set_up)
{
    for (size_t f = 0; f < 3 && (!f || have_cpu()); f++) {
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *module = module_of(context, kernels);
        uint64_t turns = 0;
        hdst_result *r = hdst_result_create(looked(context, module, ROWS));
        wanted = 0;
        for (uint32_t i = 0; i < ITEMS; i++) look(&items[i]), turns += items[i].turns;
        RUN(r);
        expect_made(r, forms[f]);
        cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(r, "turns", NULL), 0, 0), turns, "%s", forms[f]);
        expect_shared(r, forms[f], true);
        hdst_context_destroy(context);
    }
}

Test(shared_loops, behind_a_filter_with_bounds_below_zero, .init = set_up)
{
    for (size_t f = 0; f < 3 && (!f || have_cpu()); f += 2) {
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *module = module_of(context, kernels);
        check(forms[f], context, hdst_flat_map_function(hdst_filter_function(read_items(context, module), module, "some"), module, "count"), count, true);
    }
}

Test(shared_loops, a_loop_that_needs_the_turn_before_is_its_lanes_own, .init = set_up)
{
    for (size_t f = 0; f < 3 && (!f || have_cpu()); f += 2) {
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *module = module_of(context, kernels);
        check(forms[f], context, hdst_flat_map_function(read_items(context, module), module, "chain"), chain, false);
    }
}

Test(shared_loops, a_loop_that_a_turn_may_leave_is_its_lanes_own, .init = set_up)
{
    static const char *const functions[] = {"stop", "leave"};
    for (size_t f = 0; f < 4 && (f < 2 || have_cpu()); f++) {
        const char *form = forms[f < 2 ? 0 : 2];
        hdst_context *context = context_in_form(form);
        hdst_module *module = module_of(context, kernels);
        check(form, context, hdst_flat_map_function(read_items(context, module), module, functions[f % 2]), stop, false);
    }
}

// The first record that fails is told, whichever lane has the turn: with so few rows that is in the middle of the long loop.
Test(shared_loops, the_record_of_a_turn_that_fails_is_told, .init = set_up)
{
    for (uint32_t i = 0; i < ITEMS; i++) items[i].turns = i == 300 ? 4096 : i > 300 ? 5000 : 0;
    for (size_t f = 0; f < 3 && (!f || have_cpu()); f += 2) {
        hdst_error error = HDST_ERROR_INIT;
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(looked(context, module, 4000));
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", forms[f]);
        cr_assert(strstr(error.message, "record 300"), "%s: %s", forms[f], error.message);
        hdst_context_destroy(context);
    }
}
