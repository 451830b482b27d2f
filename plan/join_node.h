// SPDX-License-Identifier: Apache-2.0
// What joins have of their own, and their node: records of two inputs with equal keys (shuffle/join/join.h).
#ifndef HDST_PLAN_JOIN_NODE_H
#define HDST_PLAN_JOIN_NODE_H

#include "plan/named_keys.h"
#include "plan/plan.h"
#include "shuffle/join/join.h"

typedef struct hdst__join_own {
    hdst__named_keys key[2];        // in the records of the left and the right input
    hdst__join_kind kind;
    bool optional[2];
    // How plans that do not ask for its order run it, as far as runs have told (join_stand_in.c).
    bool repeats;                   // the side that is looked up has keys more than once
    bool ordered;                   // both sides are ordered after all
} hdst__join_own;

hdst_dataset *hdst__join_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);      // hdst__operator.stands_in of joins

bool hdst__join_looks_up(const hdst_dataset *dataset);     // whether it is a join that can stand as a lookup where nobody asks for its order
// A dataset over two, the second of which is still to be checked: `right` is called so in errors of `call`. Never NULL.
hdst_dataset *hdst__join_dataset(const char *call, const hdst__operator *op, hdst_dataset *left, hdst_dataset *right);
// Reads the keys, which both sides must have of the same types.
hdst_status hdst__join_keys(const char *call, hdst_dataset *dataset, const char *left_key, const char *right_key, hdst_error *error);

// op_join.c: a function of the user over the pairs of two datasets, of which `op` is the operator.
typedef struct hdst__join_call {
    const char *name;               // of the public call
    const hdst__operator *op;
    hdst_dataset *side[2];
    const char *key[2];
    // What else there is to check, or to read, once the pairs' dataset has both inputs and knows which sides are optional.
    hdst_status (*check)(hdst_dataset *pairs, const struct hdst__join_call *call, hdst_error *error);
} hdst__join_call;
hdst_dataset *hdst__join_by_spec(const hdst__join_call *call, const hdst_map_spec *spec);
hdst_dataset *hdst__join_by_name(const hdst__join_call *call, hdst_module *module, const char *function);

// hdst__operator
void hdst__join_node_describe(const hdst_dataset *dataset, hdst__buffer *out);
hdst_status hdst__join_node_build(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__join_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
hdst_status hdst__join_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__join_node_drop(hdst__node *node);
void hdst__join_node_release(hdst__node *node);
void hdst__join_node_end(hdst_dataset *dataset);

#endif
