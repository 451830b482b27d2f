// SPDX-License-Identifier: Apache-2.0
// What sorted datasets are sorted by, for operators that need an order.
#ifndef HDST_PLAN_OP_SORT_H
#define HDST_PLAN_OP_SORT_H

#include "plan/dataset.h"

// Whether it is one of hdst_sort, by the number of this leaf first, ascending. Without an error.
bool hdst__sort_begins_with(const hdst_dataset *dataset, uint32_t leaf);

#endif
