// SPDX-License-Identifier: Apache-2.0
// Loops over graphs of several stages: results that become values, data that changes between runs, what is compiled.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

// --- PageRank: edges, ranks as a table, sums by destination, a map over all vertices ---

enum { VERTICES = 300, EDGES = 2500, ITERATIONS = 5 };
typedef struct edge { uint32_t src, dst; } edge;
typedef struct vertex { double rank; uint32_t degree; } vertex;

static const char pagerank[] =
    "struct edge { uint32_t src, dst; };\n"
    "struct vertex { double rank; uint32_t degree; };\n"
    "map count_edges(edge e, accum uint32_t degree[]) { degree[e.src] += 1; }\n"
    "map send(edge e, broadcast vertex v[]) -> (key uint32_t dst, double share) { return (e.dst, v[e.src].rank / v[e.src].degree); }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "map settle(double received, broadcast vertex v[], broadcast double rest, accum double change) -> vertex\n"
    "{\n"
    "    vertex old = v[record_index()];\n"
    "    double rank = rest + 0.85 * received;\n"
    "    change += fabs(rank - old.rank);\n"
    "    return (vertex){ .rank = rank, .degree = old.degree };\n"
    "}\n";

static edge edges[EDGES];

static void make_edges(void)
{
    srand(3);
    for (int i = 0; i < EDGES; i++) edges[i] = (edge){(uint32_t)(i < VERTICES ? i : rand() % VERTICES), (uint32_t)(rand() % VERTICES * (rand() % 100) / 100)};
}

// As a person would write it; sums are in long double, so that they differ from the exact ones by less than the last bit or two.
static void rank_plainly(double rank[VERTICES])
{
    uint32_t degree[VERTICES] = {0};
    for (int e = 0; e < EDGES; e++) degree[edges[e].src]++;
    for (int v = 0; v < VERTICES; v++) rank[v] = 1.0 / VERTICES;
    for (int i = 0; i < ITERATIONS; i++) {
        long double sum[VERTICES] = {0};
        for (int e = 0; e < EDGES; e++) sum[edges[e].dst] += rank[edges[e].src] / degree[edges[e].src];
        for (int v = 0; v < VERTICES; v++) rank[v] = fma(0.85, (double)sum[v], 0.15 / VERTICES);
    }
}

static void rank_with_hdst(const char *form, vertex to[VERTICES])
{
    hdst_context *context = context_in_form(form);
    hdst_module *m = module_of(context, pagerank);
    hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, edges, EDGES, sizeof(edge)), m, "edge"));
    hdst_map_spec *count = hdst_map_spec_create(m, "count_edges"), *send = hdst_map_spec_create(m, "send"), *settle = hdst_map_spec_create(m, "settle");
    hdst_bind_accum(count, "degree", VERTICES);
    hdst_result *degrees = hdst_result_create(hdst_map(data, count));
    RUN(degrees);
    vertex start[VERTICES];
    for (uint64_t v = 0; v < VERTICES; v++) start[v] = (vertex){1.0 / VERTICES, (uint32_t)hdst_view_int64(hdst_result_field(degrees, "degree", NULL), v, 0)};
    hdst_value *v = hdst_value_create(m, "vertex", VERTICES), *rest = hdst_value_create(m, "double", 1);
    hdst_value_set(v, start, VERTICES);
    hdst_value_set(rest, &(double){0.15 / VERTICES}, 1);
    hdst_bind_value(send, "v", v);
    hdst_bind_value(settle, "v", v);
    hdst_bind_value(settle, "rest", rest);
    hdst_dataset *received = hdst_reduce_dense(hdst_map(data, send), m, "add", VERTICES);
    hdst_result *ranks = hdst_result_create(hdst_map(received, settle));
    for (int i = 0; i < ITERATIONS; i++) {
        RUN(ranks);
        hdst_error error;
        cr_assert_eq(hdst_value_set_result(v, ranks, NULL, &error), HDST_OK, "%s", error.message);
        cr_assert(i == 0 || hdst_result_stats(ranks).compile_seconds == 0, "the first run compiles");
    }
    memcpy(to, hdst_result_rows(ranks, NULL, NULL), VERTICES * sizeof(vertex));
    hdst_context_destroy(context);
}

Test(graph_loops, ranks_of_a_graph)
{
    double expected[VERTICES];
    vertex first[VERTICES], ranks[VERTICES];
    make_edges();
    rank_plainly(expected);
    rank_with_hdst("interp", first);
    for (int v = 0; v < VERTICES; v++)
        cr_assert(fabs(first[v].rank - expected[v]) <= 1e-15 * expected[v] * 8, "vertex %d: %.17g, not %.17g", v, first[v].rank, expected[v]);
    ON_EACH_FORM {
        rank_with_hdst(forms[form], ranks);
        for (int v = 0; v < VERTICES; v++) cr_assert(ranks[v].rank == first[v].rank && ranks[v].degree == first[v].degree, "vertex %d on %s", v, forms[form]);
    }
}

