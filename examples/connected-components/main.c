// SPDX-License-Identifier: Apache-2.0
// Connected components of a graph, whatever the direction of its edges.
#include "graph.h"
#include "turns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    graph graph;
    hdst_dataset *edges;            // gone both ways, by where they begin
    uint64_t components, largest, iterations, touched;
    uint32_t *component;            // by vertex: the smallest of its component
} job;

// Values that datasets read, and what the trees are made by.
typedef struct forest {
    hdst_module *module;
    hdst_dataset *numbers;          // of all vertices
    hdst_value *parent, *work;      // state and work set
    hdst_value *seeds;              // roots that the first turn joins
    hdst_value *root, *most;        // of each vertex; of the largest component
    hdst_result *top;               // each vertex's root
} forest;

typedef struct bound { const char *parameter; hdst_value *value; } bound;

static hdst_map_spec *over_edges(const job *w, hdst_map_spec *spec)
{
    hdst_bind_lookup(spec, "out", w->edges, "from");
    return spec;
}

static hdst_map_spec *spec_of(hdst_module *module, const char *function, const bound *values, size_t count)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    for (size_t i = 0; i < count; i++) hdst_bind_value(spec, values[i].parameter, values[i].value);
    return spec;
}

static hdst_dataset *flat_mapped(hdst_dataset *from, hdst_map_spec *spec)
{
    hdst_dataset *dataset = hdst_flat_map(from, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

// The work set's roots become those above them; each hangs below the smallest that an edge joins it to.
static hdst_dataset *make_trees(const forest *f, hdst_dataset *start, uint64_t size)
{
    hdst_dataset *left = flat_mapped(hdst_read_value(f->work), spec_of(f->module, "climb", &(bound){"parent", f->parent}, 1));
    const hdst_loop_step steps[] = {{.dataset = left, .value = f->work},
                                    {.dataset = hdst_reduce_by_key(hdst_read_value(f->work), f->module, "smallest"), .value = f->parent}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = size + 1;           // each turn but the last joins roots
    options.until = "touched";
    return hdst_delta_loop(start, f->parent, hdst_read_value(f->seeds), f->work, steps, 2, &options);
}

// Runs the function that names roots to join, then the turns that do it.
static hdst_status join(program_run *run, job *w, forest *f, hdst_dataset *start, hdst_dataset *found, hdst_error *error)
{
    hdst_dataset *loop = make_trees(f, start, w->graph.size);
    hdst_result *seeds = hdst_result_create(found), *trees = hdst_result_create(loop);
    hdst_status status = program_run_result(run, seeds, NULL, error);
    if (status == HDST_OK) status = hdst_value_set_result(f->seeds, seeds, NULL, error);
    if (status == HDST_OK) w->touched += (uint64_t)hdst_view_int64(hdst_result_field(seeds, "touched", NULL), 0, 0);
    if (status == HDST_OK) status = program_run_result(run, trees, NULL, error);
    w->iterations += turns_count(loop);
    w->touched += (uint64_t)turns_sum(loop);
    if (status == HDST_OK) status = program_run_result(run, f->top, NULL, error);
    hdst_result_destroy(seeds);
    hdst_result_destroy(trees);
    return status;
}

// A component is told by its smallest vertex, which is its root. *most: the root of the largest one.
static hdst_status count(job *w, const uint32_t *root, uint32_t *most, hdst_error *error)
{
    uint64_t *size = calloc(w->graph.size, sizeof *size);
    if (!size) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the components");
    w->components = w->largest = 0;
    for (uint64_t i = 0; i < w->graph.size; i++)
        if (w->graph.is_there[i]) w->components += size[root[i]]++ == 0;
    for (uint64_t i = 0; i < w->graph.size; i++) {
        if (size[i] <= w->largest) continue;
        w->largest = size[i];
        *most = (uint32_t)i;
    }
    free(size);
    return HDST_OK;
}

static hdst_status count_trees(job *w, const forest *f, uint32_t *most, hdst_error *error)
{
    const uint32_t *root = hdst_result_rows(f->top, NULL, NULL);
    return root ? count(w, root, most, error) : hdst_result_status(f->top, error);
}

static hdst_status join_all(program_run *run, job *w, forest *f, hdst_error *error)
{
    const bound rest[] = {{"root", f->root}, {"largest", f->most}};
    uint32_t most = 0;
    hdst_status status = join(run, w, f, hdst_map_function(f->numbers, f->module, "start"),
                              flat_mapped(f->numbers, over_edges(w, spec_of(f->module, "few", NULL, 0))), error);
    if (status == HDST_OK) status = count_trees(w, f, &most, error);
    if (status == HDST_OK) status = hdst_value_set(f->most, &most, 1);
    if (status == HDST_OK) status = hdst_value_set_result(f->root, f->top, NULL, error);
    if (status == HDST_OK)
        status = join(run, w, f, hdst_read_value(f->root), flat_mapped(f->numbers, over_edges(w, spec_of(f->module, "rest", rest, 2))), error);
    return status == HDST_OK ? count_trees(w, f, &most, error) : status;
}

static hdst_status keep(job *w, const forest *f, hdst_error *error)
{
    const uint64_t bytes = w->graph.size * sizeof *w->component;
    w->component = malloc(bytes);
    if (!w->component) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the components");
    memcpy(w->component, hdst_result_rows(f->top, NULL, NULL), bytes);
    return HDST_OK;
}

static hdst_status find(program_run *run, job *w, hdst_module *module, hdst_error *error)
{
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)w->graph.size);
    forest f = {.module = module, .numbers = hdst_read(range, module, "int64_t")};
    f.parent = hdst_value_create(module, "uint32_t", 1);
    f.root = hdst_value_create(module, "uint32_t", 1);
    f.most = hdst_value_create(module, "uint32_t", 1);
    f.work = hdst_value_create(module, "roots", 1);
    f.seeds = hdst_value_create(module, "roots", 1);
    hdst_map_spec *top = spec_of(module, "top", &(bound){"parent", f.parent}, 1);
    f.top = hdst_result_create(hdst_map(f.numbers, top));
    hdst_map_spec_destroy(top);
    hdst_status status = join_all(run, w, &f, error);
    if (status == HDST_OK) status = keep(w, &f, error);
    hdst_result_destroy(f.top);
    hdst_value *values[] = {f.parent, f.root, f.most, f.work, f.seeds};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) hdst_value_destroy(values[i]);
    hdst_source_destroy(range);
    return status;
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
    hdst_status status = graph_open(&w->graph, run, error);
    if (status == HDST_OK) status = program_load(run, "connected-components.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *edges = graph_edges(&w->graph, run, module);
        status = graph_mark(&w->graph, run, edges, module, "mark", error);
        w->edges = hdst_arrange(hdst_flat_map_function(edges, module, "both_ways"), "from");
        if (status == HDST_OK && w->graph.size) status = find(run, w, module, error);
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
