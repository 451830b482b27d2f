// SPDX-License-Identifier: Apache-2.0
// The pagerank program: the command line around rank.h.
#include "rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ITERATIONS = 200 };
static const double usual_tolerance = 1e-9;

typedef struct settings {
    pagerank job;
    uint64_t top;
    uint64_t *best;             // vertices with the largest ranks, of equal ones the smaller first
    uint64_t best_count;
    int precision;              // 0: double, 1: float
} settings;

enum { NOT_GIVEN = -1 };

// A number of iterations alone is how many there are.
static hdst_status check(void *from, hdst_error *error)
{
    settings *s = from;
    pagerank *job = &s->job;
    if (job->damping < 0 || !(job->damping < 1)) return options_misuse(error, "0.85 is usual", "--damping is from 0 to less than 1");
    if (job->tolerance == NOT_GIVEN) job->tolerance = job->limit ? 0 : usual_tolerance;
    else if (!(job->tolerance >= 0)) return options_misuse(error, "a small number, such as 1e-9", "--tolerance is not negative");
    if (!job->limit) job->limit = MOST_ITERATIONS;
    job->single = s->precision == 1;
    return HDST_OK;
}

static bool goes_before(const pagerank *job, uint64_t a, uint64_t b) { return job->rank[a] > job->rank[b] || (job->rank[a] == job->rank[b] && a < b); }

// Insertion into a short list.
static hdst_status find_best(settings *s, hdst_error *error)
{
    const pagerank *job = &s->job;
    s->best = malloc((s->top + 1) * sizeof *s->best);
    if (!s->best) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the largest ranks");
    for (uint64_t i = 0; i < job->graph.size; i++) {
        if (!job->graph.is_there[i]) continue;
        uint64_t at = s->best_count;
        for (; at > 0 && goes_before(job, i, s->best[at - 1]); at--) s->best[at] = s->best[at - 1];
        s->best[at] = i;
        if (s->best_count < s->top) s->best_count++;
    }
    return HDST_OK;
}

static void write_json(json *j, const void *from)
{
    const settings *s = from;
    json_uint(j, "nodes", s->job.graph.count);
    json_uint(j, "edges", s->job.graph.edge_count);
    json_uint(j, "iterations", s->job.iterations);
    json_double(j, "change", s->job.change);
    json_double(j, "sum", s->job.sum);
    json_open(j, "top", '[');
    for (uint64_t i = 0; i < s->best_count; i++) {
        json_open(j, NULL, '{');
        json_uint(j, "vertex", s->best[i]);
        json_double(j, "rank", s->job.rank[s->best[i]]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_text(FILE *out, const void *from)
{
    const settings *s = from;
    char text[32];
    for (uint64_t i = 0; i < s->best_count; i++) fprintf(out, "%10" PRIu64 "  %s\n", s->best[i], shortest_double(s->job.rank[s->best[i]], text));
    fprintf(out, "%" PRIu64 " vertices, %" PRIu64 " edges, %" PRIu64 " iterations\n", s->job.graph.count, s->job.graph.edge_count, s->job.iterations);
}

static void print_rank(FILE *out, uint64_t i, const void *from)
{
    char text[32];
    fputs(shortest_double(((const pagerank *)from)->rank[i], text), out);
}

static hdst_status rank(program_run *run, settings *s, hdst_module *module, hdst_error *error)
{
    pagerank *job = &s->job;
    hdst_dataset *edges = graph_edges_by(&job->graph, run, module, "to");
    uint32_t first[2];
    hdst_status status = job->graph.edge_count ? hdst_take(edges, 1, first, NULL, error) : HDST_OK;      // it reads and sorts them all
    status = graph_find_size(&job->graph, run, status, error);
    if (status == HDST_OK) status = graph_mark(&job->graph, run, edges, module, "mark", error);
    if (status == HDST_OK) status = graph_check_count(&job->graph, error);
    if (status == HDST_OK) status = pagerank_run(job, run, module, edges, error);
    return status == HDST_OK ? find_best(s, error) : status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    settings *s = from;
    pagerank *job = &s->job;
    hdst_module *module = NULL;
    hdst_status status = graph_count_edges(&job->graph, run, error);
    if (status == HDST_OK) status = program_load(run, job->single ? "pagerank-float.hk" : "pagerank-double.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) status = rank(run, s, module, error);
    if (status == HDST_OK) status = program_show(run, job->graph.edge_count, write_json, write_text, s, error);
    if (status == HDST_OK && run->common->output) status = graph_save(&job->graph, run->common->output, print_rank, job, error);
    hdst_module_destroy(module);
    pagerank_close(job);
    free(s->best);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.job = {.graph = {.edges = HDST_EDGES_OPTIONS_INIT}, .damping = 0.85, .tolerance = NOT_GIVEN}, .top = 10};
    common_options common;
    const option own[] = {
        {"damping", OPTION_NUMBER, &s.job.damping, "D", "the part of a rank that goes along edges (0.85)", true},
        {"iterations", OPTION_COUNT, &s.job.limit, "N", "so many iterations; with --tolerance, at most (200)", true, NULL, 1, 1000000},
        {"tolerance", OPTION_NUMBER, &s.job.tolerance, "T", "ends when all ranks together change by no more (1e-9, unless --iterations is given)", true},
        {"precision", OPTION_WORD, &s.precision, "double|float", "the type of ranks (double)", true},
        {"top", OPTION_COUNT, &s.top, "K", "how many of the largest ranks are shown (10)", true, NULL, 0, 10000},
        OPTION_GRAPH(s.job.graph), OPTION_WEIGHTED(s.job.graph),
    };
    const program_info info = {"pagerank", "Ranks the vertices of a graph by the edges that lead to them (PageRank). Prints the largest ranks;\n"
                                           "writes with --output each vertex and its rank.", own, sizeof own / sizeof *own};
    const program_steps steps = {.edges = &s.job.graph.edges, .check = check, .work = work};
    return program_main(&info, &common, &steps, &s, argc, argv);
}
