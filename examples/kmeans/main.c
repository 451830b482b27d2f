// SPDX-License-Identifier: Apache-2.0
// The kmeans program: the command line around kmeans.h.
#include "kmeans.h"

#include "folder.h"
#include "output.h"
#include "program.h"
#include "progress_line.h"
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

static hdst_status check_settings(void *settings_of_main, hdst_error *error) { return read_method(settings_of_main, error); }

// --- The run ---

static const char **name_columns(const hdst_source *source, uint32_t d)
{
    const char **names = malloc((d > 2 ? d : 2) * sizeof *names);
    for (uint32_t i = 0; names && i < (d > 2 ? d : 2); i++) names[i] = hdst_source_column_name(source, i);
    return names;
}

static hdst_status explain(hdst_result *result, hdst_error *error)
{
    *error = (hdst_error)HDST_ERROR_INIT;
    progress_line_clear();
    fputs(hdst_explain(result, error), stderr);
    return error->code;
}

static hdst_status cluster(settings *s, kmeans *job, hdst_error *error)
{
    hdst_status status = kmeans_start(job, s->method, s->init, s->common.seed, &signals_stop, error);
    return status == HDST_OK ? kmeans_run(job, (uint32_t)s->iterations, s->tolerance, s->common.explain ? explain : NULL, error) : status;
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

typedef struct shown {
    const kmeans *job;
    const char *const *names;
} shown;

static void write_members(json *j, const void *user) { output_members(j, ((const shown *)user)->job); }

static void write_table(FILE *out, const void *user) { output_table(((const shown *)user)->job, ((const shown *)user)->names, out); }

static hdst_status work(program_run *run, void *user, hdst_error *error)
{
    settings *s = user;
    hdst_source *source = run->source;
    char folder[4096];
    kmeans job = {0};
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK && s->svg && hdst_source_columns(source) < 2)
        status = options_misuse(error, "leave --svg out, or choose two columns with --columns", "--svg needs two columns to draw");
    if (status == HDST_OK) status = folder_find("kmeans", "kmeans.hk", folder, sizeof folder, error);
    if (status != HDST_OK) return status;
    const char **names = name_columns(source, hdst_source_columns(source));
    hdst_layout layout = program_layout(run, HDST_SOA);      // as point.yaml has it
    status = names ? kmeans_open(&job, run->context, source, folder, layout, (uint32_t)s->clusters, error) : HDST_E_MEMORY;
    if (!names) *error = (hdst_error){.code = HDST_E_MEMORY, .message = "out of memory: names of columns"};
    if (status == HDST_OK) status = cluster(s, &job, error);
    if (status == HDST_OK) status = write_labels(s, &job, names, error);
    run->stats = job.stats;
    run->loop = job.loop;
    run->decides = "moved";
    if (status == HDST_OK) status = program_show(run, job.points, write_members, write_table, &(shown){&job, names}, error);
    kmeans_close(&job);
    free(names);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.clusters = 8, .iterations = 100, .tolerance = 1e-4, .init = "kmeans++"};
    const option own[] = {
        {"clusters", OPTION_COUNT, &s.clusters, "K", "number of clusters (8)", true, NULL, 1, INT32_MAX},
        {"iterations", OPTION_COUNT, &s.iterations, "N", "steps at most (100)", true, NULL, 0, UINT32_MAX},
        {"tolerance", OPTION_NUMBER, &s.tolerance, "T", "ends when no center moves further than this (0.0001)", true},
        {"init", OPTION_TEXT, &s.init, "HOW", "first centers: kmeans++ (unless given), random, first, or a .npy or .csv FILE", true},
        {"svg", OPTION_TEXT, &s.svg, "FILE", "draw points and centers, by their first two columns", true},
    };
    const program_info info = {"kmeans", "Finds clusters of points by Lloyd's algorithm. Writes a table of the centers to standard output,\n"
        "and with --output the cluster of each point as int32 numbers in a .npy file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check_settings, .work = work};
    return program_main(&info, &s.common, &steps, &s, argc, argv);
}
