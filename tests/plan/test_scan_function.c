// SPDX-License-Identifier: Apache-2.0
// Scans by functions: those of exact and not commutative functions are a loop's, those of floats have the grouping that the documentation says, bit for
// bit, on every device, within runs of keys, from any number of records.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

static const char kernels[] =
    "struct step { uint32_t run, a, b; float x, y; };\n"
    "associative reduce after(step p, step q) identity { .a = 1, .x = 1.0f }\n"
    "{\n"
    "    return (step){ q.run, p.a * q.a, q.a * p.b + q.b, p.x * q.x, q.x * p.y + q.y };\n"
    "}\n"
    "filter odd(step s) { return (s.b & 1u) == 1u; }\n"
    "map tenth(step s) -> uint32_t { return 100u / (s.run - 70u); }\n"
    "associative reduce strict(step p, step q) { return (step){ .a = p.a + 5u / q.a }; }\n"
    "reduce ordered(step p, step q) { return (step){ .a = p.a * 3u + q.a }; }\n"
    "struct reading { text sensor; double value; uint32_t at; };\n"
    "associative reduce last(reading a, reading b) { if (isnan(b.value)) return (reading){ b.sensor, a.value, a.at }; return b; }\n"
    "reduce most(double a, double b) { return max(a, b); }\n";

typedef struct step { uint32_t run, a, b; float x, y; } step;

enum { STEPS = 300000 };
static step steps[STEPS], want[STEPS];

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_FORMS(count)                                   \
    for (size_t form = 0; form < (count); form++)         \
        if (!form || (form == 3 ? have_team() : have_cpu()))

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < STEPS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        steps[i] = (step){i / 97 % 3 + i / 50000, (uint32_t)(state >> 20) | 1, (uint32_t)(state >> 9),
                          1 + (float)(int32_t)(state >> 32) * 0x1p-40f, (float)(int32_t)state * 0x1p-20f};
    }
}

// --- The same in C ---

static step after(step p, step q)
{
    return (step){q.run, p.a * q.a, q.a * p.b + q.b, p.x * q.x, fmaf(q.x, p.y, q.y)};
}

typedef struct total { step value, before; bool begins; } total;

// As the documentation has it: blocks of 64 from left to right, what they come to is scanned in the same way, and goes in front of each.
static void scan(total *rows, uint64_t count)
{
    const uint64_t blocks = count / 64 + (count % 64 > 0);
    total *above = calloc(blocks + 1, sizeof *above);
    for (uint64_t i = 0; i < count; i++) {
        total *to = &above[i / 64];
        to->begins |= rows[i].begins;
        to->value = i % 64 == 0 || rows[i].begins ? rows[i].value : after(to->value, rows[i].value);
    }
    if (blocks > 1) scan(above, blocks);
    step so_far = {0};
    for (uint64_t i = 0; i < count; i++) {
        if (i && i % 64 == 0) so_far = above[i / 64 - 1].value;
        rows[i].before = so_far;
        so_far = rows[i].value = i == 0 || rows[i].begins ? rows[i].value : after(so_far, rows[i].value);
    }
    free(above);
}

static void make_wanted(uint64_t count, bool within, bool exclusive)
{
    static const step identity = {0, 1, 0, 1, 0};
    total *rows = calloc(count + 1, sizeof *rows);
    step so_far = {0};
    for (uint64_t i = 0; i < count; i++) rows[i] = (total){steps[i], {0}, within && i && steps[i].run != steps[i - 1].run};
    scan(rows, count);
    for (uint64_t i = 0; i < count; i++) {
        const bool begins = i == 0 || (within && steps[i].run != steps[i - 1].run);
        so_far = begins ? steps[i] : after(so_far, steps[i]);                       // integers: whatever the grouping
        cr_assert(rows[i].value.a == so_far.a && rows[i].value.b == so_far.b && rows[i].value.run == steps[i].run);
        want[i] = !exclusive ? rows[i].value : begins ? identity : rows[i].before;
    }
    free(rows);
}

// --- Running it ---

static hdst_dataset *all_of(hdst_context *context, hdst_module **module, uint64_t count)
{
    *module = module_of(context, kernels);
    return hdst_read(hdst_source_from_memory(context, steps, count, sizeof *steps), *module, "step");
}

