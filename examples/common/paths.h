// SPDX-License-Identifier: Apache-2.0
// Ways from one vertex to all others: what bfs and sssp have in common. A delta loop, whose state is how far each vertex is, and whose work set are those that
// came nearer in the turn before: these alone offer the ends of their edges a way. The program's module has
//   record `reached`, a vertex and how far it is, a T;
//   map far(int64_t i, broadcast uint32_t from) -> T: before the first turn;
//   map begin(int64_t i, broadcast uint32_t from) -> reached: the first work set, of one record;
//   map mark(edge e, accum bool seen[]);
//   flat_map both_ways(edge e) -> edge: it and its reverse;
//   flat_map visit(reached r, lookup V out[uint32_t][], lookup T far[], accum uint64_t touched) -> (key uint32_t vertex, T far), where V is what an edge has
//     beside where it begins: ways that are shorter than those that are known, and how many edges were looked at;
//   reduce nearest(T a, T b).
#ifndef EXAMPLES_PATHS_H
#define EXAMPLES_PATHS_H

#include "graph.h"

typedef struct paths {
    graph graph;
    uint64_t from;              // where ways begin
    bool both;                  // edges are gone both ways
    const char *type;           // T
    hdst_dataset *edges;        // by where they begin
    hdst_value *far, *work;     // state and work set
    hdst_dataset *loop;         // after paths_find
    hdst_result *result;        // after paths_find: a T for each number; paths_close ends it
} paths;

#define OPTION_PATHS(paths)                                                                                                                         \
    {"source", OPTION_COUNT, &(paths).from, "V", "the vertex from which ways begin (0)", true, NULL, 0, GRAPH_NOWHERE - 1},                          \
    {"undirected", OPTION_FLAG, &(paths).both, NULL, "edges are gone both ways", true}

// `edges`: cached. Finds which vertices there are, too. HDST_E_USAGE: the vertex from which ways begin is none.
hdst_status paths_find(paths *p, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error);
// "edges_touched" and "iterations", and "turns" with the edges of each.
void paths_json(json *j, const paths *p);
void paths_close(paths *p);

#endif
