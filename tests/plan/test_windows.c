// SPDX-License-Identifier: Apache-2.0
// Windows of neighbouring records: those of plain C, at the ends of the dataset and of runs of keys too, on every device and with little memory.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

static const char kernels[] =
    "struct day { uint32_t shop; double sold; };\n"
    "struct week { uint32_t count; uint32_t at; day row[7]; };\n"
    "struct mean { uint32_t shop, days; double change, mean; };\n"
    "map smooth(week w) -> mean\n"
    "{\n"
    "    double sum = 0;\n"
    "    for (uint32_t i = 0; i < w.count; i++) sum += w.row[i].sold;\n"
    "    double change = 0;\n"
    "    if (w.at > 0u) change = w.row[w.at].sold - w.row[w.at - 1u].sold;\n"
    "    return (mean){ w.row[w.at].shop, w.count, change, sum / (double)w.count };\n"
    "}\n"
    "map strict(week w) -> uint32_t { return 10u / (w.count - 5u); }\n"
    "struct pair { uint32_t count, at; double row[2]; };\n"
    "flat_map steps(pair p) -> double { if (p.count == 2u) emit(p.row[1] - p.row[0]); }\n"
    "struct wide { uint32_t count, at; double row[2001]; };\n"
    "map how_many(wide w, accum uint64_t all) { all += w.count; }\n"
    "struct named { text name; uint32_t n; };\n"
    "struct names { uint32_t count, at; named row[3]; };\n"
    "map last_of(names w) -> named { return w.row[w.count - 1u]; }\n"
    "struct wrong { uint32_t count; day row[7]; };\n";

typedef struct day { uint32_t shop; double sold; } day;
typedef struct mean { uint32_t shop, days; double change, mean; } mean;

enum { DAYS = 50000 };
static day days[DAYS];
static mean want[DAYS];

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_FORMS(count)                                   \
    for (size_t form = 0; form < (count); form++)         \
        if (!form || (form == 3 ? have_team() : have_cpu()))

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < DAYS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        days[i] = (day){i / 9 % 4 + i / 20000, (double)(state >> 40) / 16};
    }
}

static bool together(uint64_t a, uint64_t b, bool within)
{
    for (uint64_t i = a; within && i < b; i++)
        if (days[i].shop != days[i + 1].shop) return false;
    return true;
}

static void make_wanted(uint64_t count, uint64_t before, uint64_t behind, bool within)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = i, last = i;
        while (first > 0 && i - first < before && together(first - 1, i, within)) first--;
        while (last + 1 < count && last - i < behind && together(i, last + 1, within)) last++;
        double sum = 0;
        for (uint64_t k = first; k <= last; k++) sum += days[k].sold;
        want[i] = (mean){days[i].shop, (uint32_t)(last - first + 1), first < i ? days[i].sold - days[i - 1].sold : 0, sum / (double)(last - first + 1)};
    }
}

static hdst_dataset *smoothed(hdst_context *context, uint64_t count, uint64_t before, uint64_t behind, const char *within)
{
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, days, count, sizeof *days), module, "day");
    return hdst_map_function(hdst_window(data, module, "week", before, behind, within), module, "smooth");
}

static void expect(hdst_context *context, uint64_t count, uint64_t before, const char *within, const char *words)
{
    uint64_t rows;
    hdst_result *r = hdst_result_create(smoothed(context, count, before, 6 - before, within));
    make_wanted(count, before, 6 - before, within);
    RUN(r);
    const mean *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, count, "%s", words);
    for (uint64_t i = 0; i < count; i++)
        cr_assert(!memcmp(&got[i], &want[i], sizeof *got), "%s, %d records, %d before: record %d", words, (int)count, (int)before, (int)i);
    hdst_result_destroy(r);
}

Test(windows, averages_and_differences_are_those_of_plain_c)
{
    fill();
    ON_FORMS(4) {
        hdst_context *context = context_in_form(forms[form]);
        for (uint64_t before = 0; before < 7; before += 3) {
            expect(context, 20000, before, NULL, forms[form]);
            expect(context, 20000, before, "shop", forms[form]);
        }
        for (uint64_t count = 0; count < 8; count++) expect(context, count, 3, NULL, forms[form]);      // smaller than the window
        hdst_context_destroy(context);
    }
}

Test(windows, they_stream_through_little_memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 4 << 20;           // windows of all records are 8 MB, the means 1.2
    hdst_context *context = hdst_context_create(&options);
    fill();
    expect(context, DAYS, 3, "shop", "4 MiB");
    hdst_context_destroy(context);
}

