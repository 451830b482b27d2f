// SPDX-License-Identifier: Apache-2.0
// The node of fused functions, and of a fold, which is the same with another kind of stage.
#ifndef HDST_PLAN_STAGE_NODE_H
#define HDST_PLAN_STAGE_NODE_H

#include "accum/partial.h"
#include "plan/stage_call.h"

typedef struct hdst__stage_node {
    hdst__stage_call call;
    hdst_dataset **items;           // its operators, first to last
    size_t item_count;
    const hdst__plan_table *records_table;  // whose rows are the records: a field-wise reduce; NULL: the stage's output
    uint64_t limit;                 // nobody reads more of its records than these, from the first on; 0: all
    uint64_t range_begin;           // where the kernel makes the numbers of a range: the first one
    const hdst__record *nothing;    // then: the record without fields that its input has; NULL: it reads its input
    bool folds;                     // a reduce that is no accumulation
    const void *identity;           // of such a one: one row, or NULL
    bool keeps_partial;             // its accumulators are also wanted unfinished
    hdst__partial *partial;         // of the last run, then
} hdst__stage_node;

// Records of functions that nobody else reads need not exist in whole: the node takes them as they come from its input, if that is a stage.
void hdst__node_consume(hdst__node *node);
hdst__stage_node *hdst__node_stage(const hdst__node *node);        // NULL: it is neither a stage nor a fold

// From the next run on its accumulators are kept unfinished, too.
void hdst__stage_node_keep_partial(hdst__node *node);

// For stage and fold
void hdst__stage_node_list_items(hdst__arena *arena, hdst__node *node);        // makes node->own
hdst_status hdst__stage_node_run(hdst__node *node, hdst_error *error);
hdst_status hdst__stage_node_input(hdst__node *node, hdst_error *error);    // tells the stage what it reads in this run; makes it first
hdst_status hdst__stage_node_run_in_turn(hdst__plan *plan, hdst__node *node, hdst_error *error);
void hdst__stage_node_line(const hdst__node *node, hdst__buffer *out);
hdst_status hdst__stage_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__stage_node_drop(hdst__node *node);
void hdst__stage_node_release(hdst__node *node);

// range_input.c
ir_func *hdst__range_input_make(hdst__arena *arena, hdst__node *node);       // the function that makes the stage's numbers; NULL: it reads its input
hdst__reader hdst__range_input_reader(const hdst__node *node);     // then, in place of its input's

#endif
