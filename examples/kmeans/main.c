// SPDX-License-Identifier: Apache-2.0
// The kmeans program: the command line around kmeans.h.
#include "kmeans.h"

#include "folder.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
    common_options common;
    uint64_t clusters, iterations;
    double tolerance;
    const char *init, *svg;
    kmeans_init method;
} settings;

// --- Options ---

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static hdst_status read_method(settings *s, hdst_error *error)
{
    static const char *const words[] = {"kmeans++", "random", "first"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(s->init, words[i])) {
            s->method = (kmeans_init)i;
            return HDST_OK;
        }
    s->method = KMEANS_FILE;
    if (ends_with(s->init, ".npy") || ends_with(s->init, ".csv") || access(s->init, F_OK) == 0) return HDST_OK;
    return options_misuse(error, "kmeans++, random, first, or a .npy file of centers", "--init: neither a method nor a file: '%.200s'", s->init);
}

static hdst_status check_settings(settings *s, hdst_error *error)
{
    const common_options *c = &s->common;
    if (c->inputs.count == 0) return options_misuse(error, "--input points.csv; --help lists all options", "no --input given");
    if (c->json && c->output && !strcmp(c->output, "-"))
        return options_misuse(error, "give --output a file, or leave --json out", "--json and --output - both want standard output");
    return read_method(s, error);
}

static hdst_status read_settings(settings *s, int argc, char **argv, hdst_error *error)
{
    *s = (settings){.clusters = 8, .iterations = 100, .tolerance = 1e-4, .init = "kmeans++"};
    const option own[] = {
        {"clusters", OPTION_COUNT, &s->clusters, "K", "number of clusters (8)", true, NULL, 1, INT32_MAX},
        {"iterations", OPTION_COUNT, &s->iterations, "N", "steps at most (100)", true, NULL, 0, UINT32_MAX},
        {"tolerance", OPTION_NUMBER, &s->tolerance, "T", "ends when no center moves further than this (0.0001)", true},
        {"init", OPTION_TEXT, &s->init, "HOW", "first centers: kmeans++ (unless given), random, first, or a .npy or .csv FILE", true},
        {"svg", OPTION_TEXT, &s->svg, "FILE", "draw points and centers, by their first two columns", true},
    };
    const program_info program = {"kmeans", "Finds clusters of points by Lloyd's algorithm. Writes a table of the centers to standard output,\n"
        "and with --output the cluster of each point as int32 numbers in a .npy file.", own, sizeof own / sizeof *own};
    hdst_status status = options_parse(&program, &s->common, argc, argv, error);
    if (status != HDST_OK) return status;
    if (s->common.help) {
        options_print_help(&program, stdout);
        return HDST_OK;
    }
    return check_settings(s, error);
}

// --- The run ---

static const char **name_columns(const hdst_source *source, uint32_t d)
{
    const char **names = malloc((d > 2 ? d : 2) * sizeof *names);
    for (uint32_t i = 0; names && i < (d > 2 ? d : 2); i++) names[i] = hdst_source_column_name(source, i);
    return names;
}

static hdst_status cluster(settings *s, hdst_context *context, kmeans *job, hdst_error *error)
{
    hdst_status status = kmeans_start(job, context, s->method, s->init, s->common.seed, &signals_stop, error);
    if (status == HDST_OK && s->common.explain) {
        *error = (hdst_error)HDST_ERROR_INIT;
        fputs(hdst_explain(job->step, error), stderr);
        status = error->code;
    }
    if (status != HDST_OK) return status;
    bool shows = !s->common.quiet && isatty(STDERR_FILENO);
    double last = report_clock();
    status = kmeans_run(job, (uint32_t)s->iterations, s->tolerance, &signals_stop, shows ? output_progress : NULL, &last, error);
    if (shows) output_progress_end();
    return status;
}

static hdst_status write_labels(const settings *s, kmeans *job, const char *const *names, hdst_error *error)
{
    if (!s->common.output && !s->svg) return HDST_OK;
    hdst_result *labels;
    hdst_status status = kmeans_labels(job, &labels, error);
    hdst_view view = hdst_result_field(labels, NULL, "cluster");
    if (status == HDST_OK && s->common.output) status = hdst_view_save(view, s->common.output, error);
    if (status == HDST_OK && s->svg) status = output_picture(job, view, names, s->svg, error);
    hdst_result_destroy(labels);
    return status;
}

static hdst_status show(const settings *s, const kmeans *job, const char *const *names, double started, hdst_error *error)
{
    bool labels_on_stdout = s->common.output && !strcmp(s->common.output, "-");
    if (s->common.json) {
        hdst_status status = output_json(job, report_clock() - started, stdout, error);
        if (status != HDST_OK) return status;
    } else {
        output_table(job, names, labels_on_stdout ? stderr : stdout);
    }
    if (fflush(stdout) == 0 && !ferror(stdout)) return HDST_OK;
    *error = (hdst_error){.code = HDST_E_IO, .message = "cannot write to standard output"};
    return HDST_E_IO;
}

static hdst_status work(settings *s, hdst_context *context, hdst_source *source, double started, hdst_error *error)
{
    char folder[4096];
    kmeans job = {0};
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK && s->svg && hdst_source_columns(source) < 2)
        status = options_misuse(error, "leave --svg out, or choose two columns with --columns", "--svg needs two columns to draw");
    if (status == HDST_OK) status = folder_find("kmeans", "kmeans.hk", folder, sizeof folder, error);
    if (status != HDST_OK) return status;
    const char **names = name_columns(source, hdst_source_columns(source));
    hdst_layout layout = s->common.layout < 0 ? HDST_SOA : (hdst_layout)s->common.layout;      // as point.yaml has it
    status = names ? kmeans_open(&job, context, source, folder, layout, (uint32_t)s->clusters, error) : HDST_E_MEMORY;
    if (!names) *error = (hdst_error){.code = HDST_E_MEMORY, .message = "out of memory: names of columns"};
    if (status == HDST_OK) status = cluster(s, context, &job, error);
    if (status == HDST_OK) status = write_labels(s, &job, names, error);
    if (status == HDST_OK) status = show(s, &job, names, started, error);
    kmeans_close(&job);
    free(names);
    return status;
}

static hdst_status run(settings *s, double started, hdst_error *error)
{
    static char name[] = "kmeans";
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = s->common.device;
    options.memory = s->common.memory;
    options.device_memory = s->common.device_memory;
    options.on_error = (hdst_on_error)s->common.on_error;
    options.unchecked = s->common.unchecked;
    options.fast_sums = s->common.fast_sums;
    options.log = report_log;
    options.log_user = name;
    options.log_level = s->common.quiet ? HDST_LOG_ERROR : HDST_LOG_INFO;
    hdst_context *context = hdst_context_create(&options);
    hdst_status status = hdst_context_status(context, error);
    signals_watch(context);
    hdst_source *source = hdst_source_open_all(context, s->common.inputs.items, s->common.inputs.count, s->common.columns);
    if (status == HDST_OK) status = work(s, context, source, started, error);
    hdst_source_destroy(source);
    signals_watch(NULL);
    hdst_context_destroy(context);
    return status;
}

int main(int argc, char **argv)
{
    double started = report_clock();
    settings s;
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = read_settings(&s, argc, argv, &error);
    if (status == HDST_OK && !s.common.help) status = run(&s, started, &error);
    options_free(&s.common);
    if (status != HDST_OK) return report_error("kmeans", &error);
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fputs("kmeans: cannot write to standard output\n", stderr);
    return 6;
}
