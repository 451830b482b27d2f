// SPDX-License-Identifier: Apache-2.0
// Connected components of a graph, whatever the direction of its edges.
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLIMBS = 32 };          // of 8 steps and more: none is as long

typedef struct job {
    graph graph;
    hdst_dataset *edges;
    uint64_t components, largest, iterations, touched;
    uint32_t *component;            // by vertex: the smallest of its component
} job;

// What the trees are made by.
typedef struct forest {
    hdst_module *module;
    hdst_dataset *numbers;          // of all vertices
    hdst_value *least;              // of each vertex, among those that edges lead it to
    hdst_value *parent, *root;      // of each vertex: while its way up is gone; in the end
    hdst_result *roots;             // the latter, made of the former
} forest;

typedef struct bound { const char *parameter; hdst_value *value; } bound;

static hdst_map_spec *spec_of(hdst_module *module, const char *function, const bound *values, size_t count)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    for (size_t i = 0; i < count; i++) hdst_bind_value(spec, values[i].parameter, values[i].value);
    return spec;
}

static hdst_dataset *mapped(hdst_dataset *from, hdst_map_spec *spec)
{
    hdst_dataset *dataset = hdst_map(from, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

// Its table `least`.
static hdst_dataset *hooked(const forest *f, hdst_dataset *edges, uint64_t size)
{
    hdst_map_spec *spec = hdst_map_spec_create(f->module, "hook");
    hdst_bind_accum(spec, "least", size);
    return mapped(edges, spec);
}

static hdst_dataset *left_of(const forest *f, hdst_dataset *edges)
{
    hdst_map_spec *spec = spec_of(f->module, "apart", &(bound){"root", f->root}, 1);
    hdst_dataset *dataset = hdst_flat_map(edges, spec);
    hdst_map_spec_destroy(spec);
    return hdst_cache(dataset);
}

// The roots of trees, some of which now hang from others.
static hdst_dataset *climbed(const forest *f)
{
    const bound hang[] = {{"root", f->root}, {"least", f->least}};
    const hdst_loop_step step = {.dataset = mapped(f->numbers, spec_of(f->module, "climb", &(bound){"parent", f->parent}, 1)), .value = f->parent};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = MOST_CLIMBS;
    options.until = "below";
    return hdst_loop(mapped(f->numbers, spec_of(f->module, "hang", hang, 2)), f->parent, &step, 1, &options);
}

static hdst_status set_roots(program_run *run, const forest *f, hdst_result *from, hdst_error *error)
{
    const hdst_status status = program_run_result(run, from, NULL, error);
    return status == HDST_OK ? hdst_value_set_result(f->root, from, NULL, error) : status;
}

// Of the first turn: whoever has a neighbour below it, or itself, is there; others that are there have larger ones, which hang from them in the end (count).
static hdst_status mark(job *w, hdst_result *hooks, hdst_error *error)
{
    const uint32_t *least = hdst_result_rows(hooks, "least", NULL);
    for (uint64_t i = 0; least && i < w->graph.size; i++) w->graph.is_there[i] |= least[i] != GRAPH_NOWHERE;
    return least ? HDST_OK : hdst_result_status(hooks, error);
}

// A turn over these edges. *left: how many there are.
static hdst_status join_trees(program_run *run, job *w, const forest *f, hdst_dataset *edges, uint64_t *left, hdst_error *error)
{
    const bool first = edges == w->edges;
    hdst_result *hooks = hdst_result_create(hooked(f, edges, w->graph.size));
    hdst_status status = program_run_result(run, hooks, NULL, error);
    *left = status == HDST_OK ? (uint64_t)hdst_view_int64(hdst_result_field(hooks, "edges", NULL), 0, 0) : 0;
    if (status == HDST_OK && first) status = mark(w, hooks, error);
    if (status == HDST_OK && (first || *left)) status = hdst_value_set_result(f->least, hooks, "least", error);
    if (status == HDST_OK && (first || *left)) status = set_roots(run, f, f->roots, error);
    hdst_result_destroy(hooks);
    return status;
}

static hdst_status join_all(program_run *run, job *w, const forest *f, hdst_error *error)
{
    uint64_t left = 0;
    hdst_dataset *edges = w->edges;
    hdst_result *start = hdst_result_create(hdst_map_function(f->numbers, f->module, "start"));
    hdst_status status = set_roots(run, f, start, error);
    if (status == HDST_OK) status = join_trees(run, w, f, edges, &left, error);
    while (status == HDST_OK && left) {
        w->iterations++;
        w->touched += 2 * left;
        hdst_dataset *before = edges;
        edges = left_of(f, before);
        status = join_trees(run, w, f, edges, &left, error);
        hdst_uncache(before);
    }
    hdst_result_destroy(start);
    return status;
}

// Edges are read to where they stay by whoever looks at all of them first. That needs no table, and how large tables are is known then.
static hdst_status look(program_run *run, job *w, hdst_module *module, hdst_error *error)
{
    hdst_result *result = hdst_result_create(hdst_map_function(w->edges, module, "look"));
    const hdst_status status = w->graph.edge_count ? program_run_result(run, result, NULL, error) : HDST_OK;
    hdst_result_destroy(result);
    return graph_find_size(&w->graph, run, status, error);
}

// A component is told by its smallest vertex, which is its root.
static hdst_status count(job *w, hdst_error *error)
{
    uint64_t *size = calloc(w->graph.size, sizeof *size);
    if (!size) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the components");
    for (uint64_t i = 0; i < w->graph.size; i++) size[w->component[i]]++;
    for (uint64_t i = 0; i < w->graph.size; i++) {
        w->graph.is_there[i] |= size[w->component[i]] > 1;
        w->graph.count += w->graph.is_there[i];
        w->components += w->graph.is_there[i] && size[i];
        if (w->graph.is_there[i] && size[i] > w->largest) w->largest = size[i];
    }
    free(size);
    return HDST_OK;
}

static hdst_status keep(job *w, const forest *f, hdst_error *error)
{
    const uint64_t bytes = w->graph.size * sizeof *w->component;
    const uint32_t *root = hdst_result_rows(f->roots, NULL, NULL);
    if (!root) return hdst_result_status(f->roots, error);
    w->component = malloc(bytes);
    if (!w->component) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the components");
    memcpy(w->component, root, bytes);
    return HDST_OK;
}

static hdst_status find(program_run *run, job *w, hdst_module *module, hdst_error *error)
{
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)w->graph.size);
    forest f = {.module = module, .numbers = hdst_read(range, module, "int64_t")};
    f.least = hdst_value_create(module, "uint32_t", 1);
    f.parent = hdst_value_create(module, "uint32_t", 1);
    f.root = hdst_value_create(module, "uint32_t", 1);
    f.roots = hdst_result_create(climbed(&f));
    hdst_status status = join_all(run, w, &f, error);
    if (status == HDST_OK) status = keep(w, &f, error);
    hdst_result_destroy(f.roots);
    hdst_value_destroy(f.least);
    hdst_value_destroy(f.parent);
    hdst_value_destroy(f.root);
    hdst_source_destroy(range);
    return status == HDST_OK ? count(w, error) : status;
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "nodes", w->graph.count);
    json_uint(j, "edges", w->graph.edge_count);
    json_uint(j, "components", w->components);
    json_uint(j, "largest", w->largest);
    json_uint(j, "iterations", w->iterations);
    json_uint(j, "edges_touched", w->touched);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", w->graph.count, w->components, w->largest);
}

static void print_component(FILE *out, uint64_t i, const void *from) { fprintf(out, "%" PRIu32, ((const job *)from)->component[i]); }

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_module *module = NULL;
    hdst_status status = graph_count_edges(&w->graph, run, error);
    if (status == HDST_OK) status = program_load(run, "connected-components.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) {
        w->edges = graph_edges(&w->graph, run, module);
        status = look(run, w, module, error);
        if (status == HDST_OK && w->graph.size) status = find(run, w, module, error);
        if (status == HDST_OK) status = graph_check_count(&w->graph, error);
    }
    if (status == HDST_OK) status = program_show(run, w->graph.edge_count, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = graph_save(&w->graph, run->common->output, print_component, w, error);
    hdst_module_destroy(module);
    graph_close(&w->graph);
    free(w->component);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.graph = {.edges = HDST_EDGES_OPTIONS_INIT}};
    common_options common;
    const option own[] = {OPTION_GRAPH(w.graph), OPTION_WEIGHTED(w.graph)};
    const program_info info = {"connected-components",
                               "Finds the connected components of a graph, whatever the direction of its edges. Prints the number of vertices, of components,\n"
                               "and of the largest component's vertices; writes with --output each vertex and the smallest one of its component.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.edges = &w.graph.edges, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
