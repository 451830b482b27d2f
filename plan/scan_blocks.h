// SPDX-License-Identifier: Apache-2.0
// The node of a scan by a function of two records: blocks of 64 records, each with what those in front of it come to.
#ifndef HDST_PLAN_SCAN_BLOCKS_H
#define HDST_PLAN_SCAN_BLOCKS_H

#include "plan/row_source.h"
#include "plan/stage_call.h"

// What the dataset of the blocks has of its own.
typedef struct hdst__scan_own {
    hdst__named_keys within;
    bool exclusive;
    hdst_map_spec *spec;            // of the reduce; held
    const void *identity;           // of an exclusive one: a C struct, in `memory`
    hdst__arena memory;
} hdst__scan_own;

// hdst__operator
void hdst__scan_blocks_describe(const hdst_dataset *dataset, hdst__buffer *out);
hdst_status hdst__scan_blocks_build(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__scan_blocks_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
hdst_status hdst__scan_blocks_explain(hdst__node *node, hdst__buffer *out, hdst_error *error);
void hdst__scan_blocks_name_failed(const hdst__node *node, hdst_error *error);
void hdst__scan_blocks_drop(hdst__node *node);
void hdst__scan_blocks_release(hdst__node *node);

// The reduce as a function of two records; NULL with the error.
ir_func *hdst__scan_reduce(hdst__arena *arena, const hdst_map_spec *spec, hdst_error *error);

#endif
