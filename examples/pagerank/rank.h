// SPDX-License-Identifier: Apache-2.0
// PageRank on hdst, without a command line.
#ifndef EXAMPLES_PAGERANK_RANK_H
#define EXAMPLES_PAGERANK_RANK_H

#include "graph.h"

typedef struct pagerank {
    graph graph;
    double damping, tolerance;      // 0: no tolerance, all iterations are made
    uint64_t limit;                 // iterations at most
    bool single;                    // ranks are float, not double
    // The result
    uint64_t iterations;
    double change, sum;             // of the last iteration: what ranks changed by in all; what they add up to
    double *rank;                   // by vertex; 0 where there is none
} pagerank;

// `graph` is open and has vertices.
hdst_status pagerank_run(pagerank *job, program_run *run, hdst_module *module, hdst_dataset *edges, hdst_error *error);
void pagerank_close(pagerank *job);

#endif
