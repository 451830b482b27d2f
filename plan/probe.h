// SPDX-License-Identifier: Apache-2.0
// A join as a function of one side's records, in a plan: what its dataset has of its own, and the node of the table that it looks up in (op_probe.c).
#ifndef HDST_PLAN_PROBE_H
#define HDST_PLAN_PROBE_H

#include "codegen/lower/operator_probe.h"
#include "plan/join_node.h"
#include "plan/plan.h"

typedef struct hdst__probe_own {
    hdst_dataset *join;             // in whose place it stands
    hdst__probe probe;
    bool twice;                     // the last run found keys more than once, which slots of one row each cannot have
    hdst__node *table;              // once there are nodes
} hdst__probe_own;

// Of a dataset of hdst__op_probe.
static inline void hdst__probe_set_table(hdst_dataset *probe, hdst__node *table) { ((hdst__probe_own *)probe->own)->table = table; }
static inline hdst__node *hdst__probe_table(const hdst_dataset *probe) { return ((const hdst__probe_own *)probe->own)->table; }

#endif
