// SPDX-License-Identifier: Apache-2.0
// Logistic regression on hdst, without the command line (logistic.h).
#include "logistic.h"

#include "numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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
    job->scaling = hdst_value_create(job->module, "scaling", 1);
    job->newton = hdst_value_create(job->module, "newton", 1);
    job->curvature = hdst_value_create(job->module, "curvature", 1);
    job->ending = hdst_value_create(job->module, "ending", 1);
    job->coefficients = calloc(job->d + 1, sizeof(double));
    job->mean_factor = calloc(2 * job->d + 1, sizeof(double));
    return job->coefficients && job->mean_factor ? HDST_OK : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory");
}

void logistic_close(logistic *job)
{
    hdst_value_destroy(job->scaling);
    hdst_value_destroy(job->newton);
    hdst_value_destroy(job->curvature);
    hdst_value_destroy(job->ending);
    hdst_module_destroy(job->module);
    free(job->coefficients);
    free(job->mean_factor);
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
    hdst_value_set(job->scaling, job->mean_factor, 1);
    return status;
}

// --- Newton's steps ---

static hdst_dataset *with_model(const logistic *job, const char *function)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, function);
    hdst_bind_value(spec, "s", job->scaling);
    hdst_bind_value(spec, "m", job->newton);
    hdst_dataset *dataset = hdst_map(job->data, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

// Each measures a model and goes on to the next one, but for the last, which measures what the last step came to.
static hdst_dataset *all_turns(logistic *job, hdst_source *start, uint32_t most, double tolerance)
{
    const struct { double tolerance; uint64_t most; } ending = {tolerance, most};
    hdst_value_set(job->ending, &ending, 1);
    hdst_map_spec *advance = hdst_map_spec_create(job->module, "advance");
    hdst_bind_value(advance, "m", job->newton);
    hdst_bind_value(advance, "e", job->ending);
    const hdst_loop_step steps[] = {{.dataset = with_model(job, "measure"), .table = "c", .value = job->curvature},
                                    {.dataset = hdst_map(hdst_read_value(job->curvature), advance), .value = job->newton}};
    hdst_map_spec_destroy(advance);
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = (uint64_t)most + 1;
    options.until = "changed";
    options.threshold = tolerance;
    options.quiet = 1;          // the program has words of its own (main.c)
    return hdst_loop(hdst_read(start, job->module, "newton"), job->newton, steps, 2, &options);
}

static hdst_status read_measured(logistic *job, program_run *run, hdst_error *error)
{
    hdst_result *result = hdst_result_create(hdst_read_value(job->curvature));
    const hdst_status status = program_run_result(run, result, &(bool){true}, error);
    if (status == HDST_OK) {
        numbers_copy(result, NULL, "log_likelihood", &job->log_likelihood, 1);
        job->accuracy = (double)hdst_view_int64(hdst_result_field(result, NULL, "right"), 0, 0) / (double)job->rows;
    }
    hdst_result_destroy(result);
    return status;
}

static hdst_status take_model(logistic *job, program_run *run, hdst_result *newton, hdst_error *error)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    hdst_status status = hdst_loop_read_report(job->loop, &report, error);
    const uint32_t bad = (uint32_t)hdst_view_int64(hdst_result_field(newton, NULL, "bad"), 0, 0);
    job->iterations = (uint32_t)hdst_view_int64(hdst_result_field(newton, NULL, "steps"), 0, 0);
    job->settled = report.converged;
    numbers_copy(newton, NULL, "b", job->coefficients, job->d + 1);
    if (status == HDST_OK) status = read_measured(job, run, error);
    if (status != HDST_OK || bad == 0) return status;
    if (job->log_likelihood > -1e-6 * (double)job->rows)
        return program_fail(error, HDST_E_USAGE, 0, "the likelihood has no maximum then: leave out the predictors that tell them apart",
                            "the classes are separated without an error");
    return depends(run, bad > 1 ? bad - 2 : 0, error);
}

static hdst_status iterate(logistic *job, program_run *run, uint32_t most, double tolerance, hdst_error *error)
{
    const uint32_t n = job->d + 1;
    const size_t bytes = (3 * n + 3) * sizeof(double);
    double *newton = calloc(1, bytes);          // all coefficients 0
    if (!newton) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory");
    newton[3 * n] = INFINITY;
    newton[3 * n + 1] = -INFINITY;
    hdst_source *start = hdst_source_from_memory(run->context, newton, 1, bytes);
    run->loop = job->loop = all_turns(job, start, most, tolerance);
    run->decides = "changed";
    hdst_result *result = hdst_result_create(job->loop);
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) status = take_model(job, run, result, error);
    hdst_result_destroy(result);
    hdst_source_destroy(start);
    free(newton);
    return status;
}

hdst_status logistic_run(logistic *job, program_run *run, uint32_t most, double tolerance, hdst_error *error)
{
    hdst_status status = check_rows(job, run, error);
    if (status == HDST_OK) status = find_scaling(job, run, error);
    if (status == HDST_OK) status = iterate(job, run, most, tolerance, error);
    if (status != HDST_OK) return status;
    for (uint32_t i = 0; i < job->d; i++) {
        job->coefficients[i + 1] *= job->mean_factor[job->d + i];
        job->coefficients[0] -= job->coefficients[i + 1] * job->mean_factor[i];
    }
    return HDST_OK;
}

hdst_status logistic_predict(logistic *job, program_run *run, hdst_result **predicted, hdst_error *error)
{
    *predicted = hdst_result_create(with_model(job, "predict"));
    return program_run_result(run, *predicted, NULL, error);
}
