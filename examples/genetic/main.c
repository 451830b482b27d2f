// SPDX-License-Identifier: Apache-2.0
// The genetic program: hdst measures a population of cluster centers in one pass, evolve.c breeds the next.
#include "evolve.h"
#include "program.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWN_FROM = 10000, SHOWN = 50 };    // points at most that the first centers are drawn from; centers of the table

typedef struct genetic {
    common_options common;
    uint64_t clusters, generations, population;
    evolution evolution;
    float *points;              // what the first population is drawn from
    const float *best;
    double inertia;
    uint64_t records;
    hdst_module *module;
    hdst_dataset *data;
    hdst_value *members;
    hdst_result *pass;
    bool explained;
} genetic;

static hdst_status enough_points(const genetic *g, hdst_error *error)
{
    if (g->clusters <= g->records) return HDST_OK;
    return options_misuse(error, "there must be at least as many points as clusters", "%" PRIu64 " clusters of %" PRIu64 " points", g->clusters, g->records);
}

static hdst_status open_pass(program_run *run, genetic *g, hdst_error *error)
{
    uint32_t d = hdst_source_columns(run->source);
    hdst_status status = program_rows(run, &g->records, error);
    if (status == HDST_OK) status = enough_points(g, error);
    if (status != HDST_OK) return status;
    const hdst_param params[] = {{"D", d}, {"K", (int64_t)g->clusters}};
    status = program_load(run, "genetic.hk", params, 2, &g->module, error);
    if (status == HDST_OK) status = program_records(run, g->module, "point", &g->records, error);
    if (status == HDST_OK) status = enough_points(g, error);
    if (status != HDST_OK) return status;
    g->data = hdst_cache(hdst_with_layout(hdst_read(run->source, g->module, "point"), program_layout(run, HDST_SOA)));
    g->members = hdst_value_create(g->module, "member", g->population);
    hdst_map_spec *spec = hdst_map_spec_create(g->module, "measure");
    hdst_bind_value(spec, "m", g->members);
    hdst_bind_accum(spec, "inertia", g->population);
    g->pass = hdst_result_create(hdst_map(g->data, spec));
    hdst_map_spec_destroy(spec);
    if (!evolve_create(&g->evolution, (uint32_t)g->population, (uint32_t)g->clusters, d, g->common.seed))
        return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the population");
    return hdst_result_status(g->pass, error);
}

static hdst_status start(genetic *g, hdst_error *error)
{
    uint64_t count = g->records < DRAWN_FROM ? g->records : DRAWN_FROM;
    if (count < g->clusters) count = g->clusters;
    float *points = g->points = malloc(count * g->evolution.d * sizeof *points);
    if (!points) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: points to start from");
    hdst_status status = HDST_OK;
    uint64_t pieces = count < g->records ? 100 : 1, each = count / pieces;     // of large data, pieces from all over
    for (uint64_t i = 0; i < pieces && status == HDST_OK; i++)
        status = hdst_dataset_take(g->data, g->records / pieces * i, each, points + i * each * g->evolution.d, error);
    if (status == HDST_OK) evolve_start(&g->evolution, points, pieces * each);
    return status;
}

// Which point has no nearest center.
static hdst_status explain_infinity(program_run *run, genetic *g, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(g->data, g->module, "find_unusable"));
    hdst_status status = program_run_result(run, r, &g->explained, error);
    int64_t n = status == HDST_OK ? hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0) : 0;
    int64_t first = n > 0 ? hdst_view_int64(hdst_result_field(r, "first", NULL), 0, 0) : 0;
    hdst_result_destroy(r);
    if (status != HDST_OK) return status;
    if (n == 0) return program_fail(error, HDST_E_RECORD, 0, "scale the columns down", "a squared distance is beyond the range of float32");
    return program_fail(error, HDST_E_RECORD, (uint64_t)first, "such a point has no nearest center: remove or mend it",
                        "%" PRId64 " point%s not finite (or beyond 1e18); the first is record %" PRId64 " (counted from 0)", n, n == 1 ? " is" : "s are",
                        first);
}

