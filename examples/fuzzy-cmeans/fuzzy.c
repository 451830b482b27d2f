// SPDX-License-Identifier: Apache-2.0
// Fuzzy c-means on hdst, without the command line (fuzzy.h).
#include "fuzzy.h"

#include "centers.h"
#include "first_centers.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 20000, SAMPLE_PER_CENTER = 20 };     // points that k-means++ looks at

static hdst_value *number(hdst_module *module, double value)
{
    float row = (float)value;
    hdst_value *v = hdst_value_create(module, "float", 1);
    hdst_value_set(v, &row, 1);
    return v;
}

static hdst_map_spec *bind(fuzzy *job, const char *function)
{
    hdst_map_spec *spec = hdst_map_spec_create(job->module, function);
    hdst_bind_value(spec, "c", job->center_value);
    hdst_bind_value(spec, "power", job->power_value);
    return spec;
}

hdst_status fuzzy_open(fuzzy *job, program_run *run, uint32_t k, double m, hdst_error *error)
{
    *job = (fuzzy){.k = k, .d = hdst_source_columns(run->source), .m = m};
    const hdst_param params[] = {{"D", job->d}, {"K", k}, {"SQUARE", m == 2}};
    hdst_status status = program_load(run, "fuzzy-cmeans.hk", params, sizeof params / sizeof *params, &job->module, error);
    if (status != HDST_OK) return status;
    hdst_dataset *points = hdst_read(run->source, job->module, "point");
    status = hdst_count(points, &job->points, error);       // less those that --on-error skip leaves out
    if (status != HDST_OK) return status;
    if (k > job->points)
        return program_fail(error, HDST_E_USAGE, 0, "there must be at least as many points as clusters", "%" PRIu32 " clusters of %" PRIu64 " points", k,
                            job->points);
    job->data = hdst_cache(hdst_with_layout(points, program_layout(run, HDST_SOA)));
    job->center_value = hdst_value_create(job->module, "centers", 1);
    job->m_value = number(job->module, m);
    job->power_value = number(job->module, 1 / (m - 1));
    hdst_map_spec *spec = bind(job, "belong");
    hdst_bind_value(spec, "m", job->m_value);
    job->step = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    return hdst_result_status(job->step, error);
}

void fuzzy_close(fuzzy *job)
{
    hdst_result_destroy(job->step);
    hdst_value_destroy(job->center_value);
    hdst_value_destroy(job->m_value);
    hdst_value_destroy(job->power_value);
    hdst_module_destroy(job->module);
    free(job->centers);
    *job = (fuzzy){0};
}

// HDST_E_RECORD with the first point that is not finite; else the distances are too large.
static hdst_status explain_infinity(fuzzy *job, program_run *run, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(job->data, job->module, "find_unusable"));
    hdst_status status = program_run_result(run, r, &job->explained, error);
    uint64_t n = (uint64_t)hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), first = (uint64_t)hdst_view_int64(hdst_result_field(r, "first", NULL), 0, 0);
    hdst_result_destroy(r);
    if (status != HDST_OK) return status;
    if (n == 0) return program_fail(error, HDST_E_RECORD, 0, "scale the columns down", "the sums are beyond the range of float32");
    return program_fail(error, HDST_E_RECORD, first, "such a point belongs to no cluster: remove or mend it",
                        "%" PRIu64 " point%s not finite (or beyond 1e18); the first is record %" PRIu64 " (counted from 0)", n, n == 1 ? " is" : "s are",
                        first);
}

// --- First centers ---

static hdst_status take_sample(fuzzy *job, uint64_t count, uint64_t seed, float *points, hdst_error *error)
{
    uint64_t *records = malloc(count * sizeof *records);
    if (!records) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the sample");
    init_sample(job->points, count, seed, records);
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK;) {
        uint64_t together = 1;      // neighbours are read in one go
        while (i + together < count && records[i + together] == records[i] + together) together++;
        status = hdst_dataset_take(job->data, records[i], together, points + i * job->d, error);
        i += together;
    }
    free(records);
    return status;
}

static hdst_status start_from_sample(fuzzy *job, program_run *run, uint64_t seed, hdst_error *error)
{
    uint64_t count = (uint64_t)SAMPLE_PER_CENTER * job->k;
    if (count < SAMPLE) count = SAMPLE;
    if (count > job->points) count = job->points;
    job->centers = malloc((size_t)job->k * job->d * sizeof *job->centers);
    float *points = malloc(count * job->d * sizeof *points);
    hdst_status status =
        points && job->centers ? take_sample(job, count, seed, points, error) : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the sample");
    for (uint64_t i = 0; status == HDST_OK && i < count * job->d; i++)
        if (!isfinite(points[i])) status = explain_infinity(job, run, error);
    int code = status == HDST_OK ? init_plus_plus(points, count, job->d, job->k, seed, &signals_stop, job->centers) : INIT_OK;
    free(points);
    if (code == INIT_NO_MEMORY) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the first centers");
    return code == INIT_STOPPED ? program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted") : status;
}

hdst_status fuzzy_start(fuzzy *job, program_run *run, const char *path, uint64_t seed, hdst_error *error)
{
    return path ? centers_read(run->context, job->module, path, job->d, &job->k, &job->centers, error) : start_from_sample(job, run, seed, error);
}

// --- Steps ---

static hdst_status measure(fuzzy *job, program_run *run, hdst_error *error)
{
    hdst_value_set(job->center_value, job->centers, 1);
    hdst_status status = program_run_result(run, job->step, &job->explained, error);
    if (status != HDST_OK) return status;
    job->objective = hdst_view_double(hdst_result_field(job->step, "objective", NULL), 0, 0);
    return isfinite(job->objective) ? HDST_OK : explain_infinity(job, run, error);
}

// Every center goes to the weighted mean of all points. Returns the longest way that one went.
static double move_centers(fuzzy *job)
{
    hdst_view sum = hdst_result_field(job->step, "t", "x"), weight = hdst_result_field(job->step, "t", "weight");
    double longest = 0;
    for (uint32_t j = 0; j < job->k; j++) {
        double way = 0, all = hdst_view_double(weight, 0, j);
        for (uint32_t i = 0; i < job->d && all > 0; i++) {      // all points on other centers: it stays
            float *x = job->centers + (uint64_t)j * job->d + i, mean = (float)(hdst_view_double(sum, 0, (uint64_t)j * job->d + i) / all);
            way += ((double)mean - *x) * ((double)mean - *x);
            *x = mean;
        }
        longest = fmax(longest, way);
    }
    return sqrt(longest);
}

hdst_status fuzzy_steps(fuzzy *job, program_run *run, uint32_t most, double tolerance, hdst_error *error)
{
    hdst_status status = measure(job, run, error);
    for (double moved = INFINITY; job->iterations < most && moved > tolerance && status == HDST_OK; job->iterations++) {
        if (signals_stop) return program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
        moved = move_centers(job);
        status = measure(job, run, error);
    }
    return status;
}

hdst_status fuzzy_degrees(fuzzy *job, program_run *run, hdst_result **degrees, hdst_error *error)
{
    hdst_map_spec *spec = bind(job, "degrees_of");
    *degrees = hdst_result_create(hdst_map(job->data, spec));
    hdst_map_spec_destroy(spec);
    return program_run_result(run, *degrees, &job->explained, error);
}
