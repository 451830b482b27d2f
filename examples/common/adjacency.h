// SPDX-License-Identifier: Apache-2.0
// The edges of a graph by where they begin, so that a vertex finds its own without a look at others: lists one behind another, as in a sparse matrix by rows.
#ifndef EXAMPLES_ADJACENCY_H
#define EXAMPLES_ADJACENCY_H

#include "graph.h"

typedef struct adjacency {
    hdst_value *first;          // uint64_t: of each vertex the place of its first edge, then how many edges there are
    hdst_value *end;            // uint32_t: by place, where the edge leads
    hdst_value *weight;         // double: by place; NULL: edges have none
    uint64_t count;             // of edges; those that are gone both ways count twice
} adjacency;

// What is known of the records that adjacency_make reads: two numbers of 32 bits, and behind them a double or nothing.
typedef struct edge { uint32_t from, to; } edge;
typedef struct weighted_edge { uint32_t from, to; double weight; } weighted_edge;

// Of `edges`, records like edge or weighted_edge; `both`: gone both ways. adjacency_close ends it, also after an error.
hdst_status adjacency_make(adjacency *a, const graph *g, program_run *run, hdst_module *module, hdst_dataset *edges, bool weighted, bool both,
                           hdst_error *error);
void adjacency_close(adjacency *a);

#endif
