// SPDX-License-Identifier: Apache-2.0
// Tables of lookup parameters in a plan: their nodes (op_lookup.c, op_stretches.c), beside the functions that read them (plan_graph.c, stage_call.c).
#ifndef HDST_PLAN_LOOKUP_TABLES_H
#define HDST_PLAN_LOOKUP_TABLES_H

#include "plan/bound_lookup.h"
#include "plan/plan.h"

// Of a node of hdst__op_lookup_table that was just made.
void hdst__lookup_table_init(hdst__arena *arena, hdst__node *table, const hdst__bound_lookup *lookup);
// What a parameter in IR reads of a node of either kind; NULL: it is none of its two.
const hdst__plan_rows *hdst__lookup_table_rows(const hdst__node *table, const char *param);

// The same of a node of hdst__op_stretches.
void hdst__stretches_init(hdst__arena *arena, hdst__node *table, const hdst__bound_lookup *lookup);
const hdst__plan_rows *hdst__stretches_rows(const hdst__node *table, const char *param);

#endif
