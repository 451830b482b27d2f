// SPDX-License-Identifier: Apache-2.0
// Filters that look for a text in lines, which the reader does for them: what comes out is what a loop over the text finds, whoever else
// reads the lines, however often the text changes, and what fails is told of the line that it is.
#define _GNU_SOURCE     // asprintf
#include "support.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINES = 40000 };

static char path[64];
static char *lines[LINES];
static uint64_t offsets[LINES + 1];

// Enough of them to be read as they are counted. Each has a number, and now and then one of two words.
static void write_lines(void)
{
    strcpy(path, "/tmp/hdst-searched-XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert(file);
    for (uint64_t i = 0; i < LINES; i++) {
        const char *word = i % 997 == 5 ? "needle" : i % 3 == 0 ? "NEEDLE and more" : "";
        cr_assert_gt(asprintf(&lines[i], "%d %.*s%s", (int)i, (int)(i * 7 % 60), "of hay there is so much that nobody finds anything in any of it", word), 0);
        cr_assert_gt(fprintf(file, "%s\n", lines[i]), 0);
        offsets[i + 1] = offsets[i] + strlen(lines[i]) + 1;
    }
    cr_assert_eq(fclose(file), 0);
}

static void remove_lines(void)
{
    unlink(path);
    for (uint64_t i = 0; i < LINES; i++) free(lines[i]);
}

TestSuite(searched_lines, .init = write_lines, .fini = remove_lines);

static const char kernels[] =
    "struct row { text text; uint64_t line; uint64_t offset; };\n"
    "struct place { uint64_t line; uint64_t offset; };\n"
    "filter has(row r, broadcast text pattern) { return r.offset >= 100 && find(r.text, pattern) >= 0; }\n"
    "map where(row r) -> place { return (place){r.line, r.offset}; }\n"
    "map line_of(row r) -> uint64_t { return r.line; }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "map byte_30(row r) -> uint8_t { return r.text[30]; }\n";

typedef struct place { uint64_t line, offset; } place;

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_source *source;
    hdst_dataset *read;
    hdst_value *pattern;
    hdst_map_spec *spec;
} job;

static void set_pattern(job *j, const char *text)
{
    const hdst_text_span span = hdst_text_span_of(text, (uint32_t)strlen(text));
    cr_assert_eq(hdst_value_set(j->pattern, &span, 1), HDST_OK);
}

static void open_job(job *j, hdst_context *context, hdst_layout layout)
{
    *j = (job){.context = context, .module = module_of(context, kernels), .source = hdst_source_open_lines(context, path)};
    j->read = hdst_with_layout(hdst_read(j->source, j->module, "row"), layout);
    j->pattern = hdst_value_create(j->module, "text", 1);
    j->spec = hdst_map_spec_create(j->module, "has");
    set_pattern(j, "needle");
    cr_assert_eq(hdst_bind_value(j->spec, "pattern", j->pattern), HDST_OK);
}

static void close_job(job *j)
{
    hdst_map_spec_destroy(j->spec);
    hdst_value_destroy(j->pattern);
    hdst_source_destroy(j->source);
    hdst_module_destroy(j->module);
    hdst_context_destroy(j->context);
}

static bool is_found(uint64_t i, const char *pattern) { return offsets[i] >= 100 && strstr(lines[i], pattern); }

static void expect_places(hdst_result *result, const char *pattern)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t count, n = 0;
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s: %s", error.message, error.cause);
    const place *places = hdst_result_rows(result, NULL, &count);
    for (uint64_t i = 0; i < LINES; i++) {
        if (!is_found(i, pattern)) continue;
        cr_assert(n < count && places[n].line == i + 1 && places[n].offset == offsets[i], "line %d", (int)i);
        n++;
    }
    cr_assert_eq(n, count, "'%s'", pattern);
}

static bool is_searched(hdst_result *result)
{
    hdst_error error = HDST_ERROR_INIT;
    const char *text = hdst_explain(result, &error);
    cr_assert(text, "%s", error.message);
    return strstr(text, "reader: looks for the text that 'has' wants") != NULL;
}

// The text changes from run to run: one that few lines have, one that a third has, one longer than a span holds, none, any.
static void right_in(const char *form, hdst_layout layout)
{
    static const char *const patterns[] = {"needle", "NEEDLE", "much that nobody finds", "needless", "20003 ", "", "\n", "eedle"};
    job j;
    open_job(&j, context_in_form(form), layout);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_filter(j.read, j.spec), j.module, "where"));
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        set_pattern(&j, patterns[i]);
        expect_places(result, patterns[i]);
        cr_assert_eq(is_searched(result), *patterns[i] != 0, "'%s'", patterns[i]);
    }
    hdst_result_destroy(result);
    close_job(&j);
}

