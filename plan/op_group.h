// SPDX-License-Identifier: Apache-2.0
// Reduces by key that are no accumulation run as groups do.
#ifndef HDST_PLAN_OP_GROUP_H
#define HDST_PLAN_OP_GROUP_H

#include "plan/dataset.h"

// Makes a dense reduce, whose key is leaf `key` of its parent's record, one of runs of equal keys; for functions that are no accumulation. HDST_E_MEMORY.
hdst_status hdst__dataset_group_dense(hdst_dataset *dataset, uint32_t key, hdst_error *error);
// The same of a reduce by key, whose records have one (plan/keyed_records.h).
hdst_status hdst__dataset_group_by_key(hdst_dataset *dataset, hdst_error *error);

#endif
