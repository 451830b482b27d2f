// SPDX-License-Identifier: Apache-2.0
// KMeans (Lloyd's algorithm) on hdst, without the command line (kmeans.h).
#include "kmeans.h"

#include "centers.h"
#include "first_centers.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 100000, SAMPLE_NUMBERS = 2000000, SAMPLE_PER_CENTER = 20 };     // what k-means++ looks at

static hdst_status fail(hdst_error *error, hdst_status code, const char *message, const char *hint)
{
    *error = (hdst_error)HDST_ERROR_INIT;
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    return code;
}

static hdst_status no_memory(hdst_error *error) { return fail(error, HDST_E_MEMORY, "out of memory", ""); }

static hdst_map_spec *bind_centers(const kmeans *job, const char *function)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, function);
    hdst_bind_value(spec, "c", job->value);
    return spec;
}

hdst_status kmeans_open(kmeans *job, hdst_context *context, hdst_source *source, const char *folder, hdst_layout layout, uint32_t k, hdst_error *error)
{
    char path[4200];
    *job = (kmeans){.k = k, .d = hdst_source_columns(source), .context = context};
    hdst_status status = hdst_source_status(source, error);
    if (status != HDST_OK) return status;
    snprintf(path, sizeof path, "%s/kmeans.hk", folder);
    job->module = hdst_module_load(context, path, HDST_PARAM("D", job->d));
    hdst_dataset *points = hdst_read(source, job->module, "point");
    status = hdst_count(points, &job->points, error);       // less those that --on-error skip leaves out
    if (status != HDST_OK) return status;
    if (k > job->points) {
        char text[128];
        snprintf(text, sizeof text, "%" PRIu32 " clusters of %" PRIu64 " points", k, job->points);
        return fail(error, HDST_E_USAGE, text, "there must be at least as many points as clusters");
    }
    if (job->points > UINT32_MAX) return fail(error, HDST_E_USAGE, "more than 4294967295 points", "the sizes of clusters are 32-bit numbers in kmeans.hk");
    job->data = hdst_cache(hdst_with_layout(points, layout));
    job->value = hdst_value_create(job->module, "center", k);
    hdst_map_spec *spec = bind_centers(job, "assign");
    hdst_bind_accum(spec, "t", k);
    job->assigned = hdst_map(job->data, spec);
    hdst_map_spec_destroy(spec);
    job->totals = hdst_value_create(job->module, "total", k);
    job->inertias = hdst_value_create(job->module, "double", 1);
    job->centers = calloc((size_t)k * job->d, sizeof *job->centers);
    job->sizes = calloc(k, sizeof *job->sizes);
    if (!job->centers || !job->sizes) return no_memory(error);
    return hdst_module_status(job->module, error);
}

void kmeans_close(kmeans *job)
{
    hdst_value_destroy(job->value);
    hdst_value_destroy(job->totals);
    hdst_value_destroy(job->inertias);
    hdst_module_destroy(job->module);
    free(job->centers);
    free(job->sizes);
    *job = (kmeans){0};
}

hdst_status kmeans_check_points(kmeans *job, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(job->data, job->module, "find_unusable"));
    hdst_status status = hdst_run(r, error);
    uint64_t n = 0, first = 0;
    if (status == HDST_OK) {
        n = (uint64_t)hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0);
        first = (uint64_t)hdst_view_int64(hdst_result_field(r, "first", NULL), 0, 0);
    }
    hdst_result_destroy(r);
    if (status != HDST_OK || n == 0) return status;
    char text[160];
    snprintf(text, sizeof text, "%" PRIu64 " point%s not finite (or beyond 1e18); the first is record %" PRIu64 " (counted from 0)",
             n, n == 1 ? " is" : "s are", first);
    fail(error, HDST_E_RECORD, text, "such a point has no nearest center: remove or mend it");
    error->record = first;
    return HDST_E_RECORD;
}