static hdst_dataset *scanned(hdst_dataset *from, hdst_module *module, bool within, bool exclusive)
{
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    options.exclusive = exclusive;
    if (within) options.within = "run";
    return hdst_scan_function(from, module, "after", &options);
}

static void expect(hdst_dataset *dataset, uint64_t count, const char *words)
{
    uint64_t rows;
    hdst_result *r = hdst_result_create(dataset);
    for (int run = 0; run < 2; run++) {
        RUN(r);
        const step *got = hdst_result_rows(r, NULL, &rows);
        cr_assert_eq(rows, count, "%s: %d rows, not %d", words, (int)rows, (int)count);
        for (uint64_t i = 0; i < count; i++)
            cr_assert(!memcmp(&got[i], &want[i], sizeof *got), "%s, %d records: record %d, y %a not %a", words, (int)count, (int)i, (double)got[i].y,
                      (double)want[i].y);
    }
    hdst_result_destroy(r);
}

Test(scan_function, all_prefixes_have_the_bits_of_plain_c)
{
    static const uint64_t counts[] = {0, 1, 64, 65, 4097, 20000};
    fill();
    ON_FORMS(4) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module;
        for (int i = 0; i < 6; i++) {
            hdst_dataset *all = all_of(context, &module, counts[i]);
            make_wanted(counts[i], i % 2, false);
            expect(scanned(all, module, i % 2, false), counts[i], forms[form]);
        }
        hdst_dataset *few = all_of(context, &module, 5000);
        make_wanted(5000, true, true);
        expect(scanned(few, module, true, true), 5000, forms[form]);
        hdst_context_destroy(context);
    }
}

// Four levels, and memory for a part of the records.
Test(scan_function, little_memory_changes_nothing)
{
    if (!have_cpu()) cr_skip("no CPU device\n");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.memory = 4 << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module;
    fill();
    make_wanted(STEPS, true, false);
    hdst_dataset *all = all_of(context, &module, STEPS);
    expect(scanned(all, module, true, false), STEPS, "4 MiB");
    hdst_context_destroy(context);
}

// --- What stands before and behind ---

Test(scan_function, functions_behind_it_see_all_records)
{
    hdst_context *context = context_on("interp");
    hdst_module *module;
    hdst_error error;
    uint64_t rows, odd = 0, taken;
    step few[7];
    fill();
    make_wanted(5000, false, false);
    hdst_dataset *data = all_of(context, &module, 5000), *all = scanned(data, module, false, false);
    hdst_result *r = hdst_result_create(hdst_filter_function(all, module, "odd"));
    RUN(r);
    const step *got = hdst_result_rows(r, NULL, &rows);
    for (uint64_t i = 0; i < 5000; i++)
        if (want[i].b & 1) cr_assert(odd < rows && !memcmp(&got[odd++], &want[i], sizeof *got), "record %d", (int)i);
    cr_assert_eq(odd, rows);
    cr_assert_eq(hdst_take(all, 7, few, &taken, &error), HDST_OK);
    cr_assert(taken == 7 && !memcmp(few, want, sizeof few));
    cr_assert_eq(hdst_count(all, &rows, &error), HDST_OK);
    cr_assert_eq(rows, 5000);
    cr_assert_eq(hdst_dataset_take(hdst_sort(all, "b"), 0, 7, few, &error), HDST_OK);
    for (int i = 1; i < 7; i++) cr_assert(few[i - 1].b <= few[i].b);
    hdst_context_destroy(context);
}

// --- Records that are missing; texts as keys and in what is carried along ---

typedef struct reading { hdst_text_span sensor; double value; uint32_t at; } reading;

