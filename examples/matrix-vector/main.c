// SPDX-License-Identifier: Apache-2.0
// Iterated matrix-vector multiplication: x becomes A x / |A x|, again and again (the power method: Golub and Van Loan, "Matrix Computations", 4th ed., 7.3.1).
#include "program.h"
#include "turns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct job {
    common_options common;
    uint64_t most;
    double tolerance;           // negative: all steps are made
    uint32_t d;
    double norm;                // of A x, in the last step
    uint64_t iterations;
    hdst_module *module;
    hdst_value *vector, *product, *squares;
} job;

// --- The plan ---

// A x, row by row, and the square of its length.
static hdst_dataset *product(program_run *run, const job *w)
{
    hdst_map_spec *multiply = hdst_map_spec_create(w->module, "multiply");
    hdst_bind_value(multiply, "v", w->vector);
    hdst_dataset *rows = hdst_cache(hdst_with_layout(hdst_read(run->source, w->module, "row"), program_layout(run, HDST_AOS)));
    hdst_dataset *y = hdst_map(rows, multiply);
    hdst_map_spec_destroy(multiply);
    return y;
}

static hdst_dataset *next_vector(const job *w)
{
    hdst_map_spec *normalise = hdst_map_spec_create(w->module, "normalise");
    hdst_bind_value(normalise, "squares", w->squares);
    hdst_bind_value(normalise, "v", w->vector);
    hdst_dataset *x = hdst_map(hdst_read_value(w->product), normalise);
    hdst_map_spec_destroy(normalise);
    return x;
}

// The numbers that a step leaves, one record each, are the one record that the next one reads.
static hdst_dataset *all_steps(program_run *run, const job *w, hdst_dataset *start)
{
    hdst_dataset *y = product(run, w);
    const hdst_loop_step steps[] = {{.dataset = y, .value = w->product},
                                    {.dataset = y, .table = "squares", .value = w->squares},
                                    {.dataset = next_vector(w), .value = w->vector}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = w->most;
    options.until = "moved";
    options.threshold = w->tolerance < 0 ? -INFINITY : w->tolerance;        // a product without a direction has moved by minus infinity
    return hdst_loop(start, w->vector, steps, 3, &options);
}

// --- What came out ---

static hdst_status read_norm(program_run *run, job *w, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_read_value(w->squares));
    bool explained = true;
    hdst_status status = program_run_result(run, r, &explained, error);
    if (status == HDST_OK) w->norm = sqrt(hdst_view_double(hdst_result_field(r, NULL, NULL), 0, 0));
    hdst_result_destroy(r);
    if (status != HDST_OK) return status;
    w->iterations = turns_count(run->loop);
    if (!isfinite(w->norm))
        return program_fail(error, HDST_E_RECORD, 0, "the matrix has a NaN or an infinity, or numbers too large for float32: mend it or scale it down",
                            "the product of step %" PRIu64 " is not finite", w->iterations);
    if (w->norm == 0)
        return program_fail(error, HDST_E_RECORD, 0, "no direction is left to go on from", "the product of step %" PRIu64 " is zero", w->iterations);
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

static hdst_status iterate(program_run *run, job *w, hdst_dataset *start, hdst_error *error)
{
    hdst_dataset *loop = all_steps(run, w, start);
    run->loop = loop;
    run->decides = "moved";
    hdst_result *r = hdst_result_create(loop);
    hdst_status status = program_run_result(run, r, NULL, error);
    if (status == HDST_OK) status = read_norm(run, w, error);
    hdst_view x = {.base = hdst_result_rows(r, NULL, NULL), .stride = sizeof(float), .rows = w->d, .elements = 1, .type = HDST_FLOAT32};
    if (status == HDST_OK && !x.base) status = hdst_result_status(r, error);
    if (status == HDST_OK && w->common.output) status = hdst_view_save(x, w->common.output, error);
    if (status == HDST_OK) status = program_show(run, w->d, write_json, write_text, w, error);
    hdst_result_destroy(r);
    return status;
}

// From the vector whose coordinates are equal.
static hdst_status begin(program_run *run, job *w, hdst_error *error)
{
    float *x = malloc(w->d * sizeof *x);
    if (!x) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the vector");
    for (uint32_t i = 0; i < w->d; i++) x[i] = (float)(1 / sqrt(w->d));
    w->vector = hdst_value_create(w->module, "vector", 1);
    w->product = hdst_value_create(w->module, "float", 1);
    w->squares = hdst_value_create(w->module, "double", 1);
    hdst_source *start = hdst_source_from_memory(run->context, x, 1, w->d * sizeof *x);
    const hdst_status status = iterate(run, w, hdst_read(start, w->module, "vector"), error);
    hdst_source_destroy(start);
    hdst_value_destroy(w->vector);
    hdst_value_destroy(w->product);
    hdst_value_destroy(w->squares);
    free(x);
    return status;
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
    if (status == HDST_OK) status = begin(run, w, error);
    hdst_module_destroy(w->module);
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