// The window is larger than the dataset, and than a piece that is read at once.
Test(windows, wide_ones_have_what_there_is)
{
    enum { NUMBERS = 1500 };
    static double numbers[NUMBERS];
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    for (uint64_t count = 1; count <= NUMBERS; count += NUMBERS - 1) {
        uint64_t pairs = 0;             // of records no more than 1000 apart
        for (uint64_t i = 0; i < count; i++) pairs += (i < 1000 ? i : 1000) + 1 + (count - 1 - i < 1000 ? count - 1 - i : 1000);
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, numbers, count, sizeof *numbers), module, "double");
        hdst_map_spec *spec = hdst_map_spec_create(module, "how_many");
        hdst_result *r = hdst_result_create(hdst_map(hdst_window(data, module, "wide", 1000, 1000, NULL), spec));
        RUN(r);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "all", NULL), 0, 0), pairs);
    }
    hdst_context_destroy(context);
}

// Slices of computed windows, and what emits behind them; -0 and +0 are two keys, each NaN is one.
Test(windows, operators_stand_before_and_behind)
{
    static const double numbers[] = {1, 4, 9, 16, 25, 36};
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_slice(hdst_read(hdst_source_from_memory(context, numbers, 6, 8), module, "double"), 1, 5);
    hdst_dataset *steps = hdst_flat_map_function(hdst_window(data, module, "pair", 1, 0, NULL), module, "steps");
    double few[2];
    hdst_error error;
    uint64_t count;
    cr_assert_eq(hdst_count(steps, &count, &error), HDST_OK);
    cr_assert_eq(count, 4);
    cr_assert_eq(hdst_dataset_take(steps, 2, 2, few, &error), HDST_OK);
    cr_assert(few[0] == 9 && few[1] == 11);
    static const double keys[] = {0.0, -0.0, 0.0, NAN, NAN, 1};
    hdst_dataset *runs = hdst_read(hdst_source_from_memory(context, keys, 6, 8), module, "double");
    cr_assert_eq(hdst_count(hdst_flat_map_function(hdst_window(runs, module, "pair", 1, 0, "value"), module, "steps"), &count, &error), HDST_OK);
    cr_assert_eq(count, 1);
    hdst_context_destroy(context);
}

Test(windows, texts_are_those_of_the_neighbours)
{
    typedef struct named { hdst_text_span name; uint32_t n; } named;
    enum { NAMES = 700 };
    static named names[NAMES];
    static char bytes[NAMES][32];
    for (uint32_t i = 0; i < NAMES; i++)
        names[i] = (named){hdst_text_span_of(bytes[i], (uint32_t)snprintf(bytes[i], sizeof bytes[i], "a name of length %u", (unsigned)(i / 5))), i};
    ON_FORMS(3) {
        uint64_t rows;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, names, NAMES, sizeof *names), module, "named");
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_window(data, module, "names", 0, 2, "name"), module, "last_of"));
        RUN(r);
        const named *got = hdst_result_rows(r, NULL, &rows);
        cr_assert_eq(rows, NAMES);
        for (uint32_t i = 0; i < NAMES; i++) {
            const uint32_t last = i / 5 * 5 + 4, right = i + 2 < last ? i + 2 : last;
            cr_assert(got[i].n == right && got[i].name.length == names[right].name.length, "%s: record %d", forms[form], (int)i);
            cr_assert(!memcmp(hdst_text_bytes(&got[i].name), bytes[right], got[i].name.length), "%s: record %d", forms[form], (int)i);
        }
        hdst_context_destroy(context);
    }
}

Test(windows, a_record_that_fails_has_its_own_number)
{
    hdst_context *context = context_on("interp");
    hdst_error error;
    fill();
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, days, 1000, sizeof *days), module, "day");
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_window(data, module, "week", 3, 3, NULL), module, "strict"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
    cr_assert_eq(error.record, 1, "%s", error.message);         // the first with one before and three behind
    hdst_context_destroy(context);
}

Test(windows, what_is_no_window_is_refused)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, days, 10, sizeof *days), module, "day");
    expect_usage_error(hdst_window(data, module, "wrong", 3, 3, NULL), "record 'wrong' is no window of 'day'");
    expect_usage_error(hdst_window(data, module, "pair", 1, 0, NULL), "record 'pair' is no window of 'day'");
    expect_usage_error(hdst_window(data, module, "week", 3, 4, NULL), "'week.row' has 7 records, a window of 3 before and 4 behind one is not as long");
    expect_usage_error(hdst_window(data, module, "week", UINT64_MAX, 8, NULL), "'week.row' has 7 records");
    hdst_error error;
    cr_assert_neq(hdst_dataset_status(hdst_window(data, module, "weak", 3, 3, NULL), &error), HDST_OK);
    cr_assert_neq(hdst_dataset_status(hdst_window(data, module, "week", 3, 3, "nothing"), &error), HDST_OK);
    hdst_context_destroy(context);
}
