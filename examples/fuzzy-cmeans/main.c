// SPDX-License-Identifier: Apache-2.0
// The fuzzy-cmeans program: the command line around fuzzy.h.
#include "fuzzy.h"

#include <inttypes.h>

enum { TABLE_ROWS = 50, TABLE_COLUMNS = 8, MOST_CLUSTERS = 4096 };

typedef struct settings {
    common_options common;
    uint64_t clusters, iterations;
    double tolerance, fuzzifier;
    const char *init;
} settings;

static hdst_status check(void *user, hdst_error *error)
{
    const settings *s = user;
    if (s->fuzzifier > 1 && s->fuzzifier <= 100) return HDST_OK;
    return options_misuse(error, "2 is usual; near 1 the clusters are sharp", "--fuzzifier: %g is not above 1 and at most 100", s->fuzzifier);
}

static void write_json(json *j, const void *user)
{
    const fuzzy *job = user;
    json_rows(j, "centers", job->centers, job->k, job->d);
    json_double(j, "objective", job->objective);
    json_uint(j, "iterations", job->iterations);
}

static void write_text(FILE *out, const void *user)
{
    const fuzzy *job = user;
    uint32_t rows = job->k < TABLE_ROWS ? job->k : TABLE_ROWS, columns = job->d < TABLE_COLUMNS ? job->d : TABLE_COLUMNS;
    fprintf(out, "%8s  center\n", "cluster");
    for (uint32_t j = 0; j < rows; j++) {
        fprintf(out, "%8" PRIu32, j);
        for (uint32_t i = 0; i < columns; i++) fprintf(out, " %12.6g", (double)job->centers[(uint64_t)j * job->d + i]);
        fputs(columns < job->d ? " ...\n" : "\n", out);
    }
    if (rows < job->k || columns < job->d) fprintf(out, "... of %" PRIu32 " clusters and %" PRIu32 " columns; --json gives all\n", job->k, job->d);
    char text[32];
    fprintf(out, "objective %s after %" PRIu32 " iteration%s over %" PRIu64 " points\n", shortest_double(job->objective, text), job->iterations,
            job->iterations == 1 ? "" : "s", job->points);
}

static hdst_status write_degrees(fuzzy *job, program_run *run, hdst_error *error)
{
    if (!run->common->output) return HDST_OK;
    hdst_result *degrees;
    hdst_status status = fuzzy_degrees(job, run, &degrees, error);
    if (status == HDST_OK) status = hdst_view_save(hdst_result_field(degrees, NULL, "u"), run->common->output, error);
    hdst_result_destroy(degrees);
    return status;
}

static hdst_status work(program_run *run, void *user, hdst_error *error)
{
    const settings *s = user;
    fuzzy job;
    hdst_status status = fuzzy_open(&job, run, (uint32_t)s->clusters, s->fuzzifier, error);
    if (status == HDST_OK) status = fuzzy_start(&job, run, s->init, s->common.seed, error);
    if (status == HDST_OK) status = fuzzy_steps(&job, run, (uint32_t)s->iterations, s->tolerance, error);
    if (status == HDST_OK) status = write_degrees(&job, run, error);
    if (status == HDST_OK) status = program_show(run, job.points, write_json, write_text, &job, error);
    fuzzy_close(&job);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.clusters = 8, .iterations = 100, .tolerance = 1e-4, .fuzzifier = 2};
    const option own[] = {
        {"clusters", OPTION_COUNT, &s.clusters, "K", "number of clusters (8)", true, NULL, 1, MOST_CLUSTERS},
        {"fuzzifier", OPTION_NUMBER, &s.fuzzifier, "M", "above 1: how much clusters overlap (2)", true},
        {"iterations", OPTION_COUNT, &s.iterations, "N", "steps at most (100)", true, NULL, 0, UINT32_MAX},
        {"tolerance", OPTION_NUMBER, &s.tolerance, "T", "ends when no center moves further than this (0.0001)", true},
        {"init", OPTION_TEXT, &s.init, "FILE", "first centers: a .npy or .csv file (k-means++ on a sample unless given)", true},
    };
    const program_info program = {"fuzzy-cmeans", "Finds overlapping clusters of points by fuzzy c-means. Writes a table of the centers to standard output,\n"
        "and with --output how much each point belongs to each cluster as float32 numbers in a .npy file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    return program_main(&program, &s.common, &steps, &s, argc, argv);
}
