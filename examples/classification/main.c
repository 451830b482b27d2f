// SPDX-License-Identifier: Apache-2.0
// Puts points into classes: each into the one whose given center is nearest.
#include "centers.h"
#include "program.h"
#include "reviewed.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    common_options common;
    const char *file;           // of the centers
    bool lines;                 // points are movies as lines of reviews
    reviewed reviewed;
    uint32_t k, d;
    float *centers;             // k rows of d
    uint64_t points, without, *sizes;   // k of them
    hdst_module *module;
    hdst_value *value;
} job;

static hdst_status check(void *settings, hdst_error *error)
{
    const job *w = settings;
    return w->file ? HDST_OK : options_misuse(error, "--centers centers.csv: a row for each class", "no --centers given");
}

// Every class's size, or the error of points that are in none.
static hdst_status read_sizes(job *w, hdst_result *r, hdst_error *error)
{
    hdst_view sizes = hdst_result_field(r, "sizes", NULL);
    for (uint32_t j = 0; j < w->k; j++) w->sizes[j] = (uint64_t)hdst_view_int64(sizes, j, 0);
    uint64_t n = (uint64_t)hdst_view_int64(hdst_result_field(r, "without", NULL), 0, 0);
    uint64_t first = (uint64_t)hdst_view_int64(hdst_result_field(r, "first_without", NULL), 0, 0);
    w->without = n;
    if (n == 0 || w->lines) return HDST_OK;
    return program_fail(error, HDST_E_RECORD, first, "such a point has no nearest center: remove or mend it",
                        "%" PRIu64 " point%s not finite, or too far out for float32; "
                        "the first is record %" PRIu64 " (counted from 0)",
                        n, n == 1 ? " is" : "s are", first);
}

static hdst_dataset *labels_of_points(program_run *run, job *w)
{
    hdst_map_spec *classify = hdst_map_spec_create(w->module, "classify");
    hdst_bind_value(classify, "c", w->value);
    hdst_dataset *points = hdst_with_layout(hdst_read(run->source, w->module, "point"), program_layout(run, HDST_SOA));
    hdst_dataset *labels = hdst_map(points, classify);
    hdst_map_spec_destroy(classify);
    return labels;
}

static hdst_result *plan(program_run *run, job *w)
{
    hdst_map_spec *count = hdst_map_spec_create(w->lines ? w->reviewed.module : w->module, w->common.output ? "count_and_keep" : "count");
    hdst_bind_accum(count, "sizes", w->k);
    hdst_result *r = hdst_result_create(hdst_map(w->lines ? reviewed_labels(&w->reviewed, run) : labels_of_points(run, w), count));
    hdst_map_spec_destroy(count);
    return r;
}

static void write_json(json *j, const void *user)
{
    const job *w = user;
    json_open(j, "sizes", '[');
    for (uint32_t i = 0; i < w->k; i++) json_uint(j, NULL, w->sizes[i]);
    json_close(j, ']');
    if (w->lines) json_uint(j, "without", w->without);
}

static void write_text(FILE *out, const void *user)
{
    const job *w = user;
    fprintf(out, "%8s %12s\n", "class", "points");
    for (uint32_t i = 0; i < w->k; i++) fprintf(out, "%8" PRIu32 " %12" PRIu64 "\n", i, w->sizes[i]);
    if (w->lines) fprintf(out, "%8s %12" PRIu64 "\n", "none", w->without);
}

static hdst_status classify(program_run *run, job *w, hdst_error *error)
{
    w->sizes = calloc(w->k, sizeof *w->sizes);
    if (!w->sizes) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the sizes");
    hdst_result *r = plan(run, w);
    hdst_status status = program_run_result(run, r, NULL, error);
    if (status == HDST_OK && w->lines) status = program_rows(run, &w->points, error);       // the run has counted them
    if (status == HDST_OK) status = read_sizes(w, r, error);
    if (status == HDST_OK && w->common.output) status = hdst_view_save(hdst_result_field(r, NULL, "class"), w->common.output, error);
    if (status == HDST_OK) status = program_show(run, w->points, write_json, write_text, w, error);
    hdst_result_destroy(r);
    return status;
}

static hdst_status open_lines(program_run *run, job *w, hdst_error *error)
{
    hdst_status status = reviewed_open(&w->reviewed, run, w->file, error);
    w->k = w->reviewed.k;
    return status;
}

static hdst_status open_points(program_run *run, job *w, hdst_error *error)
{
    w->d = hdst_source_columns(run->source);
    hdst_status status = program_load(run, "classification.hk", HDST_PARAM("D", w->d), &w->module, error);
    if (status == HDST_OK) status = centers_read(run->context, w->module, w->file, w->d, &w->k, &w->centers, error);
    if (status == HDST_OK) status = program_records(run, w->module, "point", &w->points, error);
    if (status != HDST_OK) return status;
    w->value = hdst_value_create(w->module, "center", w->k);
    hdst_value_set(w->value, w->centers, w->k);
    return HDST_OK;
}

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    job *w = settings;
    hdst_status status = (w->lines ? open_lines : open_points)(run, w, error);
    if (status == HDST_OK) status = classify(run, w, error);
    hdst_value_destroy(w->value);
    reviewed_close(&w->reviewed);
    hdst_module_destroy(w->module);
    free(w->centers);
    free(w->sizes);
    return status;
}

int main(int argc, char **argv)
{
    job w = {0};
    const option own[] = {{"centers", OPTION_TEXT, &w.file, "FILE", "the centers, a row each: a .npy or .csv file; or a line each", true},
                          OPTION_LINES(w.lines, "points and centers are lines of reviews: movie: user_rating,user_rating,...")};
    const program_info program = {"classification",
                                  "Puts each point into the class whose center is nearest. Writes the size of each class to standard output,\n"
                                  "and with --output the class of each point as int32 numbers in a .npy file.",
                                  own, sizeof own / sizeof *own};
    const program_steps steps = {.lines_wanted = &w.lines, .check = check, .work = work};
    return program_main(&program, &w.common, &steps, &w, argc, argv);
}
