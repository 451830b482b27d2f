// SPDX-License-Identifier: Apache-2.0
// Logistic regression on hdst, without the command line (logistic.h).
#include "logistic.h"

#include "normal.h"
#include "numbers.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PREDICTORS = 64 };

hdst_status logistic_open(logistic *job, program_run *run, hdst_error *error)
{
    *job = (logistic){.d = hdst_source_columns(run->source) - 1};
    if (job->d > MOST_PREDICTORS)
        return program_fail(error, HDST_E_USAGE, 0, "choose fewer with --columns", "%" PRIu32 " predictors; there may be %d", job->d, MOST_PREDICTORS);
    hdst_status status = program_load(run, "logistic-regression.hk", HDST_PARAM("D", job->d), &job->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *rows = hdst_read(run->source, job->module, "row");
    status = hdst_count(rows, &job->rows, error);       // less those that --on-error skip leaves out
    if (status != HDST_OK) return status;
    if (job->rows <= job->d)
        return program_fail(error, HDST_E_USAGE, 0, "there must be at least as many rows as coefficients",
                            "%" PRIu64 " rows for %" PRIu32 " coefficients", job->rows, job->d + 1);
    job->data = hdst_cache(hdst_with_layout(rows, program_layout(run, HDST_SOA)));
    job->scaling_value = hdst_value_create(job->module, "scaling", 1);
    job->model_value = hdst_value_create(job->module, "model", 1);
    uint32_t n = job->d + 1;
    job->coefficients = calloc(n, sizeof(double));
    job->mean_factor = calloc(2 * n, sizeof(double));
    job->model = calloc(n, sizeof(double));
    job->gradient = calloc(n, sizeof(double));
    job->information = calloc((size_t)n * n, sizeof(double));
    bool enough = job->coefficients && job->mean_factor && job->model && job->gradient && job->information;
    return enough ? HDST_OK : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory");
}

void logistic_close(logistic *job)
{
    hdst_value_destroy(job->scaling_value);
    hdst_value_destroy(job->model_value);
    hdst_module_destroy(job->module);
    free(job->coefficients);
    free(job->mean_factor);
    free(job->model);
    free(job->gradient);
    free(job->information);
    *job = (logistic){0};
}

// --- Before the first step ---

static hdst_status check_rows(logistic *job, program_run *run, hdst_error *error)
{
    hdst_result *result = hdst_result_create(hdst_map_function(job->data, job->module, "find_unusable"));
    hdst_status status = program_run_result(run, result, NULL, error);
    uint64_t n = 0, first = 0;
    if (status == HDST_OK) {
        n = (uint64_t)hdst_view_int64(hdst_result_field(result, "n", NULL), 0, 0);
        first = (uint64_t)hdst_view_int64(hdst_result_field(result, "first", NULL), 0, 0);
    }
    hdst_result_destroy(result);
    if (status != HDST_OK || n == 0) return status;
    return program_fail(error, HDST_E_RECORD, first, "the target must be 0 or 1, and predictors finite numbers",
                        "%" PRIu64 " row%s not finite or of another class than 0 and 1; the first is record %" PRIu64 " (counted from 0)",
                        n, n == 1 ? " is" : "s are", first);
}

static hdst_status depends(const program_run *run, uint32_t predictor, hdst_error *error)
{
    const char *name = hdst_source_column_name(run->source, predictor);
    char number[32];
    snprintf(number, sizeof number, "%" PRIu32, predictor);
    return program_fail(error, HDST_E_USAGE, 0, "leave it out with --columns", "predictor '%.100s' is a constant, or follows from those before it",
                        name ? name : number);
}

// Mean and 1 / deviation of each predictor. They only keep Newton's equations well-conditioned, so that they need not be exact.
static hdst_status find_scaling(logistic *job, program_run *run, hdst_error *error)
{
    hdst_result *result = hdst_result_create(hdst_map_function(job->data, job->module, "sum_moments"));
    hdst_status status = program_run_result(run, result, NULL, error);
    double *mean = job->mean_factor, *factor = mean + job->d, n = (double)job->rows;
    if (status == HDST_OK) {
        numbers_copy(result, "t", "x", mean, job->d);
        numbers_copy(result, "t", "square", factor, job->d);
    }
    hdst_result_destroy(result);
    if (status == HDST_OK && (!numbers_finite(mean, job->d) || !numbers_finite(factor, job->d)))
        return program_fail(error, HDST_E_RECORD, 0, "scale the columns down", "sums of squares are beyond the range of double");
    for (uint32_t i = 0; i < job->d && status == HDST_OK; i++) {
        mean[i] /= n;
        double variance = factor[i] / n - mean[i] * mean[i];
        if (!(variance > 1e-15 * mean[i] * mean[i])) return depends(run, i, error);
        factor[i] = 1 / sqrt(variance);
    }
    hdst_value_set(job->scaling_value, job->mean_factor, 1);
    return status;
}

// --- Newton's steps ---

static hdst_status measure(logistic *job, program_run *run, hdst_result *result, hdst_error *error)
{
    if (signals_stop) return program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
    hdst_value_set(job->model_value, job->model, 1);
    hdst_status status = program_run_result(run, result, &job->explained, error);
    if (status != HDST_OK) return status;
    numbers_copy(result, "c", "gradient", job->gradient, job->d + 1);
    numbers_copy(result, "c", "information", job->information, (job->d + 1) * (job->d + 2) / 2);
    numbers_copy(result, "c", "log_likelihood", &job->log_likelihood, 1);
    job->accuracy = (double)hdst_view_int64(hdst_result_field(result, "c", "right"), 0, 0) / (double)job->rows;
    return HDST_OK;
}

// The step that Newton's equations give, in place of the gradient. Returns its largest element.
static hdst_status find_step(logistic *job, program_run *run, double *largest, hdst_error *error)
{
    uint32_t column;
    if (!normal_factor(job->information, job->d + 1, &column)) {
        if (job->log_likelihood > -1e-6 * (double)job->rows)
            return program_fail(error, HDST_E_USAGE, 0, "the likelihood has no maximum then: leave out the predictors that tell them apart",
                                "the classes are separated without an error");
        return depends(run, column ? column - 1 : 0, error);
    }
    normal_solve(job->information, job->d + 1, job->gradient);
    *largest = 0;
    for (uint32_t i = 0; i <= job->d; i++) if (fabs(job->gradient[i]) > *largest) *largest = fabs(job->gradient[i]);
    return HDST_OK;
}

static hdst_status iterate(logistic *job, program_run *run, uint32_t most, double tolerance, hdst_result *result, double *from, double *step, hdst_error *error)
{
    double best = -INFINITY, largest = INFINITY;
    for (job->iterations = 0;; job->iterations++) {
        hdst_status status = measure(job, run, result, error);
        if (status != HDST_OK) return status;
        bool lower = job->log_likelihood < best - 1e-12 * fabs(best);
        job->settled = !lower && largest <= tolerance;
        if (job->settled || job->iterations == most) return HDST_OK;
        if (!lower) {
            best = job->log_likelihood;
            status = find_step(job, run, &largest, error);
            if (status != HDST_OK) return status;
            memcpy(from, job->model, (job->d + 1) * sizeof *from);
            memcpy(step, job->gradient, (job->d + 1) * sizeof *step);
        }
        for (uint32_t i = 0; i <= job->d; i++) {
            if (lower) step[i] /= 2;
            job->model[i] = from[i] + step[i];
        }
    }
}

hdst_status logistic_run(logistic *job, program_run *run, uint32_t most, double tolerance, hdst_error *error)
{
    hdst_status status = check_rows(job, run, error);
    if (status == HDST_OK) status = find_scaling(job, run, error);
    if (status != HDST_OK) return status;
    hdst_map_spec *spec = hdst_map_spec_create(job->module, "measure");
    hdst_bind_value(spec, "s", job->scaling_value);
    hdst_bind_value(spec, "m", job->model_value);
    hdst_result *result = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    double *from = calloc(2 * (job->d + 1), sizeof *from);
    if (from) status = iterate(job, run, most, tolerance, result, from, from + job->d + 1, error);
    else status = program_fail(error, HDST_E_MEMORY, 0, "", "out of memory");
    free(from);
    hdst_result_destroy(result);
    job->coefficients[0] = job->model[0];
    for (uint32_t i = 0; i < job->d; i++) {
        job->coefficients[i + 1] = job->model[i + 1] * job->mean_factor[job->d + i];
        job->coefficients[0] -= job->coefficients[i + 1] * job->mean_factor[i];
    }
    return status;
}

hdst_status logistic_predict(logistic *job, program_run *run, hdst_result **predicted, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, "predict");
    hdst_bind_value(spec, "s", job->scaling_value);
    hdst_bind_value(spec, "m", job->model_value);
    hdst_value_set(job->model_value, job->model, 1);
    *predicted = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    return program_run_result(run, *predicted, NULL, error);
}
