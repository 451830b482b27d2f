// SPDX-License-Identifier: Apache-2.0
// The node of reductions by key: what reduce_by_key, count_by_key, distinct and reduce_to_rows share.
#ifndef HDST_PLAN_AGGREGATE_NODE_H
#define HDST_PLAN_AGGREGATE_NODE_H

#include "plan/by_partition.h"
#include "plan/op_group.h"

// What datasets of reduce_by_key, count_by_key and distinct have of their own.
typedef struct hdst__aggregate_own {
    hdst__group_own group;          // first: a reduce by key that is no accumulation becomes a group
    hdst__container container;      // that the user insists on
    bool by_hash;                   // arranged records, too: another way had no memory (op_reduce_arranged.c)
} hdst__aggregate_own;

// Whether records of the dataset can be told apart by their key, or (`all`) by all of their fields; HDST_E_USAGE, HDST_E_UNSUPPORTED in the name of
// the call `what`.
hdst_status hdst__aggregate_check_key(const hdst_dataset *dataset, const char *what, bool all, hdst_error *error);

// The node by `spec`, in the arena; its input's records are taken as they come. With `by_parts` the parts of a partition below are kept.
void hdst__aggregate_node_make(hdst__arena *arena, hdst__node *node, const hdst__aggregate_spec *spec, bool by_parts);
// Whether the node is one whose last run found each key, the first field of its records, below node->keys_below.
bool hdst__aggregate_node_has_rows(const hdst__node *node);
const hdst__aggregate *hdst__aggregate_node_of(const hdst__node *node);     // NULL before its first run
// Of a node that runs so and keeps no parts; NULL: it is another one.
const hdst__aggregate_spec *hdst__aggregate_node_keyed(const hdst__node *node);
void hdst__aggregate_node_keep_partial(hdst__node *node);       // of such a one: hdst__aggregate_keep_state
// The others are hdst__operator's.
hdst_status hdst__aggregate_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
hdst_status hdst__aggregate_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__aggregate_node_drop(hdst__node *node);
void hdst__aggregate_node_release(hdst__node *node);
const hdst__consumer *hdst__aggregate_node_consumer(hdst__node *node, hdst_error *error);
bool hdst__aggregate_node_wants_whole(hdst__node *node, uint64_t records, hdst_error *error);

// hdst__operator of a reduction by key, but for its name, describe and build.
#define HDST__AGGREGATE_OPERATOR                                                                                                \
    .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__aggregate_own), .containers = &hdst__aggregate_containers,            \
    .may_stay_on_host = true, .run = hdst__aggregate_node_run, .known = hdst__node_has_run,                                      \
    .explain = hdst__aggregate_node_explain, .drop = hdst__aggregate_node_drop, .release = hdst__aggregate_node_release,         \
    .consumer = hdst__aggregate_node_consumer, .wants_whole = hdst__aggregate_node_wants_whole

extern const hdst__container_rule hdst__aggregate_containers;

#endif
