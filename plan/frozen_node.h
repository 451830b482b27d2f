// SPDX-License-Identifier: Apache-2.0
// Nodes that hold a frozen hash table (shuffle/join/frozen_table.h) of their input's records, for functions that look up in it.
#ifndef HDST_PLAN_FROZEN_NODE_H
#define HDST_PLAN_FROZEN_NODE_H

#include "plan/plan.h"
#include "shuffle/join/frozen_table.h"

enum { HDST__FROZEN_SLOTS_PARAM, HDST__FROZEN_DISPLACEMENTS_PARAM, HDST__FROZEN_ROWS_PARAM, HDST__FROZEN_PARAMS };      // of the function that looks up

typedef struct hdst__frozen_node {      // node->own begins with it
    hdst__frozen_table table;
    hdst__frozen_spec spec;
    hdst__plan_rows held[HDST__FROZEN_PARAMS];
    uint64_t records, version;
    bool kept;                      // the last run found it made
    uint64_t input;                 // hdst__node_version of the input that the table is of; 0: of one that may have changed
} hdst__frozen_node;

// Makes the table of `count` rows, and what functions are given of it. *twice: keys are there more than once, which HDST__FROZEN_ONLY has no table of.
hdst_status hdst__frozen_node_make(hdst__node *node, const void *rows, uint64_t count, bool *twice, hdst_error *error);
// Whether the table of the last run is that of the input as it is now: then the node has run.
bool hdst__frozen_node_keeps(const hdst__node *node);
// A node's run: the input's records, read where they lie if they lie in memory, go to `make`, unless the table is that of the input as it is now.
typedef hdst_status hdst__frozen_make(hdst__node *node, const void *records, uint64_t count, hdst_error *error);
hdst_status hdst__frozen_node_run(hdst__plan *plan, hdst__node *node, hdst__frozen_make *make, hdst_error *error);
void hdst__frozen_node_drop(hdst__node *node);      // hdst__operator.drop
void hdst__frozen_node_explain(const hdst__node *node, hdst__buffer *out);       // what the last run made, a line

#endif
