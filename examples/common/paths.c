// SPDX-License-Identifier: Apache-2.0
// Ways from one vertex to all others (paths.h).
#include "paths.h"

#include "signals.h"

#include <inttypes.h>

typedef struct turn {
    hdst_value *vertices, *least;
    hdst_result *relax, *settle;
    bool explained;
} turn;

static hdst_result *result_of(hdst_dataset *dataset, hdst_map_spec *spec)
{
    hdst_result *result = hdst_result_create(hdst_map(dataset, spec));
    hdst_map_spec_destroy(spec);
    return result;
}

static void plan(turn *t, const paths *p, hdst_module *module, hdst_dataset *edges, hdst_dataset *numbers)
{
    t->vertices = hdst_value_create(module, "vertex", p->graph.size);
    t->least = hdst_value_create(module, p->type, p->graph.size);
    hdst_map_spec *relax = hdst_map_spec_create(module, "relax"), *settle = hdst_map_spec_create(module, "settle");
    hdst_bind_value(relax, "v", t->vertices);
    hdst_bind_accum(relax, "least", p->graph.size);
    hdst_bind_value(settle, "v", t->vertices);
    hdst_bind_value(settle, "least", t->least);
    t->relax = result_of(edges, relax);
    t->settle = result_of(numbers, settle);
}

static hdst_status run_turn(program_run *run, turn *t, uint64_t *changed, hdst_error *error)
{
    bool explained = t->explained;
    hdst_status status = program_run_result(run, t->relax, &t->explained, error);
    if (status == HDST_OK) status = hdst_value_set_result(t->least, t->relax, "least", error);
    if (status == HDST_OK) status = program_run_result(run, t->settle, &explained, error);
    if (status == HDST_OK) *changed = (uint64_t)hdst_view_int64(hdst_result_field(t->settle, "changed", NULL), 0, 0);
    if (status == HDST_OK) status = hdst_value_set_result(t->vertices, t->settle, NULL, error);
    return status;
}

static hdst_status set_start(const paths *p, program_run *run, hdst_module *module, hdst_dataset *numbers, hdst_value *vertices, hdst_error *error)
{
    const uint32_t from = (uint32_t)p->from;
    hdst_value *first = hdst_value_create(module, "uint32_t", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "start");
    hdst_value_set(first, &from, 1);
    hdst_bind_value(spec, "from", first);
    hdst_result *start = result_of(numbers, spec);
    hdst_status status = program_run_result(run, start, NULL, error);
    if (status == HDST_OK) status = hdst_value_set_result(vertices, start, NULL, error);
    hdst_result_destroy(start);
    hdst_value_destroy(first);
    return status;
}

static hdst_status check_from(const paths *p, hdst_error *error)
{
    if (p->from < p->graph.size && p->graph.is_there[p->from]) return HDST_OK;
    return program_fail(error, HDST_E_USAGE, 0, "--source names one that an edge or --vertices has", "there is no vertex %" PRIu64, p->from);
}

hdst_status paths_find(paths *p, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    turn t = {0};
    hdst_status status = graph_mark(&p->graph, run, edges, module, "mark", error);
    if (status == HDST_OK) status = check_from(p, error);
    if (status != HDST_OK) return status;
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)p->graph.size);
    hdst_dataset *numbers = hdst_read(range, module, "int64_t");
    plan(&t, p, module, edges, numbers);
    status = set_start(p, run, module, numbers, t.vertices, error);
    for (uint64_t changed = 1; status == HDST_OK && changed; p->iterations++)
        status = signals_stop ? program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted") : run_turn(run, &t, &changed, error);
    hdst_result_destroy(t.relax);
    hdst_value_destroy(t.vertices);
    hdst_value_destroy(t.least);
    hdst_source_destroy(range);
    p->result = t.settle;
    return status;
}

void paths_close(paths *p)
{
    hdst_result_destroy(p->result);
    p->result = NULL;
    graph_close(&p->graph);
}
