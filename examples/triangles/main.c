// SPDX-License-Identifier: Apache-2.0
// Triangles of a graph: how many there are, and of how many each vertex is a part. Edges go from the vertex with fewer of them to the one with more, and each
// edge looks which vertices the edges of both its ends lead to (Schank and Wagner, "Finding, counting and listing all triangles in large graphs", 2005).
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    graph graph;
    uint64_t distinct, triangles, wedges;
    uint32_t *of;                   // with --output: by vertex, of how many it is a part
} job;

static hdst_status no_memory(hdst_error *error) { return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the triangles of each vertex"); }

// --- Edges ---

static hdst_dataset *simple_edges(hdst_dataset *edges, hdst_module *module)
{
    return hdst_cache(hdst_distinct(hdst_map_function(hdst_filter_function(edges, module, "leaves"), module, "upwards")));
}

// Pairs of edges that share a vertex: each is a triangle if its ends have an edge.
static void count_wedges(job *w, const uint32_t *degree)
{
    for (uint64_t v = 0; v < w->graph.size; v++) {
        w->wedges += (uint64_t)degree[v] * (degree[v] - (degree[v] > 0)) / 2;
        w->distinct += degree[v];
    }
    w->distinct /= 2;
}

static hdst_status count_ends(program_run *run, job *w, hdst_module *module, hdst_dataset *edges, hdst_value *degree, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "count_ends");
    hdst_bind_accum(spec, "degree", w->graph.size);
    hdst_result *result = hdst_result_create(hdst_map(edges, spec));
    hdst_status status = program_run_result(run, result, NULL, error);
    const uint32_t *rows = status == HDST_OK ? hdst_result_rows(result, "degree", NULL) : NULL;
    if (rows) count_wedges(w, rows);
    if (status == HDST_OK) status = rows ? hdst_value_set(degree, rows, w->graph.size) : hdst_result_status(result, error);
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    return status;
}

static hdst_dataset *oriented_edges(hdst_dataset *edges, hdst_module *module, hdst_value *degree)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "orient");
    hdst_bind_value(spec, "degree", degree);
    hdst_dataset *oriented = hdst_arrange(hdst_sort(hdst_map(edges, spec), "from, to"), "from");
    hdst_map_spec_destroy(spec);
    return oriented;
}

// --- Triangles ---

static hdst_status keep_rows(job *w, hdst_result *result, hdst_error *error)
{
    const uint32_t *rows = hdst_result_rows(result, NULL, NULL);
    if (!rows) return hdst_result_status(result, error);
    w->of = malloc(w->graph.size * sizeof *w->of);
    if (!w->of) return no_memory(error);
    memcpy(w->of, rows, w->graph.size * sizeof *w->of);
    return HDST_OK;
}

static hdst_status count(program_run *run, job *w, hdst_module *module, hdst_dataset *oriented, hdst_error *error)
{
    const bool each = run->common->output != NULL;
    hdst_map_spec *spec = hdst_map_spec_create(module, each ? "corners" : "close");
    hdst_bind_lookup(spec, "out", oriented, "from");
    hdst_dataset *found = each ? hdst_reduce_dense(hdst_flat_map(oriented, spec), module, "add", w->graph.size) : hdst_map(oriented, spec);
    hdst_result *result = hdst_result_create(found);
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) w->triangles = (uint64_t)hdst_view_int64(hdst_result_field(result, "triangles", NULL), 0, 0);
    if (status == HDST_OK && each) status = keep_rows(w, result, error);
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    return status;
}

static hdst_status find(program_run *run, job *w, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    hdst_value *degree = hdst_value_create(module, "uint32_t", 1);
    hdst_dataset *simple = simple_edges(edges, module), *oriented = oriented_edges(simple, module, degree);
    hdst_status status = count_ends(run, w, module, simple, degree, error);
    if (status == HDST_OK) status = count(run, w, module, oriented, error);
    hdst_value_destroy(degree);
    return status;
}

// --- What it tells ---

// How many of the wedges are closed.
static double transitivity(const job *w) { return w->wedges ? 3 * (double)w->triangles / (double)w->wedges : 0; }

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "nodes", w->graph.count);
    json_uint(j, "edges", w->graph.edge_count);
    json_uint(j, "distinct_edges", w->distinct);
    json_uint(j, "triangles", w->triangles);
    json_uint(j, "wedges", w->wedges);
    json_double(j, "transitivity", transitivity(w));
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.9g\n", w->graph.count, w->distinct, w->triangles, transitivity(w));
}

static void print_triangles(FILE *out, uint64_t i, const void *from)
{
    const uint32_t *of = ((const job *)from)->of;
    fprintf(out, "%" PRIu32, of ? of[i] : 0);
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_module *module = NULL;
    hdst_status status = graph_open(&w->graph, run, error);
    if (status == HDST_OK) status = program_load(run, "triangles.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *edges = graph_edges(&w->graph, run, module);
        status = graph_mark(&w->graph, run, edges, module, "mark", error);
        if (status == HDST_OK) status = graph_check_count(&w->graph, error);
        if (status == HDST_OK && w->graph.edge_count) status = find(run, w, module, edges, error);
    }
    if (status == HDST_OK) status = program_show(run, w->graph.edge_count, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = graph_save(&w->graph, run->common->output, print_triangles, w, error);
    hdst_module_destroy(module);
    graph_close(&w->graph);
    free(w->of);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.graph = {.edges = HDST_EDGES_OPTIONS_INIT}};
    common_options common;
    const option own[] = {OPTION_GRAPH(w.graph), OPTION_WEIGHTED(w.graph)};
    const program_info info = {"triangles",
                               "Triangles of a graph, whatever the direction of its edges. Prints the number of vertices, of edges between two of them, of\n"
                               "triangles, and how many of the pairs of edges that share a vertex are part of one; writes with --output each vertex and of\n"
                               "how many triangles it is a part.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.edges = &w.graph.edges, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
