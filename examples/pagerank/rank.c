// SPDX-License-Identifier: Apache-2.0
// PageRank on hdst (rank.h): a loop whose state are the ranks.
#include "rank.h"

#include <stdlib.h>

typedef struct turns {
    hdst_value *rank, *degree, *share, *is_there, *count, *damping, *dangling, *change, *sum;
    hdst_dataset *loop;
} turns;

typedef struct binding {
    const char *parameter;
    hdst_value *value;
} binding;

static hdst_dataset *mapped(hdst_dataset *from, hdst_module *module, const char *function, const binding *bindings, size_t count)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    for (size_t i = 0; i < count; i++) hdst_bind_value(spec, bindings[i].parameter, bindings[i].value);
    hdst_dataset *dataset = hdst_map(from, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

static void make_values(turns *t, const pagerank *job, hdst_module *module)
{
    const char *type = job->single ? "float" : "double";
    t->rank = hdst_value_create(module, type, 1);
    t->share = hdst_value_create(module, type, 1);
    t->degree = hdst_value_create(module, "uint32_t", 1);
    t->is_there = hdst_value_create(module, "bool", 1);
    t->count = hdst_value_create(module, "uint64_t", 1);
    t->damping = hdst_value_create(module, "double", 1);
    t->dangling = hdst_value_create(module, "double", 1);
    t->change = hdst_value_create(module, "double", 1);
    t->sum = hdst_value_create(module, "double", 1);
    hdst_value_set(t->is_there, job->graph.is_there, job->graph.size);
    hdst_value_set(t->count, &job->graph.count, 1);
    hdst_value_set(t->damping, &job->damping, 1);
}

// A turn: what edges carry and what vertices without edges have, then the next ranks.
static void make_loop(turns *t, const pagerank *job, hdst_module *module, hdst_dataset *edges, hdst_dataset *numbers)
{
    const binding begins[] = {{"is_there", t->is_there}, {"count", t->count}};
    const binding settles[] = {{"rank", t->rank}, {"is_there", t->is_there}, {"count", t->count}, {"damping", t->damping}, {"dangling", t->dangling}};
    hdst_dataset *spread = mapped(hdst_read_value(t->rank), module, "spread", &(binding){"degree", t->degree}, 1);
    hdst_dataset *sent = mapped(edges, module, "send", &(binding){"share", t->share}, 1);
    hdst_dataset *settled = mapped(hdst_reduce_dense(sent, module, "add", job->graph.size), module, "settle", settles, 5);
    const hdst_loop_step steps[] = {
        {spread, NULL, t->share}, {spread, "dangling", t->dangling}, {settled, NULL, t->rank}, {settled, "change", t->change}, {settled, "sum", t->sum},
    };
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = job->limit;
    options.until = job->tolerance > 0 ? "change" : NULL;
    options.threshold = job->tolerance;
    t->loop = hdst_loop(mapped(numbers, module, "begin", begins, 2), t->rank, steps, sizeof steps / sizeof *steps, &options);
}

static void end_turns(turns *t)
{
    hdst_value *const values[] = {t->rank, t->degree, t->share, t->is_there, t->count, t->damping, t->dangling, t->change, t->sum};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) hdst_value_destroy(values[i]);
}

static hdst_status count_edges(program_run *run, const turns *t, hdst_module *module, hdst_dataset *edges, uint64_t size, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "count");
    hdst_bind_accum(spec, "degree", size);
    hdst_result *result = hdst_result_create(hdst_map(edges, spec));
    hdst_map_spec_destroy(spec);
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) status = hdst_value_set_result(t->degree, result, "degree", error);
    hdst_result_destroy(result);
    return status;
}

static hdst_status take_ranks(pagerank *job, hdst_result *ranked, hdst_error *error)
{
    const hdst_view ranks = hdst_result_field(ranked, NULL, NULL);
    job->rank = malloc(job->graph.size * sizeof *job->rank);
    if (!job->rank) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: ranks");
    for (uint64_t i = 0; i < job->graph.size; i++) job->rank[i] = hdst_view_double(ranks, i, 0);
    return hdst_result_status(ranked, error);
}

static hdst_status take_figures(pagerank *job, const turns *t, hdst_error *error)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    hdst_status status = hdst_loop_read_report(t->loop, &report, error);
    if (status == HDST_OK) status = hdst_take(hdst_read_value(t->change), 1, &job->change, NULL, error);
    if (status == HDST_OK) status = hdst_take(hdst_read_value(t->sum), 1, &job->sum, NULL, error);
    job->iterations = report.turns;
    return status;
}

hdst_status pagerank_run(pagerank *job, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    turns t = {0};
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)job->graph.size);
    make_values(&t, job, module);
    make_loop(&t, job, module, edges, hdst_read(range, module, "int64_t"));
    hdst_result *ranked = hdst_result_create(t.loop);
    hdst_status status = count_edges(run, &t, module, edges, job->graph.size, error);
    if (status == HDST_OK) status = program_run_result(run, ranked, NULL, error);
    if (status == HDST_OK) status = take_ranks(job, ranked, error);
    if (status == HDST_OK) status = take_figures(job, &t, error);
    hdst_result_destroy(ranked);
    end_turns(&t);
    hdst_source_destroy(range);
    return status;
}

void pagerank_close(pagerank *job)
{
    free(job->rank);
    graph_close(&job->graph);
}
