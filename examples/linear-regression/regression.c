// SPDX-License-Identifier: Apache-2.0
// Linear least squares on hdst, without the command line (regression.h).
#include "regression.h"

#include "normal.h"
#include "numbers.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TERMS = 64, MOST_PASSES = 30 };

hdst_status regression_open(regression *job, program_run *run, uint32_t degree, bool intercept, hdst_error *error)
{
    *job = (regression){.d = hdst_source_columns(run->source) - 1, .degree = degree, .intercept = intercept};
    if ((uint64_t)job->d * degree > MOST_TERMS)
        return program_fail(error, HDST_E_USAGE, 0, "choose fewer with --columns, or a lower --degree",
                            "%" PRIu64 " terms; there may be %d", (uint64_t)job->d * degree, MOST_TERMS);
    job->terms = job->d * degree;
    const hdst_param params[] = {{"D", job->d}, {"K", degree}};
    hdst_status status = program_load(run, "linear-regression.hk", params, 2, &job->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *rows = hdst_read(run->source, job->module, "row");
    status = hdst_count(rows, &job->rows, error);       // less those that --on-error skip leaves out
    if (status != HDST_OK) return status;
    if (job->rows < job->terms + intercept)
        return program_fail(error, HDST_E_USAGE, 0, "there must be at least as many rows as coefficients", "%" PRIu64 " rows for %" PRIu32 " coefficients",
                            job->rows, job->terms + intercept);
    job->data = hdst_cache(hdst_with_layout(rows, program_layout(run, HDST_SOA)));
    job->model_value = hdst_value_create(job->module, "model", 1);
    uint32_t n = job->terms + 1;
    job->model = calloc(2 * n, sizeof(double));
    job->mean = calloc(n, sizeof(double));
    job->step = calloc(n, sizeof(double));
    job->factor = calloc((size_t)n * n, sizeof(double));
    if (!job->model || !job->mean || !job->step || !job->factor) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory");
    return HDST_OK;
}

void regression_close(regression *job)
{
    hdst_value_destroy(job->model_value);
    hdst_module_destroy(job->module);
    free(job->model);
    free(job->mean);
    free(job->step);
    free(job->factor);
    *job = (regression){0};
}

// --- Passes over the rows ---

// Runs a map, with a value bound to `parameter` unless that is NULL. The caller destroys the result in any case.
static hdst_status pass(regression *job, program_run *run, const char *function, const char *parameter, hdst_value *value, hdst_result **result,
                        hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, function);
    if (parameter) hdst_bind_value(spec, parameter, value);
    *result = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    return program_run_result(run, *result, NULL, error);
}

// Sums that are not finite: because of a row, or because they are too large.
static hdst_status explain_infinity(regression *job, program_run *run, hdst_error *error)
{
    hdst_result *result;
    hdst_status status = pass(job, run, "find_unusable", NULL, NULL, &result, error);
    uint64_t n = 0, first = 0;
    if (status == HDST_OK) {
        n = (uint64_t)hdst_view_int64(hdst_result_field(result, "n", NULL), 0, 0);
        first = (uint64_t)hdst_view_int64(hdst_result_field(result, "first", NULL), 0, 0);
    }
    hdst_result_destroy(result);
    if (status != HDST_OK) return status;
    if (n == 0) return program_fail(error, HDST_E_RECORD, 0, "scale the columns down", "sums of powers or squares are beyond the range of double");
    return program_fail(error, HDST_E_RECORD, first, "remove or mend it", "%" PRIu64 " row%s not finite; the first is record %" PRIu64 " (counted from 0)",
                        n, n == 1 ? " is" : "s are", first);
}

static hdst_status find_means(regression *job, program_run *run, hdst_error *error)
{
    hdst_result *result;
    hdst_status status = pass(job, run, "sum_terms", NULL, NULL, &result, error);
    if (status == HDST_OK) {
        numbers_copy(result, "s", "x", job->mean, job->terms);
        numbers_copy(result, "s", "y", job->mean + job->terms, 1);
    }
    hdst_result_destroy(result);
    if (status == HDST_OK && !numbers_finite(job->mean, job->terms + 1)) status = explain_infinity(job, run, error);
    for (uint32_t i = 0; i <= job->terms; i++) job->mean[i] = job->intercept ? job->mean[i] / (double)job->rows : 0;
    return status;
}

