// SPDX-License-Identifier: Apache-2.0
// The edges of a graph by where they begin (adjacency.h).
#include "adjacency.h"

#include "signals.h"

#include <stdlib.h>
#include <string.h>

typedef struct lists {
    uint64_t *first;            // first[v + 1] is where the next edge of v goes, while they are placed
    uint32_t *end;
    double *weight;
} lists;

static edge edge_at(const void *rows, uint64_t i, bool weighted)
{
    if (!weighted) return ((const edge *)rows)[i];
    const weighted_edge *e = (const weighted_edge *)rows + i;
    return (edge){e->from, e->to};
}

static void place(lists *to, uint32_t from, uint32_t end, const void *rows, uint64_t i)
{
    const uint64_t at = to->first[from + 1]++;
    to->end[at] = end;
    if (to->weight) to->weight[at] = ((const weighted_edge *)rows)[i].weight;
}

// Those of one vertex stay in their order. At first first[v + 2] counts the edges of v, so that sums over it are where they begin.
static void place_all(lists *to, uint64_t size, const void *rows, uint64_t count, bool both)
{
    const bool weighted = to->weight != NULL;
    for (uint64_t i = 0; i < count; i++) {
        const edge e = edge_at(rows, i, weighted);
        to->first[e.from + 2]++;
        if (both) to->first[e.to + 2]++;
    }
    for (uint64_t v = 0; v < size; v++) to->first[v + 2] += to->first[v + 1];
    for (uint64_t i = 0; i < count; i++) {
        const edge e = edge_at(rows, i, weighted);
        place(to, e.from, e.to, rows, i);
        if (both) place(to, e.to, e.from, rows, i);
    }
}

static hdst_value *value_of(hdst_module *module, const char *type, const void *rows, uint64_t count)
{
    hdst_value *value = hdst_value_create(module, type, 1);
    hdst_value_set(value, rows, count);
    return value;
}

// What is wrong with a value sticks to it, and comes out where it is read.
static hdst_status make(adjacency *a, const graph *g, hdst_module *module, const void *rows, uint64_t count, bool weighted, bool both, hdst_error *error)
{
    const size_t places = a->count ? a->count : 1;
    lists to = {calloc(g->size + 2, sizeof *to.first), malloc(places * sizeof *to.end), weighted ? malloc(places * sizeof *to.weight) : NULL};
    const bool has_room = to.first && to.end && (!weighted || to.weight);
    if (has_room) {
        place_all(&to, g->size, rows, count, both);
        a->first = value_of(module, "uint64_t", to.first, g->size + 1);
        a->end = value_of(module, "uint32_t", to.end, a->count);
        if (weighted) a->weight = value_of(module, "double", to.weight, a->count);
    }
    free(to.first);
    free(to.end);
    free(to.weight);
    return has_room ? HDST_OK : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: edges by their vertices");
}

hdst_status adjacency_make(adjacency *a, const graph *g, program_run *run, hdst_module *module, hdst_dataset *edges, bool weighted, bool both,
                           hdst_error *error)
{
    void *rows = NULL;
    uint64_t count = 0;
    hdst_status status = hdst_collect(edges, &rows, &count, error);
    if (status == HDST_OK && signals_stop) status = program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
    a->count = both ? 2 * count : count;
    if (status == HDST_OK) status = make(a, g, module, rows, count, weighted, both, error);
    hdst_rows_destroy(run->context, rows);
    return status;
}

void adjacency_close(adjacency *a)
{
    hdst_value_destroy(a->first);
    hdst_value_destroy(a->end);
    hdst_value_destroy(a->weight);
    *a = (adjacency){0};
}