static hdst_status measure(program_run *run, genetic *g, hdst_error *error)
{
    evolution *e = &g->evolution;
    hdst_value_set(g->members, e->now, e->members);
    hdst_status status = program_run_result(run, g->pass, &g->explained, error);
    if (status != HDST_OK) return status;
    hdst_view inertia = hdst_result_field(g->pass, "inertia", NULL);
    for (uint32_t i = 0; i < e->members; i++) {
        e->inertia[i] = hdst_view_double(inertia, i, 0);
        if (isnan(e->inertia[i])) e->inertia[i] = INFINITY;      // ranks are by less-than
    }
    g->best = evolve_rank(e);
    g->inertia = e->inertia[e->order[0]];
    return isfinite(g->inertia) ? HDST_OK : explain_infinity(run, g, error);
}

static hdst_status save_labels(program_run *run, genetic *g, hdst_error *error)
{
    if (!g->common.output) return HDST_OK;
    hdst_value *centers = hdst_value_create(g->module, "center", g->clusters);
    hdst_value_set(centers, g->best, g->clusters);
    hdst_map_spec *spec = hdst_map_spec_create(g->module, "label_points");
    hdst_bind_value(spec, "c", centers);
    hdst_result *labels = hdst_result_create(hdst_map(g->data, spec));
    hdst_map_spec_destroy(spec);
    hdst_status status = program_run_result(run, labels, &g->explained, error);
    if (status == HDST_OK) status = hdst_view_save(hdst_result_field(labels, NULL, "cluster"), g->common.output, error);
    hdst_result_destroy(labels);
    hdst_value_destroy(centers);
    return status;
}

static void write_result(json *j, const void *user)
{
    const genetic *g = user;
    json_rows(j, "centers", g->best, g->clusters, g->evolution.d);
    json_double(j, "inertia", g->inertia);
    json_uint(j, "generations", g->generations);
}

static void print_table(FILE *out, const void *user)
{
    const genetic *g = user;
    for (uint64_t row = 0; row < g->clusters && row < SHOWN; row++) {
        fprintf(out, "%8" PRIu64, row);
        for (uint32_t i = 0; i < g->evolution.d && i < 8; i++) fprintf(out, " %12.6g", (double)g->best[row * g->evolution.d + i]);
        fputs(g->evolution.d > 8 ? " ...\n" : "\n", out);
    }
    char text[32];
    fprintf(out, "inertia %s after %" PRIu64 " generations over %" PRIu64 " points\n", shortest_double(g->inertia, text), g->generations, g->records);
}

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    genetic *g = settings;
    hdst_status status = open_pass(run, g, error);
    if (status == HDST_OK) status = start(g, error);
    if (status == HDST_OK) status = measure(run, g, error);
    for (uint64_t i = 0; i < g->generations && status == HDST_OK; i++) {
        if (signals_stop) {
            status = program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
            break;
        }
        evolve_breed(&g->evolution);
        status = measure(run, g, error);
    }
    if (status == HDST_OK) status = save_labels(run, g, error);
    if (status == HDST_OK) status = program_show(run, g->records, write_result, print_table, g, error);
    hdst_result_destroy(g->pass);
    hdst_value_destroy(g->members);
    hdst_module_destroy(g->module);
    evolve_free(&g->evolution);
    free(g->points);
    return status;
}

int main(int argc, char **argv)
{
    genetic g = {.clusters = 8, .generations = 100, .population = 128};
    const option own[] = {
        {"clusters", OPTION_COUNT, &g.clusters, "K", "number of clusters (8)", true, NULL, 1, 10000},
        {"generations", OPTION_COUNT, &g.generations, "N", "populations that are bred after the first (100)", true, NULL, 0, UINT32_MAX},
        {"population", OPTION_COUNT, &g.population, "P", "members of a population (128)", true, NULL, 2, 10000},
    };
    const program_info program = {"genetic", "Evolves cluster centers: a population of them is measured in one pass over the points, the best are bred.\n"
        "Writes the best centers to standard output, and with --output the cluster of each point as int32 numbers in a .npy file.",
        own, sizeof own / sizeof *own};
    const program_steps steps = {.work = work};
    return program_main(&program, &g.common, &steps, &g, argc, argv);
}