static hdst_status depends(const regression *job, const program_run *run, uint32_t term, hdst_error *error)
{
    const char *name = hdst_source_column_name(run->source, term / job->degree);
    char number[32];
    snprintf(number, sizeof number, "%" PRIu32, term / job->degree);
    return program_fail(error, HDST_E_USAGE, 0, "leave it out with --columns, or take a lower --degree",
                        "power %" PRIu32 " of predictor '%.100s' is a constant, or follows from the terms before it", term % job->degree + 1,
                        name ? name : number);
}

// The factor of the normal equations, and their solution as the first model.
static hdst_status solve_normal_equations(regression *job, program_run *run, hdst_error *error)
{
    uint32_t m = job->terms, column;
    hdst_value *mean = hdst_value_create(job->module, "means", 1);
    hdst_value_set(mean, job->mean, 1);
    hdst_result *result;
    hdst_status status = pass(job, run, "sum_products", "mean", mean, &result, error);
    if (status == HDST_OK) {
        numbers_copy(result, "g", "xx", job->factor, m * (m + 1) / 2);
        numbers_copy(result, "g", "xy", job->model + 1, m);
        numbers_copy(result, "g", "yy", &job->yy, 1);
    }
    hdst_result_destroy(result);
    hdst_value_destroy(mean);
    if (status != HDST_OK) return status;
    if (!numbers_finite(job->factor, m * (m + 1) / 2) || !numbers_finite(job->model + 1, m) || !isfinite(job->yy)) return explain_infinity(job, run, error);
    if (!normal_factor(job->factor, m, &column)) return depends(job, run, column, error);
    normal_solve(job->factor, m, job->model + 1);
    for (uint32_t i = 0; i < m; i++) job->model[0] -= job->mean[i] * job->model[i + 1];
    job->model[0] = job->intercept ? job->model[0] + job->mean[m] : 0;
    return HDST_OK;
}

// --- Refinement ---

// From sums of remainders to a correction of the model, in place: about the means, the intercept is apart from the terms.
static void correct(const regression *job, double *step)
{
    double sum = step[0];
    for (uint32_t i = 0; i < job->terms; i++) step[i + 1] -= job->mean[i] * sum;
    normal_solve(job->factor, job->terms, step + 1);
    step[0] = job->intercept ? sum / (double)job->rows : 0;
    for (uint32_t i = 0; i < job->terms && job->intercept; i++) step[0] -= job->mean[i] * step[i + 1];
}

// Adds the step to coefficients of two doubles each. Returns the largest change beside what it changes.
static double take_step(regression *job)
{
    double largest = 0, *hi = job->model, *lo = job->model + job->terms + 1;
    for (uint32_t i = 0; i <= job->terms; i++) {
        double change = fabs(job->step[i]) / (hi[i] != 0 ? fabs(hi[i]) : 1);
        if (change > largest) largest = change;
        double low = lo[i] + job->step[i], sum = hi[i] + low;     // |hi| > |low| when it matters
        lo[i] = low - (sum - hi[i]);
        hi[i] = sum;
    }
    return largest;
}

static hdst_status refine(regression *job, program_run *run, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, "sum_remainders");
    hdst_bind_value(spec, "b", job->model_value);
    hdst_result *result = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    hdst_status status = HDST_OK;
    double change = INFINITY, before = INFINITY, rr = 0;
    for (uint32_t i = 0; i < MOST_PASSES && change > 0x1p-56 && (i < 4 || change < before / 2) && status == HDST_OK; i++) {
        if (signals_stop) status = program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
        hdst_value_set(job->model_value, job->model, 1);
        if (status == HDST_OK) status = program_run_result(run, result, &job->explained, error);
        if (status != HDST_OK) break;
        numbers_copy(result, "s", "r", job->step, 1);
        numbers_copy(result, "s", "x", job->step + 1, job->terms);
        numbers_copy(result, "s", "rr", &rr, 1);
        if (!numbers_finite(job->step, job->terms + 1) || !isfinite(rr)) status = explain_infinity(job, run, error);
        correct(job, job->step);
        before = change;
        change = take_step(job);
    }
    job->r2 = 1 - rr / job->yy;
    hdst_result_destroy(result);
    return status;
}

hdst_status regression_run(regression *job, program_run *run, hdst_error *error)
{
    hdst_status status = find_means(job, run, error);
    if (status == HDST_OK) status = solve_normal_equations(job, run, error);
    return status == HDST_OK ? refine(job, run, error) : status;
}

hdst_status regression_fit(regression *job, program_run *run, hdst_result **fit, hdst_error *error)
{
    hdst_value_set(job->model_value, job->model, 1);
    return pass(job, run, "fit", "b", job->model_value, fit, error);
}
