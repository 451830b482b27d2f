// SPDX-License-Identifier: Apache-2.0
// What groups have of their own, and reduces by key that are no accumulation, which run as groups do.
#ifndef HDST_PLAN_OP_GROUP_H
#define HDST_PLAN_OP_GROUP_H

#include "plan/dataset.h"
#include "plan/named_keys.h"

// What a group's dataset has of its own; and what the datasets of reduces by key begin with that may become groups.
typedef struct hdst__group_own {
    hdst__named_keys key;           // in the parent's record
    bool dense;                     // the key is the number of a record of the result, which has `rows`
    uint64_t rows;
} hdst__group_own;

// Makes a dense reduce, whose key is leaf `key` of its parent's record, one of runs of equal keys; for functions that are no accumulation. HDST_E_MEMORY.
hdst_status hdst__dataset_group_dense(hdst_dataset *dataset, uint32_t key, hdst_error *error);
// The same of a reduce by key, whose records have one (plan/keyed_records.h).
hdst_status hdst__dataset_group_by_key(hdst_dataset *dataset, hdst_error *error);
// A group of two streams over records of both, of its function's `pair`, whose first leaves are the key. Takes over `spec`, which has such a function.
hdst_dataset *hdst__dataset_group_both(hdst_dataset *both, hdst_map_spec *spec);

#endif
