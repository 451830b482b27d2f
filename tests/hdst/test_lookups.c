// SPDX-License-Identifier: Apache-2.0
// Lookup tables whose rows go by number: in all forms they give what the same reads give in C, and rows that are not there are told.
#include "tests/hdst/support.h"

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

enum { VERTICES = 3000, EDGES = 20000 };

typedef struct edge { uint32_t src; int32_t dst; } edge;
typedef struct vertex { double rank; uint32_t degree; } vertex;

static edge edges[EDGES];
static vertex vertices[VERTICES];

static const char kernels[] =
    "struct edge { uint32_t src; int32_t dst; };\n"
    "struct vertex { double rank; uint32_t degree; };\n"
    "map share(edge e, lookup vertex v[], broadcast double scale) -> double { return scale * v[e.src].rank / v[e.src].degree; }\n"
    "map known(edge e, lookup vertex v[]) -> uint64_t { return has(v, e.dst) ? v[e.dst].degree + len(v) : 7; }\n"
    "map count(edge e, lookup vertex v[], accum uint64_t by_degree[]) { by_degree[v[e.src].degree] += 1; }\n"
    "map wrong(edge e, lookup vertex v[]) -> double { return v[e.dst].rank; }\n"
    "filter from_large(edge e, lookup vertex v[]) { return v[e.src].degree > 5; }\n";

static void make_graph(void)
{
    uint32_t state = 5;
    for (int i = 0; i < VERTICES; i++) vertices[i] = (vertex){1.0 / (3 + i), (uint32_t)i % 11 + 1};
    for (int i = 0; i < EDGES; i++) {
        state = state * 1664525 + 1013904223;
        edges[i] = (edge){state % VERTICES, (int32_t)(state >> 8) % (2 * VERTICES) - VERTICES / 2};
    }
}

typedef struct graph {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *edges;
    hdst_value *v;
} graph;

static graph begin(const char *form)
{
    graph g = {.context = context_in_form(form)};
    make_graph();
    g.module = module_of(g.context, kernels);
    g.edges = hdst_read(hdst_source_from_memory(g.context, edges, EDGES, sizeof *edges), g.module, "edge");
    g.v = hdst_value_create(g.module, "vertex", VERTICES);
    cr_assert_eq(hdst_value_set(g.v, vertices, VERTICES), HDST_OK);
    return g;
}

static hdst_map_spec *looks_up(const graph *g, const char *function)
{
    hdst_map_spec *spec = hdst_map_spec_create(g->module, function);
    cr_assert_eq(hdst_bind_value(spec, "v", g->v), HDST_OK);
    return spec;
}

Test(lookups, rows_by_number)
{
    ON_EACH_FORM {
        graph g = begin(forms[form]);
        hdst_value *scale = hdst_value_create(g.module, "double", 1);
        hdst_value_set(scale, &(double){3}, 1);
        hdst_map_spec *share = looks_up(&g, "share");
        hdst_bind_value(share, "scale", scale);
        hdst_result *shares = hdst_result_create(hdst_map(g.edges, share)), *known = hdst_result_create(hdst_map(g.edges, looks_up(&g, "known")));
        RUN(shares);
        RUN(known);
        const double *got = hdst_result_rows(shares, NULL, NULL);
        const uint64_t *seen = hdst_result_rows(known, NULL, NULL);
        for (int i = 0; i < EDGES; i++) {
            const vertex *from = &vertices[edges[i].src];
            const bool is_there = edges[i].dst >= 0 && edges[i].dst < VERTICES;
            cr_assert_eq(got[i], 3 * from->rank / from->degree, "record %d on %s", i, forms[form]);
            cr_assert_eq(seen[i], is_there ? vertices[edges[i].dst].degree + VERTICES : 7, "record %d on %s", i, forms[form]);
        }
        hdst_context_destroy(g.context);
    }
}

// What was looked up decides what stays, and where it is added.
Test(lookups, in_filters_and_accumulators)
{
    uint64_t expected[12] = {0};
    make_graph();
    for (int i = 0; i < EDGES; i++)
        if (vertices[edges[i].src].degree > 5) expected[vertices[edges[i].src].degree]++;
    ON_EACH_FORM {
        graph g = begin(forms[form]);
        hdst_map_spec *count = looks_up(&g, "count");
        hdst_bind_accum(count, "by_degree", 12);
        hdst_result *result = hdst_result_create(hdst_map(hdst_filter(g.edges, looks_up(&g, "from_large")), count));
        RUN(result);
        const uint64_t *got = hdst_result_rows(result, "by_degree", NULL);
        for (int i = 0; i < 12; i++) cr_assert_eq(got[i], expected[i], "row %d on %s", i, forms[form]);
        hdst_context_destroy(g.context);
    }
}

static uint64_t first_wrong(void)
{
    for (uint64_t i = 0; i < EDGES; i++)
        if (edges[i].dst < 0 || edges[i].dst >= VERTICES) return i;
    return UINT64_MAX;
}

Test(lookups, a_row_that_is_not_there_is_told)
{
    ON_EACH_FORM {
        graph g = begin(forms[form]);
        hdst_result *result = hdst_result_create(hdst_map(g.edges, looks_up(&g, "wrong")));
        hdst_error error;
        char text[2500], index[64];
        cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
        cr_expect_eq(hdst_status_exit_code(error.code), 7);
        cr_expect_eq(error.record, first_wrong(), "record %llu on %s", (unsigned long long)error.record, forms[form]);
        hdst_error_format(&error, text, sizeof text);
        snprintf(index, sizeof index, "index %d out of range 0..%d", edges[first_wrong()].dst, VERTICES - 1);
        cr_expect(strstr(text, index), "%s", text);
        cr_expect(strstr(text, "`len(v)`"), "%s", text);
        hdst_context_destroy(g.context);
    }
}

Test(lookups, what_cannot_be_bound_is_told)
{
    hdst_context *context = context_on("interp");
    hdst_module *m = module_of(context, kernels);
    hdst_dataset *in = hdst_read(hdst_source_from_memory(context, edges, EDGES, sizeof *edges), m, "edge");
    hdst_map_spec *spec = hdst_map_spec_create(m, "wrong");
    hdst_error error;
    hdst_result *unbound = hdst_result_create(hdst_map(in, spec));
    cr_assert_eq(hdst_run(unbound, &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, "parameter 'v' of 'wrong' is not bound"), "%s", error.message);
    cr_expect(strstr(error.hint, "hdst_bind_value"), "%s", error.hint);
    cr_assert_eq(hdst_bind_accum(spec, "v", 3), HDST_E_USAGE);
    hdst_map_spec_status(spec, &error);
    cr_expect(strstr(error.message, "is a lookup, not an accumulator"), "%s", error.message);
    cr_expect(strstr(error.hint, "hdst_bind_value"), "%s", error.hint);
    spec = hdst_map_spec_create(m, "wrong");
    cr_assert_eq(hdst_bind_value(spec, "v", hdst_value_create(m, "edge", 2)), HDST_E_USAGE);
    hdst_context_destroy(context);
}

Test(lookups, an_empty_table_has_no_row)
{
    ON_EACH_FORM {
        graph g = begin(forms[form]);
        hdst_value_set(g.v, NULL, 0);
        hdst_result *known = hdst_result_create(hdst_map(g.edges, looks_up(&g, "known")));
        RUN(known);
        const uint64_t *seen = hdst_result_rows(known, NULL, NULL);
        for (int i = 0; i < EDGES; i++) cr_assert_eq(seen[i], 7);
        hdst_context_destroy(g.context);
    }
}
