// SPDX-License-Identifier: Apache-2.0
// Connected components of a graph, whatever the direction of its edges.
#include "graph.h"
#include "signals.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct vertex { uint32_t parent, grand; } vertex;       // as connected-components.hk has it

typedef struct job {
    graph graph;
    uint64_t components, largest, iterations;
    uint32_t *component;            // by vertex: the smallest of its component
} job;

// What one turn takes: values and results that give them.
typedef struct turn {
    hdst_value *vertices, *least, *parents;
    hdst_result *hook, *settle, *climb;
    bool explained;
} turn;

static hdst_map_spec *spec_of(hdst_module *module, const char *function, const char *first, hdst_value *first_value, const char *second,
                              hdst_value *second_value)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    hdst_bind_value(spec, first, first_value);
    if (second) hdst_bind_value(spec, second, second_value);
    return spec;
}

static hdst_result *result_of(hdst_dataset *dataset, hdst_map_spec *spec)
{
    hdst_result *result = hdst_result_create(hdst_map(dataset, spec));
    hdst_map_spec_destroy(spec);
    return result;
}

static void plan(turn *t, hdst_module *module, hdst_dataset *edges, hdst_dataset *numbers, uint64_t size)
{
    t->vertices = hdst_value_create(module, "vertex", size);
    t->least = hdst_value_create(module, "uint32_t", size);
    t->parents = hdst_value_create(module, "uint32_t", size);
    hdst_map_spec *hook = spec_of(module, "hook", "v", t->vertices, NULL, NULL);
    hdst_bind_accum(hook, "least", size);
    t->hook = result_of(edges, hook);
    t->settle = result_of(numbers, spec_of(module, "settle", "v", t->vertices, "least", t->least));
    t->climb = result_of(numbers, spec_of(module, "climb", "parent", t->parents, "v", t->vertices));
}

static void end_turn(turn *t)
{
    hdst_result_destroy(t->hook);
    hdst_result_destroy(t->settle);
    hdst_result_destroy(t->climb);
    hdst_value_destroy(t->vertices);
    hdst_value_destroy(t->least);
    hdst_value_destroy(t->parents);
}

static hdst_status run_turn(program_run *run, turn *t, uint64_t *changed, hdst_error *error)
{
    bool explained[] = {t->explained, t->explained};
    hdst_status status = program_run_result(run, t->hook, &t->explained, error);
    if (status == HDST_OK) status = hdst_value_set_result(t->least, t->hook, "least", error);
    if (status == HDST_OK) status = program_run_result(run, t->settle, &explained[0], error);
    if (status == HDST_OK) status = hdst_value_set_result(t->parents, t->settle, NULL, error);
    if (status == HDST_OK) status = program_run_result(run, t->climb, &explained[1], error);
    if (status == HDST_OK) *changed = (uint64_t)hdst_view_int64(hdst_result_field(t->climb, "changed", NULL), 0, 0);
    if (status == HDST_OK) status = hdst_value_set_result(t->vertices, t->climb, NULL, error);
    return status;
}

// A component is told by its smallest vertex.
static hdst_status count(job *w, const vertex *rows, hdst_error *error)
{
    uint64_t *size = calloc(w->graph.size, sizeof *size);
    w->component = malloc(w->graph.size * sizeof *w->component);
    if (!size || !w->component) {
        free(size);
        return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the components");
    }
    for (uint64_t i = 0; i < w->graph.size; i++) {
        w->component[i] = rows[i].parent;
        if (w->graph.is_there[i]) w->components += size[rows[i].parent]++ == 0;
    }
    for (uint64_t i = 0; i < w->graph.size; i++) w->largest = size[i] > w->largest ? size[i] : w->largest;
    free(size);
    return HDST_OK;
}

static hdst_status find(program_run *run, job *w, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    turn t = {0};
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)w->graph.size);
    hdst_dataset *numbers = hdst_read(range, module, "int64_t");
    hdst_result *start = hdst_result_create(hdst_map_function(numbers, module, "start"));
    uint64_t changed = 1;
    plan(&t, module, edges, numbers, w->graph.size);
    hdst_status status = program_run_result(run, start, NULL, error);
    if (status == HDST_OK) status = hdst_value_set_result(t.vertices, start, NULL, error);
    for (; status == HDST_OK && changed; w->iterations++)
        status = signals_stop ? program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted") : run_turn(run, &t, &changed, error);
    const vertex *rows = status == HDST_OK ? hdst_result_rows(t.climb, NULL, NULL) : NULL;
    if (rows) status = count(w, rows, error);
    else if (status == HDST_OK) status = hdst_result_status(t.climb, error);
    hdst_result_destroy(start);
    end_turn(&t);
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
        if (status == HDST_OK && w->graph.size) status = find(run, w, module, edges, error);
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
