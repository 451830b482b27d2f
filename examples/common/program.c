// SPDX-License-Identifier: Apache-2.0
// What the main function of every example does around its workload (program.h).
#include "program.h"

#include "folder.h"
#include "progress_line.h"
#include "report.h"
#include "signals.h"
#include "turns.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hdst_status program_fail(hdst_error *error, hdst_status code, uint64_t record, const char *hint, const char *format, ...)
{
    *error = (hdst_error)HDST_ERROR_INIT;
    error->code = code;
    if (code == HDST_E_RECORD) error->record = record;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    return code;
}

// Results may go to the terminal that the line is on.
static void clear_line(void)
{
    flockfile(stderr);
    progress_line_clear();
    funlockfile(stderr);
}

// --- Steps of a workload ---

hdst_status program_rows(const program_run *run, uint64_t *rows, hdst_error *error)
{
    *rows = hdst_source_rows(run->source);
    return hdst_source_status(run->source, error);
}

hdst_status program_records(const program_run *run, hdst_module *module, const char *record, uint64_t *records, hdst_error *error)
{
    return hdst_count(hdst_read(run->source, module, record), records, error);
}

hdst_status program_load(program_run *run, const char *file, const hdst_param *params, size_t count, hdst_module **module, hdst_error *error)
{
    char folder[4096], path[4400];
    *module = NULL;
    hdst_status status = folder_find(run->info->name, file, folder, sizeof folder, error);
    if (status != HDST_OK) return status;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    *module = hdst_module_load(run->context, path, params, count);
    return hdst_module_status(*module, error);
}

hdst_layout program_layout(const program_run *run, hdst_layout usual) { return run->common->layout < 0 ? usual : (hdst_layout)run->common->layout; }

hdst_dataset *program_contained(const program_run *run, hdst_dataset *reduction)
{
    return hdst_with_container(reduction, (hdst_container)run->common->container);
}

hdst_status program_run_result(program_run *run, hdst_result *result, bool *explained, hdst_error *error)
{
    if (run->common->explain && !(explained && *explained)) {
        *error = (hdst_error)HDST_ERROR_INIT;
        clear_line();
        fputs(hdst_explain(result, error), stderr);
        if (error->code != HDST_OK) return error->code;
        if (explained) *explained = true;
    }
    hdst_status status = hdst_run(result, error);
    if (status == HDST_OK) report_add(&run->stats, hdst_result_stats(result));
    return status;
}

// --- Results ---

// Made in memory first, so that a failure leaves nothing on standard output.
static hdst_status show_json(const program_run *run, uint64_t records, void (*members)(json *j, const void *user), const void *user, hdst_error *error)
{
    char *text = NULL;
    size_t size = 0;
    json j = {.out = open_memstream(&text, &size)};
    if (!j.out) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the JSON object");
    json_open(&j, NULL, '{');
    report_json(&j, run->info->name, records, report_clock() - run->started, &run->stats);
    if (run->loop) turns_json(&j, run->loop, run->decides);
    json_open(&j, "result", '{');
    members(&j, user);
    json_close(&j, '}');
    json_close(&j, '}');
    fputc('\n', j.out);
    bool failed = ferror(j.out);
    hdst_status status = HDST_OK;
    if (fclose(j.out) != 0 || failed) status = program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the JSON object");
    if (status == HDST_OK) fwrite(text, 1, size, stdout);
    free(text);
    return status;
}

static bool uses_stdout(const common_options *c) { return c->output && !strcmp(c->output, "-"); }

hdst_status program_show(const program_run *run, uint64_t records, void (*members)(json *j, const void *user), void (*text)(FILE *out, const void *user),
                         const void *user, hdst_error *error)
{
    hdst_status status = HDST_OK;
    clear_line();
    if (run->common->json) status = show_json(run, records, members, user, error);
    else text(uses_stdout(run->common) ? stderr : stdout, user);
    if (status != HDST_OK) return status;
    if (fflush(stdout) == 0 && !ferror(stdout)) return HDST_OK;
    return program_fail(error, HDST_E_IO, 0, "", "cannot write to standard output");
}

// --- The program ---

static bool reads_lines(const program_steps *steps) { return steps->lines || (steps->lines_wanted && *steps->lines_wanted); }

static hdst_status check(const common_options *c, const program_steps *steps, void *settings, hdst_error *error)
{
    if (steps->no_input && (c->inputs.count || c->columns)) return options_misuse(error, "leave --input and --columns out", "this program reads no input");
    if (!steps->no_input && c->inputs.count == 0) return options_misuse(error, "--input data.csv; --help lists all options", "no --input given");
    if (reads_lines(steps) && c->columns) return options_misuse(error, "leave --columns out", "lines of text have no columns");
    if (steps->edges && c->columns) return options_misuse(error, "leave --columns out", "edges have no columns to choose");
    if (c->json && uses_stdout(c)) return options_misuse(error, "give --output a file, or leave --json out", "--json and --output - both want standard output");
    return steps->check ? steps->check(settings, error) : HDST_OK;
}

static hdst_context *create_context(const program_info *info, const common_options *c)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = c->device;
    options.memory = c->memory;
    options.device_memory = c->device_memory;
    options.on_error = (hdst_on_error)c->on_error;
    options.unchecked = c->unchecked;
    options.fast_sums = c->fast_sums;
    options.policy = (hdst_policy)c->policy;
    options.hpr = c->hpr < 0 ? HDST_HPR_AUTO : (hdst_hpr)(HDST_HPR_NONE + c->hpr);
    options.trace = c->trace;
    if (!c->quiet && progress_line_wanted()) {
        options.progress = progress_line_show;
        options.progress_user = (void *)info->name;
    }
    options.log = report_log;
    options.log_user = (void *)info->name;
    options.log_level = c->quiet ? HDST_LOG_ERROR : HDST_LOG_INFO;
    return hdst_context_create(&options);
}

static hdst_status run_program(program_run *run, const program_steps *steps, void *settings, hdst_error *error)
{
    const common_options *c = run->common;
    run->context = create_context(run->info, c);
    hdst_status status = hdst_context_status(run->context, error);
    signals_watch(run->context);
    if (status == HDST_OK && !steps->no_input) {
        if (steps->edges) run->source = hdst_source_open_all_edges(run->context, c->inputs.items, c->inputs.count, steps->edges);
        else if (reads_lines(steps)) run->source = hdst_source_open_all_lines(run->context, c->inputs.items, c->inputs.count, NULL);
        else run->source = hdst_source_open_all(run->context, c->inputs.items, c->inputs.count, c->columns);
        status = hdst_source_status(run->source, error);
    }
    if (status == HDST_OK) status = steps->work(run, settings, error);
    clear_line();
    hdst_source_destroy(run->source);
    signals_watch(NULL);
    hdst_context_destroy(run->context);
    return status;
}

int program_main(const program_info *info, common_options *common, const program_steps *steps, void *settings, int argc, char **argv)
{
    program_run run = {.info = info, .common = common, .started = report_clock()};
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = options_parse(info, common, argc, argv, &error);
    if (status == HDST_OK && common->help) options_print_help(info, stdout);
    else if (status == HDST_OK) status = check(common, steps, settings, &error);
    if (status == HDST_OK && !common->help) status = run_program(&run, steps, settings, &error);
    options_free(common);
    if (status != HDST_OK) {
        const int code = report_error(info->name, &error);
        fflush(stdout);
        if (status == HDST_E_CANCELLED) _exit(code);       // a kernel may still be at work, for which a driver's exit handlers may wait
        return code;
    }
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "%s: cannot write to standard output\n", info->name);
    return 6;
}
