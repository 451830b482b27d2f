// SPDX-License-Identifier: Apache-2.0
// Delta loops beside loops that make the whole state anew: shortest paths from one vertex, and components by the smallest number that a vertex has heard of,
// over an R-MAT graph (short ways) and over a grid (long ones). Both forms give a vertex the least of its own number and of what edges offer; the one goes
// through all edges in each turn, the other through those of vertices that became less. Components are found in a third way, too, "from hub":
// vertex 0, which has most edges and the least number, gives it to its neighbours; then those that have another one look whether a neighbour has it, up to
// the first that does, until none is found; what is left goes on as the delta loop before. Turns, edges that were touched, processor and wall time: the least
// of the rounds, both forms turn about on one device. A program of its own.
//   bench_delta [--scale BITS] [--side VERTICES] [--rounds N] [--device DEVICE]
#include "bench/hdst_side.h"

#include <inttypes.h>
#include <math.h>

#define FOUND (UINT64_C(1) << 32)       // beside the edges that were touched, for each vertex that was found

typedef struct edge { uint32_t from, to; double weight; } edge;

static const char kernels[] =
    "struct edge { uint32_t from, to; double weight; };\n"
    "struct way { uint32_t to; double weight; };\n"
    "struct less { uint32_t vertex; double far; };\n"
    "map far(int64_t i, broadcast bool alone) -> double { return alone ? (i ? INFINITY : 0) : (double)i; }\n"
    "map less_of(int64_t i, broadcast bool alone) -> less { return (less){ .vertex = i, .far = alone ? 0 : (double)i }; }\n"
    "map offer(edge e, lookup double far[], broadcast double scale) -> (key uint32_t to, double far) { return (e.to, far[e.from] + scale * e.weight); }\n"
    "map settle(double got, lookup double far[], accum uint64_t changed) -> double\n"
    "{\n"
    "    double own = far[record_index()];\n"
    "    changed += got < own;\n"
    "    return min(got, own);\n"
    "}\n"
    "flat_map visit(less r, lookup way out[uint32_t][], lookup double far[], broadcast double scale, accum uint64_t touched)\n"
    "    -> (key uint32_t vertex, double far)\n"
    "{\n"
    "    touched += len(out[r.vertex]);\n"
    "    for (way w : out[r.vertex])\n"
    "        if (r.far + scale * w.weight < far[w.to]) emit(w.to, r.far + scale * w.weight);\n"
    "}\n"
    "const uint64_t FOUND = 1ul << 32;\n"
    "map pull(less r, lookup way out[uint32_t][], lookup double far[], accum uint64_t touched) -> less\n"
    "{\n"
    "    uint64_t looked_at = 0;\n"
    "    bool found = false;\n"
    "    for (way w : out[r.vertex]) {\n"
    "        looked_at += 1;\n"
    "        found = far[w.to] == 0;\n"
    "        if (found) break;\n"
    "    }\n"
    "    touched += looked_at + (found ? FOUND : 0ul);\n"
    "    return (less){ .vertex = r.vertex, .far = found ? 0 : r.far };\n"
    "}\n"
    "filter reached(less r) { return r.far == 0; }\n"
    "filter not_reached(less r, lookup double far[]) { return far[r.vertex] > 0; }\n"
    "flat_map other(double far) -> less { if (far > 0) emit((less){ .vertex = (uint32_t)record_index(), .far = far }); }\n"
    "reduce least(double a, double b) { return min(a, b); }\n";

// --- Graphs, each edge both ways ---

typedef struct graph {
    const char *name;
    edge *edges;
    uint64_t count, vertices;
} graph;

// Small numbers lie anywhere: a permutation of those below `vertices`, by a prime as the factor, again where it leads out of them. 0 stays.
static uint32_t called(uint64_t vertex, uint64_t vertices)
{
    do vertex = vertex * 0x9e3779b1u % (vertices | 1);
    while (vertex >= vertices);
    return (uint32_t)vertex;
}

static void add(graph *g, uint64_t a, uint64_t b)
{
    const double weight = (double)(1 + bench_random(g->count) % 1000);
    const uint32_t from = called(a, g->vertices), to = called(b, g->vertices);
    g->edges[g->count++] = (edge){from, to, weight};
    g->edges[g->count++] = (edge){to, from, weight};
}

// Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining" (2004): 0.57, 0.19, 0.19, 0.05.
static graph rmat(unsigned scale)
{
    graph g = {.name = "R-MAT", .vertices = UINT64_C(1) << scale};
    const uint64_t count = 16 * g.vertices;
    g.edges = bench_allocate(2 * count * sizeof *g.edges);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t a = 0, b = 0;
        for (unsigned bit = 0; bit < scale; bit++) {
            const uint64_t part = bench_random(i * 64 + bit) % 100;
            a = 2 * a + (part >= 76);
            b = 2 * b + ((part >= 57 && part < 76) || part >= 95);
        }
        add(&g, a, b);
    }
    return g;
}

