// SPDX-License-Identifier: Apache-2.0
// What programs over graphs have in common: options of their input, which vertices there are, a number for each of them.
#ifndef EXAMPLES_GRAPH_H
#define EXAMPLES_GRAPH_H

#include "program.h"

#include <stdbool.h>
#include <stdint.h>

// Members of a program's own options.
#define OPTION_GRAPH(graph)                                                                                                                        \
    {"vertices", OPTION_TEXT, &(graph).vertices, "FILE|N", "vertices that there are also without edges: their numbers, or how many", true},        \
    {"sizes-first", OPTION_FLAG, &(graph).edges.sizes_first, NULL, "the first line says how many vertices and edges there are", true},              \
    {"adjacency", OPTION_FLAG, &(graph).edges.adjacency, NULL, "lines are a vertex and all its neighbours", true}
// Of programs that do not need weights.
#define OPTION_WEIGHTED(graph) {"weighted", OPTION_FLAG, &(graph).weighted, NULL, "edges have a weight, which is not looked at", true}

typedef struct graph {
    hdst_edges_options edges;   // HDST_EDGES_OPTIONS_INIT; program_steps.edges refers to it
    bool weighted;              // edges have a weight that the program does not look at
    const char *vertices;       // of --vertices; NULL: not given
    uint64_t size;              // one more than the largest number of a vertex
    uint64_t edge_count;
    bool *is_there;             // by number: whether there is such a vertex; of `size`
    uint64_t count;             // how many there are
} graph;

enum { GRAPH_NOWHERE = UINT32_MAX };        // no number of a vertex

// Finds edge_count.
hdst_status graph_count_edges(graph *g, program_run *run, hdst_error *error);
// Finds size and, by --vertices, vertices that have no edges: at no cost where all edges were read. `read`: what that came to; an error is told by the vertex
// that is none, where it is that.
hdst_status graph_find_size(graph *g, program_run *run, hdst_status read, hdst_error *error);
// Both, where edges were not read yet. Vertices of edges, and count, are found by graph_mark, or by the program.
hdst_status graph_open(graph *g, program_run *run, hdst_error *error);
// The edges, cached, as records `edge` of the module; weighted ones are read as its `weighted`, of which its map `ends` makes an `edge`.
hdst_dataset *graph_edges(const graph *g, const program_run *run, hdst_module *module);
// The same in the order of `end`, "from" or "to".
hdst_dataset *graph_edges_by(const graph *g, const program_run *run, hdst_module *module, const char *end);
// Runs `function` of the module, a map over `edges` with a parameter `accum bool seen[]`, and marks what it saw.
hdst_status graph_mark(graph *g, program_run *run, hdst_dataset *edges, hdst_module *module, const char *function, hdst_error *error);
// HDST_E_USAGE unless `count`, which graph_mark or the program found, says that there is a vertex.
hdst_status graph_check_count(const graph *g, hdst_error *error);
void graph_close(graph *g);

// Writes a line for each vertex that is there: its number, a blank, and what `print` prints.
hdst_status graph_save(const graph *g, const char *path, void (*print)(FILE *out, uint64_t vertex, const void *user), const void *user, hdst_error *error);

#endif
