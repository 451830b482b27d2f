// SPDX-License-Identifier: Apache-2.0
// The linear-regression program: the command line around regression.h.
#include "regression.h"

#include "report.h"
#include "target.h"

#include <inttypes.h>

typedef struct settings {
    const char *target;
    uint64_t degree;
    bool no_intercept;
} settings;

typedef struct answer {
    const regression *job;
    const hdst_source *source;
} answer;

static hdst_status check(void *from, hdst_error *error) { return target_is_given(((const settings *)from)->target, error); }

static void write_members(json *j, const void *from)
{
    const regression *job = ((const answer *)from)->job;
    json_open(j, "coefficients", '[');
    for (uint32_t i = job->intercept ? 0 : 1; i <= job->terms; i++) json_double(j, NULL, job->model[i]);
    json_close(j, ']');
    json_double(j, "r2", job->r2);
}

static void write_table(FILE *out, const void *from)
{
    const answer *a = from;
    const regression *job = a->job;
    char text[32];
    if (job->intercept) fprintf(out, "%24s  intercept\n", shortest_double(job->model[0], text));
    for (uint32_t i = 0; i < job->terms; i++) {
        uint32_t power = i % job->degree + 1;
        const char *name = hdst_source_column_name(a->source, i / job->degree);
        fprintf(out, "%24s  ", shortest_double(job->model[i + 1], text));
        if (name) fprintf(out, "%s", name);
        else fprintf(out, "predictor %" PRIu32, i / job->degree);
        if (power > 1) fprintf(out, "^%" PRIu32, power);
        fputc('\n', out);
    }
    fprintf(out, "R2 %s over %" PRIu64 " rows\n", shortest_double(job->r2, text), job->rows);
}

static hdst_status write_fit(regression *job, program_run *run, hdst_error *error)
{
    hdst_result *fit;
    hdst_status status = regression_fit(job, run, &fit, error);
    if (status == HDST_OK) status = hdst_view_save(hdst_result_field(fit, NULL, NULL), run->common->output, error);
    hdst_result_destroy(fit);
    return status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    const settings *s = from;
    regression job = {0};
    hdst_status status = target_open(run, s->target, error);
    if (status == HDST_OK) status = regression_open(&job, run, (uint32_t)s->degree, !s->no_intercept, error);
    if (status == HDST_OK) status = regression_run(&job, run, error);
    if (status == HDST_OK && run->common->output) status = write_fit(&job, run, error);
    if (status == HDST_OK) status = program_show(run, job.rows, write_members, write_table, &(answer){&job, run->source}, error);
    regression_close(&job);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.degree = 1};
    common_options common;
    const option own[] = {
        {"target", OPTION_TEXT, &s.target, "COLUMN", "the column to predict, by name or index; the other chosen ones are predictors", true},
        {"degree", OPTION_COUNT, &s.degree, "K", "powers of each predictor up to this one (1)", true, NULL, 1, 64},
        {"no-intercept", OPTION_FLAG, &s.no_intercept, NULL, "no constant: the model goes through the origin", true},
    };
    const program_info info = {"linear-regression", "Fits a linear model by least squares. Writes its coefficients to standard output,\n"
        "and with --output the model's value for each row as float64 numbers in a .npy file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    return program_main(&info, &common, &steps, &s, argc, argv);
}