static hdst_status interrupted(hdst_error *error) { return fail(error, HDST_E_CANCELLED, "interrupted", ""); }

// --- First centers ---

static hdst_status take_points(kmeans *job, const uint64_t *records, uint64_t count, float *to, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK;) {
        uint64_t run = 1;       // neighbours are read in one go
        while (i + run < count && records[i + run] == records[i] + run) run++;
        status = hdst_dataset_take(job->data, records[i], run, to + i * job->d, error);
        i += run;
    }
    return status;
}

// Its work is sample * k * d: of wide points fewer are taken, but enough for each center.
static uint64_t sample_size(const kmeans *job)
{
    uint64_t count = SAMPLE_NUMBERS / job->d, least = (uint64_t)SAMPLE_PER_CENTER * job->k;
    if (count < least) count = least;
    if (count > SAMPLE) count = SAMPLE;
    if (count < job->k) count = job->k;
    return count < job->points ? count : job->points;
}

static hdst_status start_from_points(kmeans *job, kmeans_init method, uint64_t seed, const volatile int *stop, hdst_error *error)
{
    uint64_t count = method == KMEANS_PLUS_PLUS ? sample_size(job) : job->k;
    uint64_t *records = malloc(count * sizeof *records);
    float *points = malloc(count * job->d * sizeof *points);
    hdst_status status = records && points ? HDST_OK : no_memory(error);
    if (status == HDST_OK) {
        if (method == KMEANS_FIRST || count == job->points) for (uint64_t i = 0; i < count; i++) records[i] = i;
        else init_sample(job->points, count, seed, records);
        status = take_points(job, records, count, points, error);
    }
    // A center must not start at NaN: then the whole input is looked through, for a message with the first such point.
    for (uint64_t i = 0; i < count * job->d && status == HDST_OK; i++)
        if (!isfinite(points[i])) status = kmeans_check_points(job, error);
    if (status == HDST_OK && method == KMEANS_PLUS_PLUS) {
        int code = init_plus_plus(points, count, job->d, job->k, seed, stop, job->centers);
        status = code == INIT_NO_MEMORY ? no_memory(error) : code == INIT_STOPPED ? interrupted(error) : HDST_OK;
    } else if (status == HDST_OK) {
        memcpy(job->centers, points, (size_t)job->k * job->d * sizeof *points);
    }
    free(records);
    free(points);
    return status;
}

hdst_status kmeans_start(kmeans *job, kmeans_init method, const char *path, uint64_t seed, const volatile int *stop, hdst_error *error)
{
    if (method != KMEANS_FILE) return start_from_points(job, method, seed, stop, error);
    float *centers;
    hdst_status status = centers_read(job->context, job->module, path, job->d, &job->k, &centers, error);
    if (status != HDST_OK) return status;
    free(job->centers);
    job->centers = centers;
    return HDST_OK;
}

// --- Lloyd's steps ---

// Sums, sizes and inertia of the centers that the last run began with. `run` NULL: they are in the values, where a loop left them.
static hdst_status read_sizes(kmeans *job, hdst_result *run, hdst_error *error)
{
    hdst_result *r = run ? run : hdst_result_create(hdst_read_value(job->totals));
    hdst_status status = run ? HDST_OK : hdst_run(r, error);
    const hdst_view n = hdst_result_field(r, run ? "t" : NULL, "n");
    for (uint32_t j = 0; j < job->k && status == HDST_OK; j++) job->sizes[j] = (uint64_t)hdst_view_int64(n, j, 0);
    if (status == HDST_OK && run) job->inertia = hdst_view_double(hdst_result_field(r, "inertia", NULL), 0, 0);
    else if (status == HDST_OK) status = hdst_take(hdst_read_value(job->inertias), 1, &job->inertia, NULL, error);
    if (!run) hdst_result_destroy(r);
    if (status != HDST_OK || isfinite(job->inertia)) return status;
    status = kmeans_check_points(job, error);
    return status != HDST_OK ? status : fail(error, HDST_E_RECORD, "a squared distance is beyond the range of float32", "scale the columns down");
}