Test(searched_lines, in_the_interpreter)
{
    right_in("interp", HDST_AOS);
    right_in("interp", HDST_SOA);
}

Test(searched_lines, on_a_cpu) { if (have_cpu()) right_in("cpu", HDST_AOS); }
Test(searched_lines, in_the_form_for_gpus) { if (have_cpu()) right_in("gpu-form", HDST_SOA); }
Test(searched_lines, by_a_team) { if (have_team()) right_in("team", HDST_AOS); }

// Other readers of the same lines get all of them, and a filter of cached lines looks itself.
Test(searched_lines, are_whole_for_all_others)
{
    hdst_error error = HDST_ERROR_INIT;
    job j;
    uint64_t count;
    place *all;
    open_job(&j, context_on("interp"), HDST_AOS);
    hdst_result *found = hdst_result_create(hdst_map_function(hdst_filter(j.read, j.spec), j.module, "where"));
    expect_places(found, "needle");
    cr_assert_eq(hdst_collect(hdst_map_function(j.read, j.module, "where"), (void **)&all, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(count, LINES);
    for (uint64_t i = 0; i < LINES; i++) cr_assert(all[i].line == i + 1 && all[i].offset == offsets[i], "line %d", (int)i);
    hdst_rows_destroy(j.context, all);
    hdst_result *cached = hdst_result_create(hdst_map_function(hdst_filter(hdst_cache(j.read), j.spec), j.module, "where"));
    for (int i = 0; i < 2; i++) {
        set_pattern(&j, i ? "NEEDLE" : "needle");
        expect_places(cached, i ? "NEEDLE" : "needle");
        cr_assert_not(is_searched(cached));
    }
    hdst_result_destroy(cached);
    hdst_result_destroy(found);
    close_job(&j);
}

// Lines that no kernel sees count as any, in statistics and for what comes of the others.
static void counted_in(const char *form)
{
    static const char *const patterns[] = {"needless", "20003 ", "39999 ", "needle"};
    job j;
    open_job(&j, context_in_form(form), HDST_AOS);
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_map_function(hdst_filter(j.read, j.spec), j.module, "line_of"), j.module, "add"));
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        hdst_error error = HDST_ERROR_INIT;
        uint64_t wanted = 0, count;
        for (uint64_t i = 0; i < LINES; i++) wanted += is_found(i, patterns[p]) ? i + 1 : 0;
        set_pattern(&j, patterns[p]);
        cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s", error.message);
        const uint64_t *sum = hdst_result_rows(result, NULL, &count);
        cr_assert(count == 1 && *sum == wanted, "'%s': %d records", patterns[p], (int)count);
        const hdst_run_stats stats = hdst_result_stats(result);
        cr_assert_eq(stats.records, LINES, "'%s': %d", patterns[p], (int)stats.records);
        if (!wanted) cr_assert_eq(stats.device[0].slices, 0);
    }
    hdst_result_destroy(result);
    close_job(&j);
}

Test(searched_lines, count_in_the_interpreter) { counted_in("interp"); }
Test(searched_lines, count_on_a_cpu) { if (have_cpu()) counted_in("cpu"); }

// Of the lines that are found, those of up to 30 bytes fail behind the filter.
static uint64_t short_lines(uint64_t *first)
{
    uint64_t count = 0;
    for (uint64_t i = LINES; i-- > 0;)
        if (is_found(i, "needle") && strlen(lines[i]) <= 30) *first = i, count++;
    return count;
}

Test(searched_lines, that_fail_are_told_by_their_number)
{
    uint64_t first = 0, found = 0;
    const uint64_t fail = short_lines(&first);
    for (uint64_t i = 0; i < LINES; i++) found += is_found(i, "needle");
    cr_assert(fail > 5 && fail < found);
    for (int skip = 0; skip < 2; skip++) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        hdst_error error = HDST_ERROR_INIT;
        uint64_t count = 0;
        void *bytes = NULL;
        job j;
        options.device = "interp";
        options.on_error = skip ? HDST_ON_ERROR_SKIP : HDST_ON_ERROR_FAIL;
        open_job(&j, hdst_context_create(&options), HDST_AOS);
        const hdst_status status = hdst_collect(hdst_map_function(hdst_filter(j.read, j.spec), j.module, "byte_30"), &bytes, &count, &error);
        cr_assert_eq(status, skip ? HDST_OK : HDST_E_RECORD, "%s", error.message);
        if (skip) cr_assert_eq(count, found - fail);
        else cr_assert_eq(error.record, first, "%d", (int)error.record);
        hdst_rows_destroy(j.context, bytes);
        close_job(&j);
    }
}
