// SPDX-License-Identifier: Apache-2.0
// The logistic-regression program: the command line around logistic.h.
#include "logistic.h"

#include "report.h"
#include "target.h"

#include <inttypes.h>

typedef struct settings {
    const char *target;
    uint64_t iterations;
    double tolerance;
} settings;

typedef struct answer {
    const logistic *job;
    const hdst_source *source;
} answer;

static hdst_status check(void *from, hdst_error *error) { return target_is_given(((const settings *)from)->target, error); }

static void write_members(json *j, const void *from)
{
    const logistic *job = ((const answer *)from)->job;
    json_open(j, "coefficients", '[');
    for (uint32_t i = 0; i <= job->d; i++) json_double(j, NULL, job->coefficients[i]);
    json_close(j, ']');
    json_double(j, "log_likelihood", job->log_likelihood);
    json_double(j, "accuracy", job->accuracy);
    json_uint(j, "iterations", job->iterations);
}

static void write_table(FILE *out, const void *from)
{
    const answer *a = from;
    const logistic *job = a->job;
    char text[32], other[32];
    fprintf(out, "%24s  intercept\n", shortest_double(job->coefficients[0], text));
    for (uint32_t i = 0; i < job->d; i++) {
        const char *name = hdst_source_column_name(a->source, i);
        fprintf(out, "%24s  ", shortest_double(job->coefficients[i + 1], text));
        if (name) fprintf(out, "%s\n", name);
        else fprintf(out, "predictor %" PRIu32 "\n", i);
    }
    fprintf(out, "log likelihood %s, accuracy %s after %" PRIu32 " iteration%s over %" PRIu64 " rows\n", shortest_double(job->log_likelihood, text),
            shortest_double(job->accuracy, other), job->iterations, job->iterations == 1 ? "" : "s", job->rows);
}

static hdst_status write_predicted(logistic *job, program_run *run, hdst_error *error)
{
    hdst_result *predicted;
    hdst_status status = logistic_predict(job, run, &predicted, error);
    if (status == HDST_OK) status = hdst_view_save(hdst_result_field(predicted, NULL, NULL), run->common->output, error);
    hdst_result_destroy(predicted);
    return status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    const settings *s = from;
    logistic job = {0};
    hdst_status status = target_open(run, s->target, error);
    if (status == HDST_OK) status = logistic_open(&job, run, error);
    if (status == HDST_OK) status = logistic_run(&job, run, (uint32_t)s->iterations, s->tolerance, error);
    if (status == HDST_OK && !job.settled && !run->common->quiet)
        report_log(HDST_LOG_WARN,
                   "the coefficients still changed at the last iteration: allow more, unless the classes can be told apart without an error",
                   (void *)run->info->name);
    if (status == HDST_OK && run->common->output) status = write_predicted(&job, run, error);
    if (status == HDST_OK) status = program_show(run, job.rows, write_members, write_table, &(answer){&job, run->source}, error);
    logistic_close(&job);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.iterations = 25, .tolerance = 1e-8};
    common_options common;
    const option own[] = {
        {"target", OPTION_TEXT, &s.target, "COLUMN", "the class to predict, 0 or 1, by name or index; other chosen ones are predictors", true},
        {"iterations", OPTION_COUNT, &s.iterations, "N", "steps at most (25)", true, NULL, 0, UINT32_MAX},
        {"tolerance", OPTION_NUMBER, &s.tolerance, "T", "ends when no coefficient, of predictors scaled to variance 1, changes by more (1e-8)", true},
    };
    const program_info info = {"logistic-regression",
                               "Fits the probability of a class by logistic regression, with Newton's method. Writes its coefficients to standard\n"
                               "output, and with --output the probability of class 1 for each row as float64 numbers in a .npy file.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    return program_main(&info, &common, &steps, &s, argc, argv);
}
