// SPDX-License-Identifier: Apache-2.0
// Ways from one vertex to all others: what bfs and sssp have in common. A turn goes through all edges, each of which offers its end what its begin had reached
// in the turn before; turns go on until nothing changes. The program's module has
//   record `vertex`, whose first field is what was reached;
//   map mark(edge e, accum bool seen[]);
//   map start(int64_t i, broadcast uint32_t from) -> vertex;
//   map relax(edge e, lookup vertex v[], accum T least[]);
//   map settle(int64_t i, lookup vertex v[], lookup T least[], accum uint64_t changed) -> vertex;
#ifndef EXAMPLES_PATHS_H
#define EXAMPLES_PATHS_H

#include "graph.h"

typedef struct paths {
    graph graph;
    uint64_t from;              // where ways begin
    bool both;                  // edges are gone both ways
    const char *type;           // T
    uint64_t iterations;
    hdst_result *result;        // after paths_find: a record `vertex` for each number; paths_close ends it
} paths;

#define OPTION_PATHS(paths)                                                                                                                         \
    {"source", OPTION_COUNT, &(paths).from, "V", "the vertex from which ways begin (0)", true, NULL, 0, GRAPH_NOWHERE - 1},                          \
    {"undirected", OPTION_FLAG, &(paths).both, NULL, "edges are gone both ways", true}

// `edges`: cached. Finds which vertices there are, too. HDST_E_USAGE: the vertex from which ways begin is none.
hdst_status paths_find(paths *p, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error);
void paths_close(paths *p);

#endif