static graph grid(uint64_t side)
{
    graph g = {.name = "grid", .vertices = side * side};
    g.edges = bench_allocate(4 * g.vertices * sizeof *g.edges);
    for (uint64_t y = 0; y < side; y++)
        for (uint64_t x = 0; x < side; x++) {
            if (x + 1 < side) add(&g, y * side + x, y * side + x + 1);
            if (y + 1 < side) add(&g, y * side + x, y * side + x + side);
        }
    return g;
}

// --- Both forms ---

typedef struct form {
    hdst_dataset *loop, *before[2]; // before: other loops whose turns count, too; NULL: there are none
    hdst_result *result;
    uint64_t turns, touched;
    double cpu, wall;               // the least
} form;

typedef enum way { COMPONENTS, FROM_HUB, PATHS, WAYS } way;
static const char *const way_names[] = {"components", "from hub", "paths"};

typedef struct problem {
    const graph *graph;
    hdst_module *module;
    hdst_dataset *edges, *from_each, *numbers;
    hdst_value *alone, *scale;      // paths from vertex 0 by weights, or components
} problem;

static hdst_dataset *mapped(const problem *p, hdst_dataset *from, const char *function, hdst_value *far, hdst_value *other, const char *parameter)
{
    hdst_map_spec *spec = hdst_map_spec_create(p->module, function);
    if (far) hdst_bind_value(spec, "far", far);
    if (other) hdst_bind_value(spec, parameter, other);
    hdst_dataset *dataset = hdst_map(from, spec);
    hdst_map_spec_destroy(spec);
    return dataset;
}

static form bulk_form(const problem *p)
{
    hdst_value *far = hdst_value_create(p->module, "double", 1);
    hdst_dataset *offered = mapped(p, hdst_arrange(p->edges, "to"), "offer", far, p->scale, "scale");
    hdst_dataset *settled = mapped(p, hdst_reduce_dense(offered, p->module, "least", p->graph->vertices), "settle", far, NULL, NULL);
    const hdst_loop_step step = {.dataset = settled, .value = far};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = p->graph->vertices + 1;
    options.until = "changed";
    form f = {.loop = hdst_loop(mapped(p, p->numbers, "far", NULL, p->alone, "alone"), far, &step, 1, &options), .cpu = INFINITY, .wall = INFINITY};
    f.result = hdst_result_create(f.loop);
    return f;
}

typedef struct body {
    hdst_value *far, *work;
    hdst_map_spec *spec;
} body;

// What a body has that looks at the edges of each record of the work set.
static body body_of(const problem *p, const char *function)
{
    body b = {hdst_value_create(p->module, "double", 1), hdst_value_create(p->module, "less", 1), hdst_map_spec_create(p->module, function)};
    hdst_bind_lookup(b.spec, "out", p->from_each, "from");
    hdst_bind_value(b.spec, "far", b.far);
    return b;
}

// For some turns, or until no work is left. Vertices offer what they have to their neighbours.
static hdst_dataset *push(const problem *p, hdst_dataset *state, hdst_dataset *first, uint64_t turns)
{
    body b = body_of(p, "visit");
    hdst_bind_value(b.spec, "scale", p->scale);
    hdst_dataset *found = hdst_reduce_by_key(hdst_flat_map(hdst_read_value(b.work), b.spec), p->module, "least");
    hdst_map_spec_destroy(b.spec);
    const hdst_loop_step steps[] = {{.dataset = found, .value = b.far}, {.dataset = found, .value = b.work}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = turns ? turns : p->graph->vertices + 1;
    options.quiet = turns != 0;
    options.until = "touched";
    options.threshold = -1;
    return hdst_delta_loop(state, b.far, first, b.work, steps, 2, &options);
}

// Until none of the vertices of `first` finds a neighbour that the hub's number has reached. The second step sees what the first one has changed.
static hdst_dataset *pull(const problem *p, hdst_dataset *state, hdst_dataset *first)
{
    body b = body_of(p, "pull");
    hdst_map_spec *left = hdst_map_spec_create(p->module, "not_reached");
    hdst_bind_value(left, "far", b.far);
    const hdst_loop_step steps[] = {{.dataset = hdst_filter_function(hdst_map(hdst_read_value(b.work), b.spec), p->module, "reached"), .value = b.far},
                                    {.dataset = hdst_filter(hdst_read_value(b.work), left), .value = b.work}};
    hdst_map_spec_destroy(b.spec);
    hdst_map_spec_destroy(left);
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = p->graph->vertices + 1;
    options.until = "touched";
    options.threshold = (double)(FOUND - 1);
    return hdst_delta_loop(state, b.far, first, b.work, steps, 2, &options);
}

static form delta_form(const problem *p, way w)
{
    hdst_dataset *state = mapped(p, p->numbers, "far", NULL, p->alone, "alone");
    hdst_dataset *first = mapped(p, w == COMPONENTS ? p->numbers : hdst_slice(p->numbers, 0, 1), "less_of", NULL, p->alone, "alone");
    form f = {.loop = push(p, state, first, w == FROM_HUB), .cpu = INFINITY, .wall = INFINITY};
    if (w == FROM_HUB) {
        f.before[0] = f.loop;
        f.before[1] = pull(p, f.before[0], hdst_flat_map_function(f.before[0], p->module, "other"));
        f.loop = push(p, f.before[1], hdst_flat_map_function(f.before[1], p->module, "other"), 0);
    }
    f.result = hdst_result_create(f.loop);
    return f;
}

static void run_form(form *f, bool counts)
{
    hdst_error error;
    const double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID), wall = bench_seconds();
    if (hdst_run(f->result, &error) != HDST_OK) side_die(&error);
    const double cpu_taken = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu, taken = bench_seconds() - wall;
    if (counts && cpu_taken < f->cpu) f->cpu = cpu_taken;
    if (counts && taken < f->wall) f->wall = taken;
}

