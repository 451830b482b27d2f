// SPDX-License-Identifier: Apache-2.0
// PageRank on hdst (rank.h). Ranks, and what each edge carries, are values that results are given to, so that they stay on the device; what is read of a
// turn are three sums.
#include "rank.h"
#include "signals.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct turns {
    hdst_value *rank, *degree, *share, *is_there, *damping, *rest;
    hdst_result *spread, *settle;
    bool explained[2];
} turns;

static hdst_map_spec *bound(hdst_module *module, const char *function, size_t count, const char *const *names, hdst_value *const *values)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    for (size_t i = 0; i < count; i++) hdst_bind_value(spec, names[i], values[i]);
    return spec;
}

static hdst_dataset *mapped(hdst_dataset *from, hdst_map_spec *spec)
{
    hdst_dataset *dataset = hdst_map(from, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

static void plan(turns *t, const pagerank *job, hdst_module *module, hdst_dataset *edges, hdst_dataset *numbers)
{
    const uint64_t size = job->graph.size;
    const char *type = job->single ? "float" : "double";
    t->rank = hdst_value_create(module, type, size);
    t->share = hdst_value_create(module, type, size);
    t->degree = hdst_value_create(module, "uint32_t", size);
    t->is_there = hdst_value_create(module, "bool", size);
    t->damping = hdst_value_create(module, "double", 1);
    t->rest = hdst_value_create(module, "double", 1);
    hdst_value_set(t->is_there, job->graph.is_there, size);
    hdst_value_set(t->damping, &job->damping, 1);
    hdst_dataset *shares = mapped(numbers, bound(module, "spread", 2, (const char *const[]){"rank", "degree"}, (hdst_value *[]){t->rank, t->degree}));
    hdst_dataset *sent = mapped(edges, bound(module, "send", 1, (const char *const[]){"share"}, &t->share));
    hdst_map_spec *settle = bound(module, "settle", 4, (const char *const[]){"rank", "is_there", "damping", "rest"},
                                  (hdst_value *[]){t->rank, t->is_there, t->damping, t->rest});
    t->spread = hdst_result_create(shares);
    t->settle = hdst_result_create(mapped(hdst_reduce_dense(sent, module, "add", size), settle));
}

static void end_turns(turns *t)
{
    hdst_result_destroy(t->spread);
    hdst_result_destroy(t->settle);
    hdst_value *const values[] = {t->rank, t->degree, t->share, t->is_there, t->damping, t->rest};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) hdst_value_destroy(values[i]);
}

static hdst_status count_edges(program_run *run, const turns *t, hdst_module *module, hdst_dataset *edges, uint64_t size, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "count");
    hdst_bind_accum(spec, "degree", size);
    hdst_result *result = hdst_result_create(mapped(edges, spec));
    hdst_status status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) status = hdst_value_set_result(t->degree, result, "degree", error);
    hdst_result_destroy(result);
    return status;
}

// All vertices begin with the same rank.
static hdst_status begin(const pagerank *job, const turns *t, hdst_error *error)
{
    const size_t bytes = job->single ? sizeof(float) : sizeof(double);
    void *rows = calloc(job->graph.size, bytes);
    if (!rows) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: ranks");
    for (uint64_t i = 0; i < job->graph.size; i++) {
        const double rank = job->graph.is_there[i] ? 1 / (double)job->graph.count : 0;
        if (job->single) ((float *)rows)[i] = (float)rank;
        else ((double *)rows)[i] = rank;
    }
    hdst_value_set(t->rank, rows, job->graph.size);
    free(rows);
    return hdst_value_status(t->rank, error);
}

static double single(hdst_result *result, const char *accum) { return hdst_view_double(hdst_result_field(result, accum, NULL), 0, 0); }

static hdst_status turn(program_run *run, pagerank *job, turns *t, hdst_error *error)
{
    const double count = (double)job->graph.count;
    hdst_status status = program_run_result(run, t->spread, &t->explained[0], error);
    if (status == HDST_OK) status = hdst_value_set_result(t->share, t->spread, NULL, error);
    if (status != HDST_OK) return status;
    const double rest = (1 - job->damping) / count + job->damping * (single(t->spread, "dangling") / count);
    hdst_value_set(t->rest, &rest, 1);
    status = program_run_result(run, t->settle, &t->explained[1], error);
    if (status == HDST_OK) status = hdst_value_set_result(t->rank, t->settle, NULL, error);
    if (status != HDST_OK) return status;
    job->change = single(t->settle, "change");
    job->sum = single(t->settle, "sum");
    job->iterations++;
    job->converged = job->tolerance > 0 && job->change <= job->tolerance;
    return HDST_OK;
}

static hdst_status take_ranks(pagerank *job, hdst_result *settled, hdst_error *error)
{
    const hdst_view ranks = hdst_result_field(settled, NULL, NULL);
    job->rank = malloc(job->graph.size * sizeof *job->rank);
    if (!job->rank) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: ranks");
    for (uint64_t i = 0; i < job->graph.size; i++) job->rank[i] = hdst_view_double(ranks, i, 0);
    return hdst_result_status(settled, error);
}

hdst_status pagerank_run(pagerank *job, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error)
{
    turns t = {0};
    hdst_source *range = hdst_source_from_range(run->context, 0, (int64_t)job->graph.size);
    plan(&t, job, module, edges, hdst_read(range, module, "int64_t"));
    hdst_status status = count_edges(run, &t, module, edges, job->graph.size, error);
    if (status == HDST_OK) status = begin(job, &t, error);
    while (status == HDST_OK && job->iterations < job->limit && !job->converged)
        status = signals_stop ? program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted") : turn(run, job, &t, error);
    if (status == HDST_OK) status = take_ranks(job, t.settle, error);
    end_turns(&t);
    hdst_source_destroy(range);
    return status;
}

void pagerank_close(pagerank *job)
{
    free(job->rank);
    graph_close(&job->graph);
}
