// SPDX-License-Identifier: Apache-2.0
// Breadth-first search: how many edges away from one vertex each other one is.
#include "paths.h"

#include <inttypes.h>

typedef struct job {
    paths paths;
    const uint32_t *rows;
    uint64_t reached, depth;
} job;

static void count(job *w)
{
    for (uint64_t i = 0; i < w->paths.graph.size; i++) {
        if (w->rows[i] == UINT32_MAX) continue;
        w->reached++;
        w->depth = w->rows[i] > w->depth ? w->rows[i] : w->depth;
    }
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "nodes", w->paths.graph.count);
    json_uint(j, "edges", w->paths.graph.edge_count);
    json_uint(j, "reached", w->reached);
    json_uint(j, "depth", w->depth);
    paths_json(j, &w->paths);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", w->paths.graph.count, w->reached, w->depth);
}

// What cannot be reached is as far as a number can be.
static void print_depth(FILE *out, uint64_t i, const void *from)
{
    const uint32_t depth = ((const job *)from)->rows[i];
    fprintf(out, "%" PRId64, depth == UINT32_MAX ? INT64_MAX : (int64_t)depth);
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_module *module = NULL;
    hdst_status status = graph_open(&w->paths.graph, run, error);
    if (status == HDST_OK) status = program_load(run, "bfs.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) status = paths_find(&w->paths, run, module, graph_edges(&w->paths.graph, run, module), error);
    if (status == HDST_OK && !(w->rows = hdst_result_rows(w->paths.result, NULL, NULL))) status = hdst_result_status(w->paths.result, error);
    if (status == HDST_OK) {
        count(w);
        status = program_show(run, w->paths.graph.edge_count, write_json, write_text, w, error);
    }
    if (status == HDST_OK && run->common->output) status = graph_save(&w->paths.graph, run->common->output, print_depth, w, error);
    hdst_module_destroy(module);
    paths_close(&w->paths);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.paths = {.graph = {.edges = HDST_EDGES_OPTIONS_INIT}, .type = "uint32_t"}};
    common_options common;
    const option own[] = {OPTION_PATHS(w.paths), OPTION_GRAPH(w.paths.graph), OPTION_WEIGHTED(w.paths.graph)};
    const program_info info = {"bfs",
                               "Breadth-first search: how many edges away from one vertex each other one is. Prints the number of vertices, of those that are\n"
                               "reached, and how far the furthest of them is; writes with --output each vertex and how far it is.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.edges = &w.paths.graph.edges, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