static void add_turns(form *f, hdst_dataset *loop, uint64_t edges_of_a_turn)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    hdst_loop_read_report(loop, &report, NULL);
    f->turns += report.turns;
    f->touched += edges_of_a_turn * report.turns;
    for (uint64_t i = 0; i < report.turns && !edges_of_a_turn; i++) f->touched += (uint64_t)report.turn[i].value % FOUND;
}

static void read_turns(form *f, uint64_t edges_of_a_turn)
{
    add_turns(f, f->loop, edges_of_a_turn);
    for (int i = 0; i < 2 && f->before[i]; i++) add_turns(f, f->before[i], edges_of_a_turn);
}

// By Bellman and Ford in C, over and over until nothing changes.
static bool is_right(const problem *p, bool alone, const double *got)
{
    const graph *g = p->graph;
    double *far = bench_allocate(g->vertices * sizeof *far);
    bool changed = true;
    for (uint64_t i = 0; i < g->vertices; i++) far[i] = !alone ? (double)i : i ? INFINITY : 0;
    while (changed) {
        changed = false;
        for (uint64_t e = 0; e < g->count; e++) {
            const double offered = far[g->edges[e].from] + (alone ? g->edges[e].weight : 0);
            if (offered < far[g->edges[e].to]) far[g->edges[e].to] = offered, changed = true;
        }
    }
    const bool right = !memcmp(far, got, g->vertices * sizeof *far);
    free(far);
    return right;
}

static void compare(const graph *g, way w, hdst_context *context, unsigned rounds)
{
    const bool alone = w == PATHS;
    const double scale = alone;
    problem p = {.graph = g, .module = hdst_module_parse(context, "bench_delta", kernels, NULL)};
    hdst_source *edges = hdst_source_from_memory(context, g->edges, g->count, sizeof *g->edges);
    hdst_source *numbers = hdst_source_from_range(context, 0, (int64_t)g->vertices);
    p.edges = hdst_read(edges, p.module, "edge");
    p.from_each = hdst_arrange(p.edges, "from");
    p.numbers = hdst_read(numbers, p.module, "int64_t");
    p.alone = hdst_value_create(p.module, "bool", 1);
    p.scale = hdst_value_create(p.module, "double", 1);
    hdst_value_set(p.alone, &alone, 1);
    hdst_value_set(p.scale, &scale, 1);
    form bulk = bulk_form(&p), delta = delta_form(&p, w);
    for (unsigned i = 0; i <= rounds; i++) {        // the first one arranges and compiles
        run_form(&bulk, i > 0);
        run_form(&delta, i > 0);
    }
    read_turns(&bulk, g->count);
    read_turns(&delta, 0);
    const double *rows[] = {hdst_result_rows(bulk.result, NULL, NULL), hdst_result_rows(delta.result, NULL, NULL)};
    const bool right = rows[0] && rows[1] && is_right(&p, alone, rows[0]) && !memcmp(rows[0], rows[1], g->vertices * sizeof(double));
    printf("%-10s %-5s  turns %" PRIu64 " %" PRIu64 "  edges touched %.3g %.3g (%.3f)  cpu %.3f %.3f s (%.2f)  wall %.3f %.3f s (%.2f)  %s\n",
           way_names[w], g->name, bulk.turns, delta.turns, (double)bulk.touched, (double)delta.touched,
           (double)delta.touched / (double)bulk.touched, bulk.cpu, delta.cpu, delta.cpu / bulk.cpu, bulk.wall, delta.wall, delta.wall / bulk.wall,
           right ? "right" : "WRONG");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const unsigned rounds = (unsigned)bench_option(argc, argv, "--rounds", 3);
    const graph graphs[] = {rmat((unsigned)bench_option(argc, argv, "--scale", 16)), grid(bench_option(argc, argv, "--side", 300))};
    for (int i = 0; i < 2 * WAYS; i++) {
        hdst_context *context = side_context(argc, argv);
        compare(&graphs[i / WAYS], i % WAYS, context, rounds);
        hdst_context_destroy(context);
    }
    return 0;
}
