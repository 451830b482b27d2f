// SPDX-License-Identifier: Apache-2.0
// Filters whose code is a C function: of numbers between operators of the kernel language, of lines by regular expressions; against plain C.
#include "support.h"

#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(call) cr_assert_eq((call), HDST_OK)

enum { RECORDS = 30011 };

static const char kernels[] =
    "struct item { uint32_t key; float x; };\n"
    "filter declared(item i, broadcast uint32_t low[]);\n"
    "filter with_body(item i, broadcast uint32_t low[]) { return true; }\n"
    "filter small(item i) { return i.key < 800; }\n"
    "map keys(item i) -> uint32_t { return i.key; }\n"
    "flat_map twice(item i) -> item { emit(i); emit(i); }\n"
    "filter matches(text line);\n";

typedef struct item { uint32_t key; float x; } item;

static item make_item(uint64_t i) { return (item){(uint32_t)(i * 2654435761u % 1000), (float)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = make_item(first + i);
    return true;
}

static bool stays(const item *i, const uint32_t *low) { return i->key >= low[i->key % 2] && i->key % 3; }

static bool choose(const hdst_part *part, bool *keep, char *message, void *user)
{
    const item *in = part->records;
    const uint64_t *fails_at = user;
    if (part->output || part->value_count != 1 || part->value_rows[0] != 2) return snprintf(message, 512, "a part is not as it was said to be"), false;
    for (uint64_t i = 0; i < part->count; i++) {
        if (in[i].x == (float)*fails_at) return snprintf(message, 512, "key %u is not wanted", in[i].key), false;
        keep[i] = stays(&in[i], part->values[0]);
    }
    return true;
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_source *source;
    hdst_value *low;
    hdst_map_spec *spec;
    uint64_t fails_at;
} job;

static const uint32_t lows[2] = {100, 500};

static void open_job(job *j, const char *form, const char *function, uint64_t slice)
{
    *j = (job){.context = context_in_form(form), .fails_at = UINT32_MAX};
    hdst__engine_limits(j->context->engine)->slice_records = slice;
    j->module = module_of(j->context, kernels);
    j->source = hdst_source_from_callback(j->context, RECORDS, fill, NULL);
    j->low = hdst_value_create(j->module, "uint32_t", 2);
    OK(hdst_value_set(j->low, lows, 2));
    j->spec = hdst_map_spec_create(j->module, function);
    OK(hdst_bind_value(j->spec, "low", j->low));
    OK(hdst_map_spec_set_filter(j->spec, !strcmp(form, "interp") ? HDST_DEVICE_INTERP : HDST_DEVICE_CPU, choose, &j->fails_at));
}

static void close_job(job *j)
{
    hdst_map_spec_destroy(j->spec);
    hdst_value_destroy(j->low);
    hdst_source_destroy(j->source);
    hdst_module_destroy(j->module);
    hdst_context_destroy(j->context);
}

// Behind a filter and in front of a map, each record `times` times.
static void expect_keys(hdst_context *context, hdst_dataset *keys, uint64_t times)
{
    hdst_error error = HDST_ERROR_INIT;
    void *rows;
    uint64_t count, n = 0;
    cr_assert_eq(hdst_collect(keys, &rows, &count, &error), HDST_OK, "%s: %s", error.message, error.cause);
    for (uint64_t i = 0; i < RECORDS; i++) {
        const item it = make_item(i);
        for (uint64_t t = 0; t < times && it.key < 800 && stays(&it, lows); t++, n++)
            cr_assert(n < count && ((uint32_t *)rows)[n] == it.key, "record %d", (int)n);
    }
    cr_assert_eq(n, count);
    hdst_rows_destroy(context, rows);
}

static void right_in(const char *form)
{
    static const char *const functions[] = {"declared", "with_body"};
    static const uint64_t slices[] = {0, 64, 4160};
    for (int f = 0; f < 2; f++) {
        for (int s = 0; s < 3; s++) {
            job j;
            open_job(&j, form, functions[f], slices[s]);
            hdst_dataset *small = hdst_filter_function(hdst_read(j.source, j.module, "item"), j.module, "small");
            expect_keys(j.context, hdst_map_function(hdst_filter(small, j.spec), j.module, "keys"), 1);
            expect_keys(j.context, hdst_map_function(hdst_filter(hdst_flat_map_function(small, j.module, "twice"), j.spec), j.module, "keys"), 2);
            expect_keys(j.context, hdst_map_function(hdst_cache(hdst_filter(small, j.spec)), j.module, "keys"), 1);
            close_job(&j);
        }
    }
}

Test(filter_code, in_the_interpreter) { right_in("interp"); }
Test(filter_code, on_a_cpu) { if (have_cpu()) right_in("cpu"); }

Test(filter_code, one_that_fails_ends_the_run_with_its_words)
{
    job j;
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    open_job(&j, "interp", "declared", 0);
    j.fails_at = 20000;
    cr_assert_eq(hdst_count(hdst_filter(hdst_read(j.source, j.module, "item"), j.spec), &n, &error), HDST_E_RECORD);
    cr_assert(strstr(error.message, "'declared' failed") && strstr(error.cause, "is not wanted"), "%s: %s", error.message, error.cause);
    close_job(&j);
}

Test(filter_code, what_cannot_be_given_is_said)
{
    job j;
    hdst_error error = HDST_ERROR_INIT;
    open_job(&j, "interp", "declared", 0);
    hdst_map_spec *spec = hdst_map_spec_create(j.module, "keys");
    cr_assert_eq(hdst_map_spec_set_filter(spec, HDST_DEVICE_CPU, choose, NULL), HDST_E_USAGE);
    cr_assert_eq(hdst_map_spec_status(spec, &error), HDST_E_USAGE);
    cr_assert_not_null(strstr(error.message, "'keys' is none"));
    hdst_map_spec_destroy(spec);
    spec = hdst_map_spec_create(j.module, "matches");
    cr_assert_eq(hdst_map_spec_set_filter(spec, HDST_DEVICE_GPU, choose, NULL), HDST_E_USAGE);
    hdst_map_spec_destroy(spec);
    spec = hdst_map_spec_create(j.module, "matches");
    cr_assert_eq(hdst_map_spec_set_filter(spec, HDST_DEVICE_CPU, NULL, NULL), HDST_E_USAGE);
    hdst_map_spec_destroy(spec);
    hdst_source *lines = hdst_source_open_lines(j.context, "/dev/null");
    uint64_t n;
    cr_assert_eq(hdst_count(hdst_filter_function(hdst_read(lines, j.module, "text"), j.module, "matches"), &n, &error), HDST_E_USAGE);
    cr_assert_str_eq(error.message, "'matches' is only declared, and no code was given for it");
    hdst_source_destroy(lines);
    close_job(&j);
}

// --- Lines ---

static bool match(const hdst_part *part, bool *keep, char *message, void *user)
{
    const hdst_text_span *line = part->records;
    (void)message;
    for (uint64_t i = 0; i < part->count; i++) {
        char *text = strndup(hdst_text_bytes(&line[i]), line[i].length);
        keep[i] = !regexec(user, text, 0, NULL, 0);
        free(text);
    }
    return true;
}

static void match_lines(const char *device)
{
    char path[] = "/tmp/hdst-regex-XXXXXX", line[200];
    const int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    for (int i = 0; i < 20000; i++) fprintf(out, "%*s%d GET /%x.html\n", i % 40, "", i, (unsigned)i * 2654435761u);
    fclose(out);
    regex_t expression;
    cr_assert_eq(regcomp(&expression, "1[0-9]*7 .*/[a-f].*3", REG_EXTENDED | REG_NOSUB), 0);
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = context_on(device);
    hdst_module *module = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(module, "matches");
    OK(hdst_map_spec_set_filter(spec, HDST_DEVICE_CPU, match, &expression));
    OK(hdst_map_spec_set_filter(spec, HDST_DEVICE_INTERP, match, &expression));
    hdst_source *lines = hdst_source_open_lines(context, path);
    hdst_result *found = hdst_result_create(hdst_filter(hdst_read(lines, module, "text"), spec));
    cr_assert_eq(hdst_run(found, &error), HDST_OK, "%s: %s", error.message, error.cause);
    const hdst_view view = hdst_result_field(found, NULL, NULL);
    FILE *in = fopen(path, "r");
    uint64_t n = 0;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (regexec(&expression, line, 0, NULL, 0)) continue;
        const hdst_text text = hdst_view_text(view, n++, 0);
        cr_assert(text.length == strlen(line) && !memcmp(text.data, line, text.length), "%s", line);
    }
    cr_assert(n == view.rows && n > 100);
    fclose(in);
    hdst_result_destroy(found);
    hdst_source_destroy(lines);
    hdst_map_spec_destroy(spec);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    regfree(&expression);
    unlink(path);
}

Test(filter_code, lines_that_match_in_the_interpreter) { match_lines("interp"); }
Test(filter_code, lines_that_match_on_a_cpu) { if (have_cpu()) match_lines("cpu"); }