Test(scan_function, the_last_value_is_carried_forward_within_a_text)
{
    enum { READINGS = 9000 };
    static reading readings[READINGS];
    static char names[READINGS][32];
    ON_FORMS(3) {
        hdst_context *context = context_in_form(forms[form]);
        uint64_t rows;
        for (uint32_t i = 0; i < READINGS; i++) {
            const int length = snprintf(names[i], sizeof names[i], "a sensor's name %u", (unsigned)(i / 700));
            readings[i] = (reading){hdst_text_span_of(names[i], (uint32_t)length), i % 700 > 50 && i % 130 ? NAN : i, i};
        }
        hdst_module *module = module_of(context, kernels);
        hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
        options.within = "sensor";
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, readings, READINGS, sizeof *readings), module, "reading");
        hdst_result *r = hdst_result_create(hdst_scan_function(data, module, "last", &options));
        RUN(r);
        const reading *got = hdst_result_rows(r, NULL, &rows);
        cr_assert_eq(rows, READINGS);
        reading last = {0};
        for (uint32_t i = 0; i < READINGS; i++) {
            if (i % 700 == 0 || !isnan(readings[i].value)) last = readings[i];
            cr_assert(got[i].value == last.value && got[i].at == last.at, "%s: record %d", forms[form], (int)i);
            cr_assert(got[i].sensor.length == readings[i].sensor.length && !memcmp(hdst_text_bytes(&got[i].sensor), names[i], got[i].sensor.length));
        }
        hdst_context_destroy(context);
    }
}

Test(scan_function, a_running_maximum_of_bare_numbers)
{
    static const double values[] = {3, -1, 4, 1, -5, 9, 2, 6}, right[] = {3, 3, 4, 4, 4, 9, 9, 9};
    hdst_context *context = context_on("interp");
    uint64_t rows;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, values, 8, 8), module, "double");
    hdst_result *r = hdst_result_create(hdst_scan_function(data, module, "most", NULL));
    RUN(r);
    const double *got = hdst_result_rows(r, NULL, &rows);
    cr_assert(rows == 8 && !memcmp(got, right, sizeof right));
    hdst_context_destroy(context);
}

// --- Records that fail ---

static void expect_failure(hdst_dataset *dataset, const char *words)
{
    hdst_error error;
    hdst_result *r = hdst_result_create(dataset);
    cr_assert_neq(hdst_run(r, &error), HDST_OK);
    cr_assert_not_null(strstr(error.message, words), "%s", error.message);
    hdst_result_destroy(r);
}

Test(scan_function, failing_records_are_told_by_their_block)
{
    hdst_context *context = context_on("interp");
    hdst_module *module;
    fill();
    steps[777].a = 0;
    hdst_dataset *all = all_of(context, &module, 5000);
    expect_failure(hdst_scan_function(all, module, "strict", NULL), "division by zero in one of the records 768 to 831 of a scan");
    steps[777].a = 1;
    steps[4990].run = 70;
    expect_failure(hdst_map_function(scanned(all, module, false, false), module, "tenth"), "division by zero in one of the records 4928 to 4991");
    hdst_context_destroy(context);
}

// A map behind it that fails on a record takes none of its block along.
Test(scan_function, a_failing_record_behind_it_is_left_out_alone)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module;
    uint64_t rows;
    fill();
    steps[777].run = 70;
    hdst_dataset *all = all_of(context, &module, 5000);
    hdst_result *r = hdst_result_create(hdst_map_function(scanned(all, module, false, false), module, "tenth"));
    RUN(r);
    hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, 4999);
    expect_failure(hdst_scan_function(all, module, "strict", NULL), "'strict' may fail, and a scan cannot leave records out");
    hdst_context_destroy(context);
}

// --- What is wrong ---

Test(scan_function, what_cannot_be_scanned_is_refused)
{
    hdst_context *context = context_on("interp");
    hdst_module *module;
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    options.exclusive = true;
    fill();
    hdst_dataset *all = all_of(context, &module, 10);
    expect_usage_error(hdst_scan_function(all, module, "ordered", NULL), "'ordered' is not declared associative");
    expect_usage_error(hdst_scan_function(all, module, "strict", &options), "'strict' has no identity");
    expect_usage_error(hdst_scan_function(all, module, "most", NULL), "'most' takes records of 'double', the dataset has 'step'");
    expect_usage_error(hdst_scan_function(all, module, "odd", NULL), "hdst_scan_function was given 'odd', which is a filter");
    options = (hdst_scan_options)HDST_SCAN_OPTIONS_INIT;
    options.within = "nothing";
    hdst_error error;
    cr_assert_neq(hdst_dataset_status(hdst_scan_function(all, module, "after", &options), &error), HDST_OK);
    cr_assert_neq(hdst_dataset_status(hdst_scan_function(all, module, "aftre", NULL), &error), HDST_OK);
    hdst_context_destroy(context);
}
