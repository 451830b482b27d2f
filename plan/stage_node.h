// SPDX-License-Identifier: Apache-2.0
// The node of fused functions, and of a fold, which is the same with another kind of stage.
#ifndef HDST_PLAN_STAGE_NODE_H
#define HDST_PLAN_STAGE_NODE_H

#include "accum/partial.h"
#include "accum/ranged_partial.h"
#include "plan/row_passes.h"
#include "plan/row_tuples.h"
#include "plan/searched_input.h"

// What a fold has whose records are a part of a whole (fold_part.c).
typedef struct hdst__fold_part {
    bool wanted, changed;           // by whoever keeps it; since the last run
    uint64_t first;                 // the number of its first record in the whole
    hdst__reader whole;             // its input; the stage reads the same from the first run of 64 on
    hdst__record_range range;       // what the last run came to
    hdst__text_heap *texts;         // that its rows refer to, and `record`; NULL: they have no texts
    void *record;                   // that a part has which begins at 0; NULL: others have none
} hdst__fold_part;

typedef struct hdst__stage_node {
    hdst__stage_call call;
    hdst_dataset **items;           // its operators, first to last
    hdst__node ***lookups;          // of each the tables of its lookups, as they were marked
    size_t item_count;
    const hdst__plan_table *records_table;  // whose rows are the records: a field-wise reduce; NULL: the stage's output
    uint64_t limit;                 // nobody reads more of its records than these, from the first on; 0: all
    uint64_t range_begin;           // where the kernel makes the numbers of a range: the first one
    const hdst__record *nothing;    // then: the record without fields that its input has; NULL: it reads its input
    bool folds;                     // a reduce that is no accumulation
    const void *identity;           // of such a one: one row, or NULL
    hdst__fold_part part;           //     of a whole
    bool keeps_partial;             // its accumulators are also wanted unfinished
    hdst__partial *partial;         // of the last run, then
    hdst__row_passes passes;
    hdst__row_tuples tuples;
    hdst__searched_input searched;
} hdst__stage_node;

// Records of functions that nobody else reads need not exist in whole: the node takes them as they come from its input, if that is a stage.
void hdst__node_consume(hdst__node *node);
hdst__stage_node *hdst__node_stage(const hdst__node *node);        // NULL: it is neither a stage nor a fold
bool hdst__stage_node_gives_many(const hdst__stage_node *own);     // nobody knows how many records come of one

// From the next run on its accumulators are kept unfinished, too.
void hdst__stage_node_keep_partial(hdst__node *node);

// fold_part.c: from the next run on what the fold comes to is kept for a merge with those of other parts, too; its records are those of a whole from number
// `first` on. The rest is for stage_node.c.
void hdst__fold_part_keep(hdst__node *node, uint64_t first);
void hdst__fold_part_begin(hdst__node *node);               // a run
void hdst__fold_part_input(hdst__stage_node *own, hdst__stage_spec *spec);     // what the stage reads of what is there to read
hdst_status hdst__fold_part_take(hdst__node *node, hdst__stage_output *output, hdst_error *error);     // and gives the records that the node has then
void hdst__fold_part_release(hdst__node *node);

// For stage and fold
void hdst__stage_node_list_items(hdst__arena *arena, hdst__node *node);        // makes node->own
hdst_status hdst__stage_node_run(hdst__node *node, hdst_error *error);
hdst_status hdst__stage_node_input(hdst__node *node, hdst_error *error);    // tells the stage what it reads in this run; makes it first
hdst_status hdst__stage_node_run_in_turn(hdst__plan *plan, hdst__node *node, hdst_error *error);
void hdst__stage_node_line(const hdst__node *node, hdst__buffer *out);
hdst_status hdst__stage_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__stage_node_drop(hdst__node *node);
void hdst__stage_node_release(hdst__node *node);

// arranged_input.c: what the stage's function is told of the order of its input. Where keys begin is one more parameter of it.
void hdst__arranged_input_add(const hdst__node *node, ir_func *func);
void hdst__arranged_input_bind(hdst__node *node);              // once the others are

// range_input.c
ir_func *hdst__range_input_make(hdst__arena *arena, hdst__node *node);       // the function that makes the stage's numbers; NULL: it reads its input
hdst__reader hdst__range_input_reader(const hdst__node *node);     // then, in place of its input's

#endif
