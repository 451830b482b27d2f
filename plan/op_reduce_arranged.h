// SPDX-License-Identifier: Apache-2.0
// Reduces, counts and distinct values of the key that their input is arranged by (op_reduce_arranged.c).
#ifndef HDST_PLAN_OP_REDUCE_ARRANGED_H
#define HDST_PLAN_OP_REDUCE_ARRANGED_H

#include "plan/plan.h"

struct hdst__arranged_keys;

bool hdst__plan_wants_keys(const hdst__plan *plan, const struct hdst__arranged_keys *keys);      // a node of the plan makes its rows by these
// hdst__operator.stands_in
hdst_dataset *hdst__reduce_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);
hdst_dataset *hdst__count_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);
hdst_dataset *hdst__distinct_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);

#endif
