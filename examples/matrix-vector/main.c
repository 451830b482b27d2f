// SPDX-License-Identifier: Apache-2.0
// Iterated matrix-vector multiplication: x becomes A x / |A x|, again and again (the power method: Golub and Van Loan, "Matrix Computations", 4th ed., 7.3.1).
#include "program.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct job {
    common_options common;
    uint64_t most;
    double tolerance;           // negative: all steps are made
    uint32_t d;
    float *x;                   // of length 1
    double norm;                // of A x, in the last step
    uint64_t iterations;
    hdst_module *module;
    hdst_value *value;
} job;

static hdst_result *plan(program_run *run, job *w)
{
    hdst_map_spec *multiply = hdst_map_spec_create(w->module, "multiply");
    hdst_bind_value(multiply, "v", w->value);
    hdst_dataset *rows = hdst_cache(hdst_with_layout(hdst_read(run->source, w->module, "row"), program_layout(run, HDST_AOS)));
    hdst_result *r = hdst_result_create(hdst_map(rows, multiply));
    hdst_map_spec_destroy(multiply);
    return r;
}

// x = y / |y|, in double, rounded once. Returns the longest way that a coordinate went.
static double normalise(job *w, const float *y)
{
    double longest = 0;
    for (uint32_t i = 0; i < w->d; i++) {
        float next = (float)(y[i] / w->norm);
        longest = fmax(longest, fabs((double)next - w->x[i]));
        w->x[i] = next;
    }
    return longest;
}

static hdst_status step(program_run *run, job *w, hdst_result *r, bool *explained, double *moved, hdst_error *error)
{
    hdst_value_set(w->value, w->x, 1);
    hdst_status status = program_run_result(run, r, explained, error);
    if (status != HDST_OK) return status;
    const float *y = hdst_result_rows(r, NULL, NULL);
    if (!y) return hdst_result_status(r, error);
    w->norm = sqrt(hdst_view_double(hdst_result_field(r, "squares", NULL), 0, 0));
    w->iterations++;
    if (!isfinite(w->norm))
        return program_fail(error, HDST_E_RECORD, 0, "the matrix has a NaN or an infinity, or numbers too large for float32: mend it or scale it down",
                            "the product of step %" PRIu64 " is not finite", w->iterations);
    if (w->norm == 0)
        return program_fail(error, HDST_E_RECORD, 0, "no direction is left to go on from", "the product of step %" PRIu64 " is zero", w->iterations);
    *moved = normalise(w, y);
    return HDST_OK;
}

static void write_json(json *j, const void *user)
{
    const job *w = user;
    json_double(j, "norm", w->norm);
    json_uint(j, "iterations", w->iterations);
}

static void write_text(FILE *out, const void *user)
{
    const job *w = user;
    char text[32];
    fprintf(out, "norm %s after %" PRIu64 " iteration%s with a matrix of %" PRIu32 " rows\n", shortest_double(w->norm, text), w->iterations,
            w->iterations == 1 ? "" : "s", w->d);
}

static hdst_status iterate(program_run *run, job *w, hdst_result *r, hdst_error *error)
{
    hdst_status status = HDST_OK;
    bool explained = false;
    double moved = INFINITY;
    while (status == HDST_OK && w->iterations < w->most && moved > w->tolerance)
        status = signals_stop ? program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted") : step(run, w, r, &explained, &moved, error);
    hdst_view x = {.base = w->x, .stride = sizeof *w->x, .rows = w->d, .elements = 1, .type = HDST_FLOAT32};
    if (status == HDST_OK && w->common.output) status = hdst_view_save(x, w->common.output, error);
    return status == HDST_OK ? program_show(run, w->d, write_json, write_text, w, error) : status;
}

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    job *w = settings;
    w->d = hdst_source_columns(run->source);
    uint64_t rows;
    hdst_status status = program_load(run, "matrix-vector.hk", HDST_PARAM("D", w->d), &w->module, error);
    if (status == HDST_OK) status = program_records(run, w->module, "row", &rows, error);
    if (status == HDST_OK && rows != w->d)
        status = program_fail(error, HDST_E_USAGE, 0, "the matrix must be square: as many rows as columns",
                              "a matrix of %" PRIu64 " rows and %" PRIu32 " columns", rows, w->d);
    w->x = malloc(w->d * sizeof *w->x);
    if (status == HDST_OK && !w->x) status = program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the vector");
    if (status == HDST_OK) {
        for (uint32_t i = 0; i < w->d; i++) w->x[i] = (float)(1 / sqrt(w->d));
        w->value = hdst_value_create(w->module, "vector", 1);
        hdst_result *r = plan(run, w);
        status = iterate(run, w, r, error);
        hdst_result_destroy(r);
    }
    hdst_value_destroy(w->value);
    hdst_module_destroy(w->module);
    free(w->x);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.most = 100, .tolerance = -1};
    const option own[] = {
        {"iterations", OPTION_COUNT, &w.most, "N", "steps (100)", true, NULL, 1, UINT32_MAX},
        {"tolerance", OPTION_NUMBER, &w.tolerance, "T", "ends earlier, when no coordinate moves further than this in a step", true},
    };
    const program_info program = {"matrix-vector",
                                  "Multiplies a square matrix with a vector again and again: x becomes A x / |A x|. Writes |A x| of the last step to standard\n"
                                  "output, and with --output the vector as float32 numbers in a .npy file.",
                                  own, sizeof own / sizeof *own};
    const program_steps steps = {.work = work};
    return program_main(&program, &w.common, &steps, &w, argc, argv);
}