static hdst_status run_result(kmeans *job, hdst_result *result, kmeans_explain explain, hdst_error *error)
{
    hdst_status status = explain ? explain(result, error) : HDST_OK;
    if (status == HDST_OK) status = hdst_run(result, error);
    if (status == HDST_OK) report_add(&job->stats, hdst_result_stats(result));
    return status;
}

// Every center goes to the mean of its points, turn after turn.
static hdst_dataset *all_steps(kmeans *job, hdst_source *start, uint32_t most, double tolerance)
{
    hdst_map_spec *move = bind_centers(job, "move_center");
    hdst_bind_value(move, "inertia", job->inertias);
    hdst_dataset *moved = hdst_map(hdst_read_value(job->totals), move);
    hdst_map_spec_destroy(move);
    const hdst_loop_step steps[] = {{.dataset = job->assigned, .table = "t", .value = job->totals},
                                    {.dataset = job->assigned, .table = "inertia", .value = job->inertias},
                                    {.dataset = moved, .value = job->value}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = most;
    options.until = "moved";
    options.threshold = tolerance;
    options.quiet = 1;          // that all steps were made tells `iterations`
    return hdst_loop(hdst_read(start, job->module, "center"), job->value, steps, 3, &options);
}

static hdst_status take_centers(kmeans *job, hdst_result *result, double *moved, hdst_error *error)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    const void *centers = hdst_result_rows(result, NULL, NULL);
    if (!centers) return hdst_result_status(result, error);
    memcpy(job->centers, centers, (size_t)job->k * job->d * sizeof *job->centers);
    const hdst_status status = hdst_loop_read_report(job->loop, &report, error);
    job->iterations = (uint32_t)report.turns;
    *moved = status == HDST_OK ? report.turn[report.turns - 1].value : 0;
    return status;
}

static hdst_status iterate(kmeans *job, uint32_t most, double tolerance, kmeans_explain explain, double *moved, hdst_error *error)
{
    hdst_source *start = hdst_source_from_memory(job->context, job->centers, job->k, job->d * sizeof *job->centers);
    job->loop = all_steps(job, start, most, tolerance);
    hdst_result *result = hdst_result_create(job->loop);
    hdst_status status = run_result(job, result, explain, error);
    if (status == HDST_OK) status = read_sizes(job, NULL, error);
    if (status == HDST_OK) status = take_centers(job, result, moved, error);
    hdst_result_destroy(result);
    hdst_source_destroy(start);
    return status;
}

static hdst_status measure(kmeans *job, kmeans_explain explain, hdst_error *error)
{
    hdst_value_set(job->value, job->centers, job->k);
    hdst_result *result = hdst_result_create(job->assigned);
    hdst_status status = run_result(job, result, explain, error);
    if (status == HDST_OK) status = read_sizes(job, result, error);
    hdst_result_destroy(result);
    return status;
}

hdst_status kmeans_run(kmeans *job, uint32_t most, double tolerance, kmeans_explain explain, hdst_error *error)
{
    double moved = INFINITY;
    const bool steps = most > 0 && moved > tolerance;
    const hdst_status status = steps ? iterate(job, most, tolerance, explain, &moved, error) : HDST_OK;
    return status == HDST_OK && moved > 0 ? measure(job, steps ? NULL : explain, error) : status;
}

hdst_status kmeans_labels(kmeans *job, hdst_result **labels, hdst_error *error)
{
    hdst_map_spec *spec = bind_centers(job, "label_points");
    hdst_value_set(job->value, job->centers, job->k);
    *labels = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    hdst_status status = hdst_run(*labels, error);
    if (status == HDST_OK) report_add(&job->stats, hdst_result_stats(*labels));
    return status;
}
