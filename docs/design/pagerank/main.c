// SPDX-License-Identifier: Apache-2.0
// PageRank of the graph in edges.txt: twenty iterations, damping 0.85.
#include "hdst/hdst.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct vertex { double rank; uint32_t degree; } vertex;     // as hdst kernel header pagerank.hk writes it

static double single(hdst_result *r, const char *accum) { return hdst_view_double(hdst_result_field(r, accum, NULL), 0, 0); }

int main(void)
{
    const double damping = 0.85;
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_source *in = hdst_source_open_edges(ctx, "edges.txt");
    uint64_t n = hdst_source_vertices(in);
    hdst_module *hk = hdst_module_load(ctx, "pagerank.hk", HDST_NO_PARAMS);
    hdst_dataset *edges = hdst_cache(hdst_read(in, hk, "edge"));

    // degrees: one pass over the edges
    hdst_map_spec *count = hdst_map_spec_create(hk, "count_edges");
    hdst_bind_accum(count, "degree", n);
    hdst_result *degrees = hdst_result_create(hdst_map(edges, count));
    vertex *start = calloc(n, sizeof *start);
    if (start && hdst_run(degrees, &err) == HDST_OK)
        for (uint64_t i = 0; i < n; i++) start[i] = (vertex){1.0 / (double)n, (uint32_t)hdst_view_int64(hdst_result_field(degrees, "degree", NULL), i, 0)};

    // one iteration: what the edges carry, summed at their ends, settled into the next ranks
    hdst_value *v = hdst_value_create(hk, "vertex", n), *rest = hdst_value_create(hk, "double", 1), *d = hdst_value_create(hk, "double", 1);
    hdst_map_spec *send = hdst_map_spec_create(hk, "send"), *settle = hdst_map_spec_create(hk, "settle"), *lost = hdst_map_spec_create(hk, "dangling");
    hdst_bind_value(send, "v", v);                                                              // a lookup table is bound like a broadcast
    hdst_bind_value(settle, "v", v);
    hdst_bind_value(settle, "damping", d);
    hdst_bind_value(settle, "rest", rest);
    hdst_value_set(d, &damping, 1);
    hdst_value_set(v, start, n);
    hdst_dataset *received = hdst_reduce_dense(hdst_map(edges, send), hk, "add", n);            // always n records, 0 where nothing came
    hdst_result *ranks = hdst_result_create(hdst_map(received, settle));
    hdst_result *dangling = hdst_result_create(hdst_map(hdst_read_value(v), lost));
    for (int i = 0; i < 20 && err.code == HDST_OK; i++) {
        if (hdst_run(dangling, &err) != HDST_OK) break;
        double base = (1 - damping) / (double)n + damping * single(dangling, "rank") / (double)n;
        hdst_value_set(rest, &base, 1);
        if (hdst_run(ranks, &err) == HDST_OK) hdst_value_set_result(v, ranks, NULL, &err);
        fprintf(stderr, "iteration %d: change %g\n", i, single(ranks, "change"));
    }
    free(start);
    hdst_context_destroy(ctx);      // and what is left
    return hdst_status_exit_code(err.code);
}
