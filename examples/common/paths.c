// SPDX-License-Identifier: Apache-2.0
// Ways from one vertex to all others (paths.h).
#include "paths.h"

#include "turns.h"

#include <inttypes.h>

// A record for each of the numbers below `count`.
static hdst_dataset *begin(const program_run *run, hdst_module *module, const char *function, hdst_value *from, uint64_t count)
{
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)count);
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    hdst_bind_value(spec, "from", from);
    hdst_dataset *dataset = hdst_map(hdst_read(range, module, "int64_t"), spec);
    hdst_map_spec_destroy(spec);
    hdst_source_destroy(range);
    return dataset;
}

// Whom a turn finds nearer than before, each once.
static hdst_dataset *turn(const paths *p, hdst_module *module)
{
    hdst_map_spec *visit = hdst_map_spec_create(module, "visit");
    hdst_bind_lookup(visit, "out", p->edges, "from");
    hdst_bind_value(visit, "far", p->far);
    hdst_dataset *found = hdst_flat_map(hdst_read_value(p->work), visit);
    hdst_map_spec_destroy(visit);
    return hdst_reduce_by_key(found, module, "nearest");
}

// There are at most as many turns as vertices: a way never goes through one twice.
static void plan(paths *p, const program_run *run, hdst_module *module)
{
    const uint32_t number = (uint32_t)p->from;
    hdst_value *from = hdst_value_create(module, "uint32_t", 1);
    hdst_value_set(from, &number, 1);
    p->far = hdst_value_create(module, p->type, 1);
    p->work = hdst_value_create(module, "reached", 1);
    hdst_dataset *found = turn(p, module);
    const hdst_loop_step steps[] = {{.dataset = found, .value = p->far}, {.dataset = found, .value = p->work}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = p->graph.size + 1;
    options.until = "touched";          // a turn without edges is the last one, if not the one after it
    p->loop = hdst_delta_loop(begin(run, module, "far", from, p->graph.size), p->far, begin(run, module, "begin", from, 1), p->work, steps, 2, &options);
    p->result = hdst_result_create(p->loop);
    hdst_value_destroy(from);
}

static hdst_status check_from(const paths *p, hdst_error *error)
{
    if (p->from < p->graph.size && p->graph.is_there[p->from]) return HDST_OK;
    return program_fail(error, HDST_E_USAGE, 0, "--source names one that an edge or --vertices has", "there is no vertex %" PRIu64, p->from);
}

hdst_status paths_find(paths *p, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    hdst_status status = graph_mark(&p->graph, run, edges, module, "mark", error);
    if (status == HDST_OK) status = check_from(p, error);
    if (status != HDST_OK) return status;
    p->edges = hdst_arrange(p->both ? hdst_flat_map_function(edges, module, "both_ways") : edges, "from");
    plan(p, run, module);
    run->loop = p->loop;
    run->decides = "edges_touched";
    return program_run_result(run, p->result, NULL, error);
}

void paths_json(json *j, const paths *p)
{
    json_uint(j, "iterations", turns_count(p->loop));
    json_uint(j, "edges_touched", (uint64_t)turns_sum(p->loop));
}

void paths_close(paths *p)
{
    hdst_result_destroy(p->result);
    hdst_value_destroy(p->far);
    hdst_value_destroy(p->work);
    p->result = NULL;
    graph_close(&p->graph);
}
