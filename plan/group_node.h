// SPDX-License-Identifier: Apache-2.0
// A node of functions over the records of each key, as its own files see it.
#ifndef HDST_PLAN_GROUP_NODE_H
#define HDST_PLAN_GROUP_NODE_H

#include "shuffle/group/group.h"
#include "engine/memory/output.h"
#include "plan/by_partition.h"
#include "plan/op_group.h"
#include "plan/stage_call.h"

enum { HDST__GROUP_RECORDS = 1 };    // the parameter of the function that is the table of records

typedef struct hdst__group_node {
    hdst__stage_call call;
    hdst__by_partition partitions_kept;  // of a reduce that is not dense
    const void *identity;           // of a dense reduce: one row
    hdst__group grouping;
    const hdst__reader *input;      // in a run: all records, or those of a part that the user named
    hdst__key_field *part;
    size_t part_count;
    bool reduces, tree, emits;      // emits: any number of records for each key
    hdst__output level[2];          // what runs gave, of a level and the one below
    hdst__output given;             // or, where there is one level: the stage's own output, until it runs again
    hdst__text_heap *texts;         // in a run: that all of these refer to; NULL: none so far
    hdst__output result;            // of a dense reduce, or where keys come in parts: the records
    hdst__output large, carried;    // of keys that have no room at once: their results; of a reduce, what the pieces of one gave
    uint64_t room;                  // bytes that the budget had for it and all else when the run began
    hdst__spill file;               // in place of `result` where keys come in parts and the budget has no room for all of them
    const void *mapped;
    hdst__output filed;             // it, once all is there
    const uint32_t *value;          // of a reduce: its leaves in the keyed record
    const hdst__run *piece;         // of the level that runs: the runs, or `cut`
    hdst__run *cut;                 // NULL: they are not
    uint64_t piece_count;
    uint64_t version, levels, keys, records, partial, parts;    // of the last run; partial: what the lowest level gave
    hdst__buffer devices;           // of the last run: those that its longest lowest level ran on, for explain
    uint64_t longest;               //     pieces of that
    uint64_t refusals, rest;        // runs in a row that the device had no room for; runs that it is not asked by until it is asked again
    uint64_t large_keys, large_bytes;   // of the last run: keys that had no room at once; written to temporary files for them
} hdst__group_node;

// hdst__operator
hdst_status hdst__group_node_build(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__group_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
hdst_status hdst__group_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__group_node_drop(hdst__node *node);
void hdst__group_node_release(hdst__node *node);

// group_levels.c: from ordered records (NULL: they are the grouping's, on a device), whose runs are in the grouping and are used up, to one record for each
// key; the result is valid until the next call.
hdst_status hdst__group_run_levels(hdst__node *node, const char *rows, uint64_t count, const hdst__output **result, hdst__run_stats *stats, hdst_error *error);
void hdst__group_drop_pieces(hdst__group_node *group);      // what a level leaves
// group_large_keys.c: the same for a large part of the grouping.
hdst_status hdst__group_run_large(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error);

#endif
