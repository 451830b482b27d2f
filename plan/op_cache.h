// SPDX-License-Identifier: Apache-2.0
// What cached datasets are made of, for operators that keep records as hdst_cache does.
#ifndef HDST_PLAN_OP_CACHE_H
#define HDST_PLAN_OP_CACHE_H

#include "plan/arranged_keys.h"
#include "plan/key_starts.h"
#include "plan/key_stretches.h"

// What it holds between runs, whichever results read it.
typedef struct hdst__cache_own {
    hdst__arena arena;              // of the plan
    hdst__plan plan;
    bool planned;                   // by the first plan that reads it
    bool filled;
    hdst__dataset_cache *resident;      // the target stage's, or made for its reader
    hdst__dataset_cache *made;
    uint64_t fills;                 // how often it was
    hdst__key_starts starts;            // of records that are in the order of a key
    hdst__arranged_keys keys;           // of such records
    hdst__key_stretches *stretches;     // of such records: what functions look up by the key; a list
} hdst__cache_own;

// Functions of an operator (plan/operator.h) whose datasets' own structs begin with it.
hdst_status hdst__cache_build(hdst__arena *arena, hdst__node *node, hdst_error *error);
hdst_status hdst__cache_run(hdst__plan *plan, hdst__node *node, hdst_error *error);
bool hdst__cache_known(const hdst__node *node);
uint64_t hdst__cache_version(const hdst__node *node);
hdst__plan *hdst__cache_below(const hdst__node *node);
void hdst__cache_end(hdst_dataset *dataset);
const hdst__plan_rows *hdst__cache_key_starts(const hdst_dataset *dataset, uint64_t keys);
void hdst__cache_line_starts(const hdst__cache_own *own, hdst__buffer *out);       // how it came to know where keys begin, if there is anything to tell

// The dataset is a cache below others. HDST_E_USAGE: too many are below one another.
hdst_status hdst__cache_nest(hdst_dataset *dataset, hdst_error *error);

#endif
