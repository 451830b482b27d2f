// SPDX-License-Identifier: Apache-2.0
// Shortest paths: how far away from one vertex each other one is, by the weights of edges.
#include "paths.h"

#include <inttypes.h>
#include <math.h>

typedef struct job {
    paths paths;
    const double *rows;
    uint64_t reached;
    double distance;            // of the furthest that is reached
} job;

static void count(job *w)
{
    for (uint64_t i = 0; i < w->paths.graph.size; i++) {
        if (isinf(w->rows[i])) continue;
        w->reached++;
        w->distance = fmax(w->distance, w->rows[i]);
    }
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "nodes", w->paths.graph.count);
    json_uint(j, "edges", w->paths.graph.edge_count);
    json_uint(j, "reached", w->reached);
    json_double(j, "distance", w->distance);
    paths_json(j, &w->paths);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    char text[32];
    fprintf(out, "%" PRIu64 " %" PRIu64 " %s\n", w->paths.graph.count, w->reached, shortest_double(w->distance, text));
}

static void print_distance(FILE *out, uint64_t i, const void *from)
{
    const double distance = ((const job *)from)->rows[i];
    char text[32];
    fputs(isinf(distance) ? "Infinity" : shortest_double(distance, text), out);
}

// A way over an edge of negative weight might be gone again and again.
static hdst_status check(program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    hdst_result *result = hdst_result_create(hdst_map_function(edges, module, "check"));
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK && hdst_view_int64(hdst_result_field(result, "wrong", NULL), 0, 0)) {
        const uint64_t first = (uint64_t)hdst_view_int64(hdst_result_field(result, "first", NULL), 0, 0);
        status = program_fail(error, HDST_E_RECORD, first, "weights are 0 or more",
                              "edge %" PRIu64 " (counted from 0) has a weight that is negative, or none", first);
    }
    hdst_result_destroy(result);
    return status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_module *module = NULL;
    hdst_status status = graph_count_edges(&w->paths.graph, run, error);
    if (status == HDST_OK) status = program_load(run, "sssp.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *edges = graph_edges(&w->paths.graph, run, module);
        status = graph_find_size(&w->paths.graph, run, check(run, module, edges, error), error);
        if (status == HDST_OK) status = paths_find(&w->paths, run, module, edges, error);
    }
    if (status == HDST_OK && !(w->rows = hdst_result_rows(w->paths.result, NULL, NULL))) status = hdst_result_status(w->paths.result, error);
    if (status == HDST_OK) {
        count(w);
        status = program_show(run, w->paths.graph.edge_count, write_json, write_text, w, error);
    }
    if (status == HDST_OK && run->common->output) status = graph_save(&w->paths.graph, run->common->output, print_distance, w, error);
    hdst_module_destroy(module);
    paths_close(&w->paths);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.paths = {.graph = {.edges = HDST_EDGES_OPTIONS_INIT}, .type = "double"}};
    common_options common;
    const option own[] = {OPTION_PATHS(w.paths), OPTION_GRAPH(w.paths.graph)};
    const program_info info = {"sssp",
                               "Shortest paths: how far away from one vertex each other one is, by the weights of the edges, which are the third number of\n"
                               "a line. Prints the number of vertices, of those that are reached, and how far the furthest of them is; writes with\n"
                               "--output each vertex and how far it is.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.edges = &w.paths.graph.edges, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
