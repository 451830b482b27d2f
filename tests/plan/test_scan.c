// SPDX-License-Identifier: Apache-2.0
// Prefix sums: those of integers as a loop has them, those of floats exact and rounded once, from any record on, in runs of equal keys, on every device.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

static const char kernels[] =
    "struct item { uint32_t run; double x; int32_t n; float y; };\n"
    "struct tag { text name; bool b; double x[2]; };\n"
    "map same(item e) -> item { return e; }\n"
    "filter most(item e) { return e.run % 10u != 3; }\n";

typedef struct item { uint32_t run; double x; int32_t n; float y; } item;

enum { ITEMS = 40000 };
static item items[ITEMS], want[ITEMS];
static const double unit = 0x1p-20;

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

static uint64_t state = 11;
static uint64_t next_random(void) { return state = state * UINT64_C(6364136223846793005) + 1442695040888963407; }

static int64_t whole[ITEMS], small[ITEMS];      // of which items are multiples

// Addends of many sizes and both signs, each a whole number of units, so that sums in 128 bits are exact.
static void make_items(void)
{
    state = 11;
    for (int i = 0; i < ITEMS; i++) {
        whole[i] = (int64_t)(next_random() >> 12) >> next_random() % 52;
        small[i] = (int64_t)(next_random() >> 41) >> next_random() % 23;
        if (next_random() >> 63) whole[i] = -whole[i];
        if (next_random() >> 63) small[i] = -small[i];
        items[i] = (item){(uint32_t)(i / 700 % 5 + i / 9000), (double)whole[i] * unit, (int32_t)next_random(), (float)small[i] * (float)unit};
    }
}

// The conversion of an integer of 128 bits rounds to nearest even.
static void make_sums(bool within, bool exclusive)
{
    __int128 x = 0, y = 0;
    uint32_t n = 0;
    for (int i = 0; i < ITEMS; i++) {
        if (within && i && items[i].run != items[i - 1].run) x = y = 0, n = 0;
        if (exclusive) want[i] = (item){items[i].run, (double)x * unit, (int32_t)n, (float)y * (float)unit};
        x += whole[i];
        y += small[i];
        n += (uint32_t)items[i].n;
        if (!exclusive) want[i] = (item){items[i].run, (double)x * unit, (int32_t)n, (float)y * (float)unit};
    }
}

static bool same(const item *a, const item *b) { return a->run == b->run && !memcmp(&a->x, &b->x, 8) && a->n == b->n && !memcmp(&a->y, &b->y, 4); }

static void expect_sums(hdst_dataset *dataset, uint64_t first, uint64_t count, const char *words)
{
    hdst_result *r = hdst_result_create(dataset);
    RUN(r);
    uint64_t rows;
    const item *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, count, "%s: %d rows", words, (int)rows);
    for (uint64_t i = 0; i < count; i++) cr_assert(same(&got[i], &want[first + i]), "%s: record %d", words, (int)(first + i));
    hdst_result_destroy(r);
}

Test(scan, sums_of_all_records_and_of_runs)
{
    make_items();
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *all = hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item");
        for (int which = 0; which < 4; which++) {
            hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
            options.within = which & 1 ? "run" : NULL;
            options.exclusive = which & 2;
            make_sums(which & 1, which & 2);
            hdst_dataset *sums = hdst_scan(all, "x, n,y", &options);
            expect_sums(hdst_map_function(sums, module, "same"), 0, ITEMS, forms[form]);
            expect_sums(hdst_slice(hdst_with_layout(sums, HDST_SOA), 17001, 12345), 17001, 12345, forms[form]);
        }
        make_sums(false, false);
        expect_sums(hdst_scan(hdst_map_function(hdst_with_layout(all, HDST_SOA), module, "same"), "x,y,n", NULL), 0, ITEMS, forms[form]);
        expect_sums(hdst_scan(hdst_slice(all, 0, 0), "x", NULL), 0, 0, forms[form]);
        hdst_context_destroy(context);
    }
}

// Behind a filter, in a small budget: the sums of those that are left, once more.
Test(scan, behind_a_filter_in_a_small_budget)
{
    make_items();
    int left = 0;
    for (int i = 0; i < ITEMS; i++)
        if (items[i].run % 10 != 3) items[left] = items[i], whole[left] = whole[i], small[left++] = small[i];
    const int kept = left;
    item *of_filter = malloc(kept * sizeof *of_filter);
    make_sums(false, false);
    memcpy(of_filter, want, kept * sizeof *want);
    make_items();
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 8 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *all = hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item");
    memcpy(want, of_filter, kept * sizeof *want);
    hdst_dataset *sums = hdst_scan(hdst_filter_function(all, module, "most"), "x,y,n", NULL);
    expect_sums(sums, 0, (uint64_t)kept, "filtered");
    free(of_filter);
    hdst_context_destroy(context);
}

Test(scan, what_is_no_number_stays_one)
{
    static const double values[] = {1, INFINITY, 2, -INFINITY, 3};
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "map same(double x) -> double { return x; }\n");
    hdst_result *r = hdst_result_create(hdst_scan(hdst_read(hdst_source_from_memory(context, values, 5, 8), module, "double"), NULL, NULL));
    RUN(r);
    const double *got = hdst_result_rows(r, NULL, NULL);
    cr_assert(got[0] == 1 && got[1] == INFINITY && got[2] == INFINITY && isnan(got[3]) && isnan(got[4]));
    hdst_context_destroy(context);
}

static void expect(hdst_dataset *dataset, const char *words)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_neq(hdst_dataset_status(dataset, &error), HDST_OK, "%s", words);
    cr_assert(strstr(error.message, words), "'%s' for '%s'", error.message, words);
}

Test(scan, misuse_is_told)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *all = hdst_read(hdst_source_from_memory(context, items, 1, sizeof *items), module, "item");
    hdst_dataset *tags = hdst_read(hdst_source_from_memory(context, items, 0, hdst_module_record_size(module, "tag")), module, "tag");
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    options.within = "x";
    expect(hdst_scan(all, "z", NULL), "z");
    expect(hdst_scan(all, "x, x", NULL), "field 'x' is named twice");
    expect(hdst_scan(all, "x", &options), "field 'x' is both summed and what runs go by");
    expect(hdst_scan(tags, "name", NULL), "field 'name' is a text");
    expect(hdst_scan(tags, "b", NULL), "field 'b' is a bool");
    expect(hdst_scan(tags, "x", NULL), "field 'x' is an array");
    hdst_context_destroy(context);
}