// --- Data that changes ---

static int compiled;

static void count_compiled(hdst_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    compiled += strstr(message, ": compiled") != NULL;
}

static const char changing[] =
    "filter positive(int32_t v) { return v > 0; }\n"
    "map widen(int32_t v) -> int64_t { return (int64_t)v * 1000; }\n"
    "map scaled(int64_t v, broadcast int64_t by) -> int64_t { return v * by + (int64_t)record_index(); }\n"
    "reduce add(int64_t a, int64_t b) { return a + b; }\n";

Test(graph_loops, other_data_and_other_values_compile_nothing)
{
    enum { ROWS = 4000 };
    static int32_t data[ROWS];
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    char folder[] = "/tmp/hdst-compiled-XXXXXX";
    options.device = "cpu";
    options.log = count_compiled;
    options.log_level = HDST_LOG_DEBUG;
    options.cache_dir = mkdtemp(folder);
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = module_of(context, changing);
    hdst_value *by = hdst_value_create(m, "int64_t", 1);
    hdst_map_spec *scaled = hdst_map_spec_create(m, "scaled");
    hdst_bind_value(scaled, "by", by);
    hdst_dataset *kept = hdst_filter_function(hdst_read(hdst_source_from_memory(context, data, ROWS, sizeof *data), m, "int32_t"), m, "positive");
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_map(hdst_map_function(kept, m, "widen"), scaled), m, "add"));
    int after_first = 0;
    for (int run = 0; run < 6; run++) {
        int64_t sum = 0, index = 0, factor = 3 + run;
        for (int i = 0; i < ROWS; i++) {
            data[i] = run == 2 ? -1 : (i * 7919 + run * 104729) % 2000 - 1000 + run * 150;      // one run keeps nothing, each another number
            if (data[i] > 0) sum += (int64_t)data[i] * 1000 * factor + index++;
        }
        hdst_value_set(by, &factor, 1);
        RUN(r);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, NULL, NULL), 0, 0), sum, "run %d", run);
        if (run == 0) after_first = compiled;
        cr_assert_eq(hdst_result_stats(r).device[0].records, (uint64_t)(ROWS + index));
    }
    cr_assert_gt(after_first, 0);
    cr_assert_eq(compiled, after_first, "%d kernels were compiled after the first run", compiled - after_first);
    hdst_context_destroy(context);
}

// --- Values from results, and what is no such thing ---

Test(graph_loops, values_take_tables_and_records)
{
    hdst_context *context = context_on("interp");
    hdst_module *m = module_of(context, changing), *other = module_of(context, "struct wide { int64_t v; float w; };\nfilter any(wide w) { return true; }\n");
    static const int32_t data[] = {5, -2, 7};
    hdst_dataset *d = hdst_map_function(hdst_read(hdst_source_from_memory(context, data, 3, sizeof *data), m, "int32_t"), m, "widen");
    hdst_result *r = hdst_result_create(d), *sum = hdst_result_create(hdst_reduce(d, m, "add"));
    hdst_value *v = hdst_value_create(m, "int64_t", 1), *wide = hdst_value_create(other, "wide", 1);
    hdst_error error;
    cr_assert_eq(hdst_value_set_result(v, r, NULL, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "holds nothing"), "%s", error.message);
    RUN(r);
    RUN(sum);
    cr_assert_eq(hdst_value_set_result(v, sum, "resul", &error), HDST_E_USAGE);
    cr_assert(strstr(error.hint, "did you mean 'result'?"), "%s", error.hint);
    cr_assert_eq(hdst_value_set_result(wide, sum, NULL, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "a value of 'wide' cannot take rows of 'int64_t'"), "%s", error.message);
    cr_assert_eq(hdst_value_set_result(v, sum, NULL, NULL), HDST_OK);
    hdst_map_spec *scaled = hdst_map_spec_create(m, "scaled");
    hdst_bind_value(scaled, "by", v);
    hdst_result *next = hdst_result_create(hdst_map(d, scaled));
    RUN(next);
    const int64_t *out = hdst_result_rows(next, NULL, NULL);
    cr_assert(out[0] == 5000LL * 10000 && out[1] == -2000LL * 10000 + 1 && out[2] == 7000LL * 10000 + 2);
    hdst_context_destroy(context);
}
