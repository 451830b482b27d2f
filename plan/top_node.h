// SPDX-License-Identifier: Apache-2.0
// Nodes of hdst_top, hdst_min_by and hdst_max_by whose records are a part of a whole.
#ifndef HDST_PLAN_TOP_NODE_H
#define HDST_PLAN_TOP_NODE_H

#include "plan/plan.h"
#include "record/field_path.h"
#include "shuffle/sort/top_k.h"

const hdst__top_k *hdst__top_node_of(const hdst__node *node);      // NULL: it is none
const hdst__field_place *hdst__top_node_place(const hdst__node *node);     // of what is compared
const char *hdst__top_node_extreme(const hdst__node *node);        // "min_by": of one record, which must be; NULL: any number
void hdst__top_node_keep_part(hdst__node *node);                   // from the next run on it may have no records
uint64_t hdst__top_node_records(const hdst__node *node);           // that the functions in front have read in the last run

#endif
