// SPDX-License-Identifier: Apache-2.0
// Lines of texts that have a text, or match a regular expression.
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const char *pattern, *regex;        // one of them
    bool ignore_case;
    uint64_t lines, found;
} job;

// --- Regular expressions, on the host ---

// The end of the line is where the span ends: a line may hold NUL bytes, which regexec() would take for it.
static bool line_matches(const regex_t *expression, const hdst_text_span *line)
{
    regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)line->length};
    return regexec(expression, hdst_text_bytes(line), 1, &all, REG_STARTEND) == 0;
}

static int compile(const job *w, regex_t *expression) { return regcomp(expression, w->regex, REG_EXTENDED | (w->ignore_case ? REG_ICASE : 0)); }

// An expression of its own for each call: threads that share one wait for one another.
static bool match(const hdst_part *part, bool *keep, char *message, void *from)
{
    const job *w = from;
    const hdst_text_span *line = part->records;
    regex_t expression;
    if (compile(w, &expression)) {
        strcpy(message, "out of memory: a regular expression");
        return false;
    }
    for (uint64_t i = 0; i < part->count; i++) keep[i] = line_matches(&expression, &line[i]);
    regfree(&expression);
    return true;
}

static hdst_status try_expression(const job *w, hdst_error *error)
{
    char why[200];
    regex_t expression;
    const int code = compile(w, &expression);
    if (code == 0) {
        regfree(&expression);
        return HDST_OK;
    }
    regerror(code, &expression, why, sizeof why);
    return options_misuse(error, "an extended regular expression of POSIX, as `grep -E` takes it", "--regex '%.200s': %s", w->regex, why);
}

// --- Either way a filter ---

static char *small_letters(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if (*at >= 'A' && *at <= 'Z') *at += 'a' - 'A';
    return copy;
}

static hdst_status bind_pattern(const job *w, hdst_map_spec *spec, hdst_value *value, hdst_error *error)
{
    char *pattern = w->ignore_case ? small_letters(w->pattern) : strdup(w->pattern);
    if (!pattern) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the pattern");
    const hdst_text_span span = hdst_text_span_of(pattern, (uint32_t)strlen(pattern));
    hdst_value_set(value, &span, 1);
    hdst_bind_value(spec, "pattern", value);
    free(pattern);
    return hdst_value_status(value, error);
}

// As they were, in their order.
static hdst_status save(const hdst_text_span *lines, uint64_t count, const char *path, hdst_error *error)
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) return program_fail(error, HDST_E_IO, 0, "", "'%s' cannot be written: %s", path, strerror(errno));
    for (uint64_t i = 0; i < count && !ferror(out); i++) {
        fwrite(hdst_text_bytes(&lines[i]), 1, lines[i].length, out);
        putc('\n', out);
    }
    const bool failed = fflush(out) || ferror(out), closed = standard || !fclose(out);
    if (!failed && closed) return HDST_OK;
    return program_fail(error, HDST_E_IO, 0, "is the disk full?", "'%s' cannot be written: %s", path, strerror(errno));
}

static void write_json(json *j, const void *from) { json_uint(j, "lines", ((const job *)from)->found); }

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " line%s of %" PRIu64 "\n", w->found, w->found == 1 ? "" : "s", w->lines);
}

static hdst_status run_filter(program_run *run, job *w, hdst_module *module, hdst_map_spec *spec, hdst_error *error)
{
    hdst_dataset *lines = hdst_with_layout(hdst_read(run->source, module, "text"), program_layout(run, HDST_AOS));
    hdst_result *result = hdst_result_create(hdst_filter(lines, spec));
    hdst_status status = program_run_result(run, result, NULL, error);
    const hdst_text_span *found = status == HDST_OK ? hdst_result_rows(result, NULL, &w->found) : NULL;
    if (status == HDST_OK) status = program_rows(run, &w->lines, error);        // the run has counted them
    if (status == HDST_OK) status = program_show(run, w->lines, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = save(found, w->found, run->common->output, error);
    hdst_result_destroy(result);
    return status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    const hdst_param params[] = {{"IGNORE_CASE", w->ignore_case}};
    hdst_module *module = NULL;
    hdst_status status = w->regex ? try_expression(w, error) : HDST_OK;
    if (status == HDST_OK) status = program_load(run, "grep.hk", params, 1, &module, error);
    if (status != HDST_OK) return status;
    hdst_map_spec *spec = hdst_map_spec_create(module, w->regex ? "matches" : "has");
    hdst_value *pattern = hdst_value_create(module, "text", 1);
    if (w->regex) {
        hdst_map_spec_set_filter(spec, HDST_DEVICE_CPU, match, w);
        hdst_map_spec_set_filter(spec, HDST_DEVICE_INTERP, match, w);
    } else {
        status = bind_pattern(w, spec, pattern, error);
    }
    if (status == HDST_OK) status = run_filter(run, w, module, spec, error);
    hdst_value_destroy(pattern);
    hdst_map_spec_destroy(spec);
    hdst_module_destroy(module);
    return status;
}

static hdst_status check(void *from, hdst_error *error)
{
    const job *w = from;
    if (!w->pattern != !w->regex) return HDST_OK;
    return options_misuse(error, "--pattern TEXT, or --regex EXPRESSION", w->regex ? "both --pattern and --regex given" : "no --pattern given");
}

int main(int argc, char **argv)
{
    job w = {0};
    common_options common;
    const option own[] = {
        {"pattern", OPTION_TEXT, &w.pattern, "TEXT", "lines that have it, byte for byte", true},
        {"regex", OPTION_TEXT, &w.regex, "EXPRESSION", "lines that match it, an extended regular expression of POSIX", true},
        {"ignore-case", OPTION_FLAG, &w.ignore_case, NULL, "letters of ASCII are equal to their small ones", true},
    };
    const program_info info = {"grep",
                               "Finds lines of texts that have a text, on devices, or that match a regular expression, on the host. Says how many, and writes\n"
                               "with --output the lines to a file. Input may be compressed by gzip, zstd or xz.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.lines = true, .check = check, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
